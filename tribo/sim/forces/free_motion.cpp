#include "tribo/sim/forces/free_motion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/base/errors.h"
#include "tribo/multibody/joint_types.h"

namespace tribo {

namespace {

constexpr Index kMaxImplicitIterations = 60;
constexpr double kImplicitTolerance = 1e-13;  // of the velocity, relative

}  // namespace

std::string_view to_string(Scheme scheme) {
  switch (scheme) {
    case Scheme::symplectic_euler:
      return "symplectic-euler";
    case Scheme::implicit_euler:
      return "implicit-euler";
    case Scheme::midpoint:
      return "midpoint";
  }
  return "unknown";
}

Scheme scheme_from_name(std::string_view name) {
  for (const Scheme scheme : {Scheme::symplectic_euler, Scheme::implicit_euler, Scheme::midpoint}) {
    if (name == to_string(scheme)) return scheme;
  }
  throw InvalidInput(
      fmt::format("unknown scheme '{}': it must be symplectic-euler, implicit-euler or midpoint", name));
}

double theta_of(Scheme scheme) {
  return scheme == Scheme::symplectic_euler ? 0.0 : scheme == Scheme::implicit_euler ? 1.0 : 0.5;
}

double theta_vq(Scheme scheme) { return scheme == Scheme::midpoint ? 0.5 : 1.0; }

FreeMotion::FreeMotion(const World& world, const JointConstraints& joints)
    : world_(&world),
      joints_(&joints),
      roots_(world.model),
      mid_kinematics_(world.model),
      mid_dynamics_(world.model) {
  const Model& model = world.model;
  diagonal_ = Vector::Zero(model.dof_count());
  plain_.assign(model.tree_count(), true);
  motion_.matrix.assign(model.tree_count(), nullptr);
  own_start_.assign(model.tree_count(), 0);
  motion_.roots = &roots_;
  std::size_t size = 0;
  for (Index t = 0; t < model.tree_count(); ++t) {
    const Index first = model.tree_dof(t), n = model.tree_dof_count(t);
    if (model.is_free_body(t)) {
      const Mat3& inertia = model.inertia(model.tree_body(t)).rotational;
      if (!inertia.isApprox(inertia(0, 0) * Mat3::Identity(), 1e-12)) free_spinning_.push_back(t);
    }
    own_start_[t] = size;
    bool needs_own = (model.damping().segment(first, n).array() > 0.0).any();
    for (Index d = first; d < first + n; ++d) {
      needs_own = needs_own || model.joint(model.dof_joint(d)).stiffness > 0.0;
    }
    for (const ActuatorDescription& actuator : model.actuators()) {
      needs_own =
          needs_own || (actuator.joint >= 0 && model.body_tree(model.joint(actuator.joint).body) == t);
    }
    plain_[t] = !needs_own;
    if (needs_own || !model.is_free_body(t)) size += static_cast<std::size_t>(n) * n;
  }
  own_size_ = size;
  for (Index j = 0; j < model.joint_count(); ++j) {
    if (model.joint(j).stiffness > 0.0) spring_joints_.push_back(j);
  }
  spring_implicit_.assign(spring_joints_.size(), false);
  spring_rest_ = spring_coordinates(model);
}

// The diagonal that makes A out of M.
void FreeMotion::implicit_terms(const Dynamics& dynamics, const Vector& input, double h, Scheme scheme) {
  const Model& model = world_->model;
  const bool explicit_scheme = scheme == Scheme::symplectic_euler;
  const double theta = explicit_scheme ? 1.0 : theta_of(scheme);
  const double stiffness_weight = theta * theta_vq(scheme) * h * h;
  diagonal_ = theta * h * model.damping();
  for (std::size_t k = 0; k < spring_joints_.size(); ++k) {
    const Index j = spring_joints_[k], dof = model.joint_dof(j);
    const double stiffness = model.joint(j).stiffness;
    const Index dofs = dofs_of(model.joint(j).kind);
    if (explicit_scheme) {  // the dof with the least inertia decides
      const Index tree = model.body_tree(model.joint(j).body);
      double inertia = std::numeric_limits<double>::infinity();
      for (Index d = dof - model.tree_dof(tree), end = d + dofs; d < end; ++d) {
        inertia = std::min(inertia, dynamics.mass_diagonal(tree, d));
      }
      spring_implicit_[k] = h * h * stiffness > 0.25 * inertia;
    }
    if (explicit_scheme && !spring_implicit_[k]) continue;
    for (Index d = 0; d < dofs; ++d) diagonal_[dof + d] += stiffness_weight * stiffness;
  }
  for (std::size_t a = 0; a < model.actuators().size(); ++a) {
    const ActuatorDescription& actuator = model.actuators()[a];
    if (!joints_->is_smooth(static_cast<Index>(a))) continue;
    const double gear = actuator.gear[0];
    const Drive drive = joints_->gains(static_cast<Index>(a), input);
    const double gain = stiffness_weight * std::max(0.0, -drive.position_gain) +
                        theta * h * std::max(0.0, -drive.velocity_gain);
    diagonal_[model.joint_dof(actuator.joint)] += gear * gear * gain;
  }
}

void FreeMotion::set_matrix(const Dynamics& dynamics) {
  const Model& model = world_->model;
  dynamics_ = &dynamics;
  for (Index t = 0; t < model.tree_count(); ++t) {
    const double* diagonal = plain_[t] ? nullptr : diagonal_.data() + model.tree_dof(t);
    if (!model.is_free_body(t)) {
      roots_.set(t, dynamics.tree_mass(t), diagonal);
    } else if (plain_[t]) {
      roots_.set(t, dynamics.body_mass(t), true);
    } else {
      Mat6 a = Eigen::Map<const Mat6>(dynamics.body_mass(t));
      a.diagonal() += Eigen::Map<const Vec6>(diagonal);
      roots_.set(t, a.data(), false);
    }
  }
}

void FreeMotion::write_matrices() {
  const Model& model = world_->model;
  own_.resize(own_size_);
  for (Index t = 0; t < model.tree_count(); ++t) {
    const Index n = model.tree_dof_count(t);
    double* own = own_.data() + own_start_[t];
    motion_.matrix[t] = dynamics_->dense_mass(t, own);
    if (plain_[t]) continue;
    if (model.is_free_body(t)) std::copy_n(motion_.matrix[t], n * n, own);
    Eigen::Map<Matrix>(own, n, n).diagonal() += diagonal_.segment(model.tree_dof(t), n);
    motion_.matrix[t] = own;
  }
}

// force_ = everything but the bias and what constraints do, at (q, v), the state of the kinematics. What stands in A,
// damping and smooth drives, is taken at `linear_v`.
void FreeMotion::smooth_forces(const Kinematics& kinematics, const Vector& q, const Vector& v,
                               const Vector& linear_v, const Vector& input, const Vector& applied) {
  const Model& model = world_->model;
  force_ = applied - model.damping().cwiseProduct(linear_v);
  add_springs(q);
  if (joints_->body_forces().any()) joints_->body_forces().add(kinematics, force_);
  for (std::size_t a = 0; a < model.actuators().size(); ++a) {
    const auto number = static_cast<Index>(a);
    const bool smooth = joints_->is_smooth(number);
    if (!smooth && joints_->is_box(number)) continue;
    const JointConstraints::Acting now =
        joints_->acting(number, kinematics, q, smooth ? linear_v : v, input, room_);
    const double force = now.drive.force();
    for (const auto& term : now.terms) force_[term.dof] += term.coefficient * force;
  }
}

// How far the spring of a joint is from its rest, by dof: the v with rest (+) v = q. The generalised force -k v is minus the
// gradient of k |v|^2 / 2, rotations included: with r the rotation vector of R = exp(r), d|r|^2 / 2 = r . w dt, because
// the right Jacobian of the exponential maps r to itself.
FreeMotion::Stretch FreeMotion::stretch(Index joint, const Vector& q) const {
  Stretch result{};
  const Index at = world_->model.joint_coordinate(joint);
  with_joint(world_->model.joint(joint).kind,
             [&](auto type) { type.difference(spring_rest_.data() + at, q.data() + at, result.data()); });
  return result;
}

void FreeMotion::add_springs(const Vector& q) {
  const Model& model = world_->model;
  for (const Index j : spring_joints_) {
    const JointDescription& joint = model.joint(j);
    const Stretch stretched = stretch(j, q);
    for (Index d = 0; d < dofs_of(joint.kind); ++d) {
      force_[model.joint_dof(j) + d] -= joint.stiffness * stretched[d];
    }
  }
}

double FreeMotion::spring_work(const Vector& q, const Vector& displacement) {
  if (spring_joints_.empty()) return 0.0;
  force_.setZero(displacement.size());
  add_springs(q);
  return -force_.dot(displacement);
}

double FreeMotion::spring_energy(const Vector& q) const {
  const Model& model = world_->model;
  double energy = 0.0;
  for (const Index j : spring_joints_) {
    for (const double x : stretch(j, q)) energy += 0.5 * model.joint(j).stiffness * x * x;
  }
  for (std::size_t k = 0; k < model.tendons().size(); ++k) {
    const TendonDescription& tendon = model.tendons()[k];
    if (tendon.stiffness == 0.0) continue;
    const double length = joints_->tendon_length(static_cast<Index>(k), q);
    const double stretch = length - std::clamp(length, tendon.spring_lower, tendon.spring_upper);
    energy += 0.5 * tendon.stiffness * stretch * stretch;
  }
  return energy;
}

void FreeMotion::compute(const State& state, const Kinematics& kinematics, Dynamics& dynamics,
                         const Vector& input, const Vector& applied, Scheme scheme, double h) {
  if (scheme == Scheme::symplectic_euler) {
    implicit_terms(dynamics, input, h, scheme);
    explicit_step(state, kinematics, dynamics, input, applied, h);
  } else {
    implicit_step(state, input, applied, scheme, h);
  }
}

// A v = M v0 + h (forces at (q0, v = 0) - bias(q0, v0)): what depends on v linearly stands in A.
void FreeMotion::explicit_step(const State& state, const Kinematics& kinematics, Dynamics& dynamics,
                               const Vector& input, const Vector& applied, double h) {
  const Model& model = world_->model;
  dynamics.bias(kinematics, world_->gravity, bias_);
  residual_.setZero(model.dof_count());
  smooth_forces(kinematics, state.q, state.v, residual_, input, applied);
  dynamics.multiply_mass(state.v, motion_.momentum);
  motion_.momentum += h * (force_ - bias_);
  for (const Index tree : free_spinning_) correct_gyroscopic(state, tree, h);
  set_matrix(dynamics);
  set_unit_momentum();
  motion_.velocity = motion_.unit_momentum;
  for (Index t = 0; t < model.tree_count(); ++t) {
    roots_.recover_velocity(t, motion_.velocity.data() + model.tree_dof(t));
  }
}

void FreeMotion::set_unit_momentum() {
  const Model& model = world_->model;
  motion_.unit_momentum = motion_.momentum;
  for (Index t = 0; t < model.tree_count(); ++t) {
    roots_.transform_momentum(t, motion_.unit_momentum.data() + model.tree_dof(t));
  }
}

// I (w - w0) = -h w_m x I w_m with w_m = (w + w0) / 2, about the centre of mass in body axes, by Newton; then
// the torque at w_m replaces the one at w0.
void FreeMotion::correct_gyroscopic(const State& state, Index tree, double h) {
  const Model& model = world_->model;
  const Mat3& inertia = model.inertia(model.tree_body(tree)).rotational;
  const Index dof = model.tree_dof(tree) + 3;
  const Vec3 w0 = state.v.segment<3>(dof);
  // The two torques differ by the square of the angle of a step: nothing, of bodies at rest.
  if (h * h * w0.squaredNorm() <= 1e-17) return;
  Vec3 w = w0;
  for (Index iteration = 0; iteration < 8; ++iteration) {
    const Vec3 middle = 0.5 * (w + w0), spin = inertia * middle;
    const Vec3 residual = inertia * (w - w0) + h * middle.cross(spin);
    const Mat3 slope = inertia + 0.5 * h * (cross_matrix(middle) * inertia - cross_matrix(spin));
    const Vec3 step = slope.inverse() * residual;
    w -= step;
    if (step.squaredNorm() <= 1e-16 * w.squaredNorm()) break;  // the next one would be its square
  }
  if (!w.allFinite()) return;
  const Vec3 middle = 0.5 * (w + w0);
  motion_.momentum.segment<3>(dof) -= h * (middle.cross(inertia * middle) - w0.cross(inertia * w0));
}

// m(v) = M(q_th) (v - v0) - h k(q_th, v_th) = 0 (14) by Newton's method with A for its derivative.
void FreeMotion::implicit_step(const State& state, const Vector& input, const Vector& applied, Scheme scheme,
                               double h) {
  const Model& model = world_->model;
  const double theta = theta_of(scheme), weight = theta_vq(scheme);
  motion_.velocity = state.v;
  if (state.mocap.size() > 0) mid_kinematics_.set_mocap(state.mocap);
  for (Index iteration = 0; iteration < kMaxImplicitIterations; ++iteration) {
    mid_v_ = weight * motion_.velocity + (1.0 - weight) * state.v;
    mid_q_ = state.q;
    integrate(model, mid_v_, theta * h, mid_q_);
    mid_v_ = theta * motion_.velocity + (1.0 - theta) * state.v;
    mid_kinematics_.set_positions(mid_q_);
    mid_kinematics_.set_velocities(mid_v_);
    mid_dynamics_.set_positions(mid_kinematics_);
    mid_dynamics_.bias(mid_kinematics_, world_->gravity, bias_);
    smooth_forces(mid_kinematics_, mid_q_, mid_v_, mid_v_, input, applied);
    residual_ = motion_.velocity - state.v;
    mid_dynamics_.multiply_mass(residual_, motion_.momentum);
    residual_ = h * (force_ - bias_) - motion_.momentum;
    implicit_terms(mid_dynamics_, input, h, scheme);
    set_matrix(mid_dynamics_);
    for (Index t = 0; t < model.tree_count(); ++t) solve_tree(t, residual_.data() + model.tree_dof(t));
    if (!residual_.allFinite()) break;
    motion_.velocity += residual_;
    if (residual_.norm() <= kImplicitTolerance * (motion_.velocity.norm() + kImplicitTolerance)) break;
  }
  mid_dynamics_.multiply_mass(motion_.velocity, motion_.momentum);
  motion_.momentum += diagonal_.cwiseProduct(motion_.velocity);
  set_unit_momentum();
}

}  // namespace tribo
