#include "tribo/control/joint_impedance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

void fill(Vector& values, double common, std::size_t size, const char* name) {
  if (values.size() == 0) values = Vector::Constant(static_cast<Eigen::Index>(size), common);
  if (values.size() != static_cast<Eigen::Index>(size)) {
    throw InvalidInput(
        fmt::format("joint impedance: {} has {} values for {} joints", name, values.size(), size));
  }
  for (const double x : values) {
    if (!(x >= 0.0)) throw InvalidInput(fmt::format("joint impedance: {} has {}: it must be >= 0", name, x));
  }
}

void check_target(const Vector& values, std::size_t size, bool required, const char* name) {
  if ((values.size() == 0 && !required) || values.size() == static_cast<Eigen::Index>(size)) return;
  throw InvalidInput(fmt::format("joint target: {} has {} values for {} joints", name, values.size(), size));
}

}  // namespace

void add_weight_compensation(const World& world, const Kinematics& kinematics, Vector& sum) {
  const Model& model = world.model;
  for (Index b = 1; b < model.body_count(); ++b) {
    const double carried = (1.0 - model.gravity_compensation(b)) * model.inertia(b).mass;
    if (model.body_dof(b) < 0 || carried == 0.0) continue;
    kinematics.add_force(b, kinematics.center(b), -carried * world.gravity, Vec3::Zero(), sum);
  }
}

JointImpedance::JointImpedance(const World& world, JointImpedanceSettings settings)
    : world_(&world), settings_(std::move(settings)), dynamics_(world.model) {
  const Model& model = world.model;
  std::vector<Index>& joints = settings_.joints;
  if (joints.empty()) {
    for (Index j = 0; j < model.joint_count(); ++j) {
      if (traits_of(model.joint(j).kind).is_scalar()) joints.push_back(j);
    }
  }
  for (const Index j : joints) {
    if (j < 0 || j >= model.joint_count() || !traits_of(model.joint(j).kind).is_scalar())
      throw InvalidInput(fmt::format("joint impedance: joint {} is no hinge or slide of the model", j));
  }
  fill(settings_.stiffnesses, settings_.stiffness, joints.size(), "stiffness");
  fill(settings_.dampings, settings_.damping, joints.size(), "damping");
  fill(settings_.efforts, std::numeric_limits<double>::infinity(), joints.size(), "effort");
}

Vector JointImpedance::values(const State& state) const {
  Vector values(static_cast<Eigen::Index>(settings_.joints.size()));
  for (Eigen::Index k = 0; k < values.size(); ++k)
    values[k] = state.q[world_->model.joint_coordinate(settings_.joints[static_cast<std::size_t>(k)])];
  return values;
}

void JointImpedance::add_force(const Kinematics& kinematics, const State& state, const JointTarget& target,
                               Vector& sum) {
  const Model& model = world_->model;
  const std::size_t size = settings_.joints.size();
  check_target(target.value, size, true, "value");
  check_target(target.velocity, size, false, "velocity");
  check_target(target.acceleration, size, false, "acceleration");
  check_target(target.force, size, false, "force");
  if (sum.size() != model.dof_count())
    throw InvalidInput(fmt::format("joint impedance: {} forces for {} dofs", sum.size(), model.dof_count()));
  weight_.setZero(model.dof_count());
  inertia_.setZero(model.dof_count());
  if (settings_.compensate_weight) add_weight_compensation(*world_, kinematics, weight_);
  if (settings_.compensate_coriolis) {
    dynamics_.bias(kinematics, Vec3::Zero(), bias_);
    weight_ += bias_;
  }
  if (target.acceleration.size() > 0) {
    acceleration_.setZero(model.dof_count());
    for (std::size_t k = 0; k < size; ++k)
      acceleration_[model.joint_dof(settings_.joints[k])] = target.acceleration[static_cast<Eigen::Index>(k)];
    dynamics_.set_positions(kinematics);
    dynamics_.multiply_mass(acceleration_, inertia_);
  }
  const auto or_zero = [](const Vector& values, Eigen::Index k) {
    return values.size() > 0 ? values[k] : 0.0;
  };
  for (std::size_t j = 0; j < size; ++j) {
    const auto k = static_cast<Eigen::Index>(j);
    const Index dof = model.joint_dof(settings_.joints[j]);
    const double stretch = target.value[k] - state.q[model.joint_coordinate(settings_.joints[j])];
    const double force = settings_.stiffnesses[k] * stretch +
                         settings_.dampings[k] * (or_zero(target.velocity, k) - state.v[dof]) + weight_[dof] +
                         inertia_[dof] + or_zero(target.force, k);
    sum[dof] += std::clamp(force, -settings_.efforts[k], settings_.efforts[k]);
  }
}

}  // namespace tribo
