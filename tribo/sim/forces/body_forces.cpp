#include "tribo/sim/forces/body_forces.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace tribo {

namespace {

// Principal axes of an inertia; those of the frame where it is diagonal there to rounding.
Mat3 principal_axes(const Mat3& inertia) {
  const double off = std::max({std::abs(inertia(0, 1)), std::abs(inertia(0, 2)), std::abs(inertia(1, 2))});
  if (off <= 1e-14 * inertia.trace()) return Mat3::Identity();
  Mat3 axes = Eigen::SelfAdjointEigenSolver<Mat3>(inertia).eigenvectors();
  if (axes.determinant() < 0.0) axes.col(2) *= -1.0;
  return axes;
}

}  // namespace

BodyForces::BodyForces(const World& world) : world_(&world) {
  const Model& model = world.model;
  for (Index b = 1; b < model.body_count(); ++b) {
    const bool moves = model.body_tree(b) >= 0 && model.inertia(b).mass > 0.0;
    if (moves && model.gravity_compensation(b) != 0.0) compensated_.push_back(b);
  }
  std::vector<bool> driven(static_cast<std::size_t>(model.joint_count()), false);
  for (const ActuatorDescription& actuator : model.actuators()) {
    if (actuator.joint >= 0) driven[static_cast<std::size_t>(actuator.joint)] = true;
  }
  for (Index j = 0; j < model.joint_count() && !compensated_.empty(); ++j) {
    const JointDescription& joint = model.joint(j);
    const bool limited = !std::isinf(joint.actuator_force_lower) || !std::isinf(joint.actuator_force_upper);
    const bool none = model.actuators().empty();
    if (joint.actuator_compensation && (none || (limited && !driven[static_cast<std::size_t>(j)]))) {
      clamped_.push_back(j);
    }
  }
  const Medium& medium = world.medium;
  if (medium.density <= 0.0 && medium.viscosity <= 0.0) return;
  for (const FluidEllipsoid& ellipsoid : world.fluid_ellipsoids) {
    added_.push_back(virtual_mass(ellipsoid.semi_axes));
  }
  for (Index b = 1; b < model.body_count(); ++b) {
    if (model.body_tree(b) >= 0 && model.inertia(b).mass > 0.0) add_body(b);
  }
}

void BodyForces::add_body(Index b) {
  const RigidInertia& inertia = world_->model.inertia(b);
  const Medium& medium = world_->medium;
  Drag drag{};
  drag.body = b;
  for (std::size_t e = 0; e < world_->fluid_ellipsoids.size(); ++e) {
    if (world_->fluid_ellipsoids[e].body == b) drag.ellipsoids.push_back(static_cast<Index>(e));
  }
  const auto& axes = world_->model.inertia_axes(b);
  drag.axes = axes ? axes->toRotationMatrix() : principal_axes(inertia.rotational);
  const Vec3 moments = (drag.axes.transpose() * inertia.rotational * drag.axes).diagonal();
  Vec3 edge;
  for (int i = 0; i < 3; ++i) {
    // Moments of a flat body may miss the triangle inequality by rounding.
    edge[i] = std::sqrt(6.0 * std::max(0.0, moments.sum() - 2.0 * moments[i]) / inertia.mass);
  }
  const double diameter = edge.mean();
  drag.viscous_linear = 3.0 * std::numbers::pi * medium.viscosity * diameter;
  drag.viscous_angular = std::numbers::pi * medium.viscosity * diameter * diameter * diameter;
  for (int i = 0; i < 3; ++i) {
    const double x = edge[i], y = edge[(i + 1) % 3], z = edge[(i + 2) % 3];
    drag.linear[i] = 0.5 * medium.density * y * z;
    drag.angular[i] = medium.density / 64.0 * x * (y * y * y * y + z * z * z * z);
  }
  dragged_.push_back(std::move(drag));
}

void BodyForces::add(const Kinematics& kinematics, Vector& force) const {
  add_compensation(kinematics, force);
  for (const Index j : clamped_) {
    const JointDescription& joint = world_->model.joint(j);
    const bool none = world_->model.actuators().empty();
    for (Index k = 0; k < dofs_of(joint.kind); ++k) {
      const Index dof = world_->model.joint_dof(j) + k;
      const double own = compensation_of(kinematics, dof);
      force[dof] +=
          (none ? 0.0 : std::clamp(own, joint.actuator_force_lower, joint.actuator_force_upper)) - own;
    }
  }
  add_drag(kinematics, force);
}

void BodyForces::add_compensation(const Kinematics& kinematics, Vector& force) const {
  const Model& model = world_->model;
  for (const Index b : compensated_) {
    const Vec3 lift = -model.gravity_compensation(b) * model.inertia(b).mass * world_->gravity;
    kinematics.add_force(b, kinematics.center(b), lift, Vec3::Zero(), force);
  }
}

double BodyForces::compensation_of(const Kinematics& kinematics, Index dof) const {
  const Model& model = world_->model;
  double sum = 0.0;
  for (const Index b : compensated_) {
    Index d = model.body_dof(b);
    while (d > dof) d = model.dof_parent(d);
    if (d != dof) continue;
    const auto motion = kinematics.motion().col(dof);
    const Vec3 arm = kinematics.center(b) - kinematics.origin(model.body_tree(b));
    sum -= model.gravity_compensation(b) * model.inertia(b).mass *
           world_->gravity.dot(motion.head<3>() + motion.tail<3>().cross(arm));
  }
  return sum;
}

double BodyForces::compensation_energy(const Kinematics& kinematics) const {
  const Model& model = world_->model;
  double energy = 0.0;
  for (const Index b : compensated_) {
    energy -=
        model.gravity_compensation(b) * model.inertia(b).mass * world_->gravity.dot(kinematics.center(b));
  }
  return energy;
}

void BodyForces::add_drag(const Kinematics& kinematics, Vector& force) const {
  if (dragged_.empty()) return;
  visit_drag(kinematics, [&](Index body, const Vec3& point, const Vec3& push, const Vec3& torque) {
    kinematics.add_force(body, point, push, torque, force);
  });
}

void BodyForces::visit_drag(const Kinematics& kinematics, const Visit& visit) const {
  const Medium& medium = world_->medium;
  for (const Drag& drag : dragged_) {
    const Pose& pose = kinematics.pose(drag.body);
    const Vec3 spin = kinematics.velocity(drag.body).tail<3>();
    for (const Index e : drag.ellipsoids) {
      const FluidEllipsoid& ellipsoid = world_->fluid_ellipsoids[static_cast<std::size_t>(e)];
      const Pose placed = pose * ellipsoid.pose;
      const Mat3 back = placed.rotation.transpose();
      Vec6 velocity;
      velocity << back * (kinematics.point_velocity(drag.body, placed.position) - medium.wind), back * spin;
      const Vec6 own = fluid_force(ellipsoid, added_[static_cast<std::size_t>(e)], medium, velocity);
      visit(drag.body, placed.position, placed.rotation * own.head<3>(), placed.rotation * own.tail<3>());
    }
    if (!drag.ellipsoids.empty()) continue;
    const Vec3& center = kinematics.center(drag.body);
    const Mat3 axes = pose.rotation * drag.axes;
    const Vec3 v = axes.transpose() * (kinematics.point_velocity(drag.body, center) - medium.wind);
    const Vec3 w = axes.transpose() * spin;
    const Vec3 push = -drag.viscous_linear * v - drag.linear.cwiseProduct(v.cwiseAbs()).cwiseProduct(v);
    const Vec3 turn = -drag.viscous_angular * w - drag.angular.cwiseProduct(w.cwiseAbs()).cwiseProduct(w);
    visit(drag.body, center, axes * push, axes * turn);
  }
}

}  // namespace tribo
