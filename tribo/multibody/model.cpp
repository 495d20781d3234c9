#include "tribo/multibody/model.h"

#include <algorithm>

namespace tribo {
namespace {

// -1: none.
template <class Items>
Index find_named(const Items& items, std::string_view name) {
  const auto found = std::ranges::find_if(items, [&](const auto& item) { return item.name == name; });
  return found == items.end() ? -1 : static_cast<Index>(found - items.begin());
}

// m (|d|^2 1 - d d^T): what moving a point mass by d from the centre adds.
Mat3 parallel_axes(double mass, const Vec3& d) {
  return mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
}

}  // namespace

RigidInertia RigidInertia::placed(const Pose& pose) const {
  return {mass, pose * center, pose.rotation * rotational * pose.rotation.transpose()};
}

RigidInertia RigidInertia::operator+(const RigidInertia& other) const {
  RigidInertia sum;
  sum.mass = mass + other.mass;
  sum.center = sum.mass > 0.0 ? Vec3((mass * center + other.mass * other.center) / sum.mass) : center;
  sum.rotational = rotational + other.rotational + parallel_axes(mass, center - sum.center) +
                   parallel_axes(other.mass, other.center - sum.center);
  return sum;
}

Index Model::find_body(std::string_view name) const {
  const auto found = std::ranges::find(body_names_, name);
  return found == body_names_.end() ? -1 : static_cast<Index>(found - body_names_.begin());
}

Index Model::find_joint(std::string_view name) const { return find_named(joints_, name); }
Index Model::find_tendon(std::string_view name) const { return find_named(tendons_, name); }
Index Model::find_actuator(std::string_view name) const { return find_named(actuators_, name); }
Index Model::find_site(std::string_view name) const { return find_named(sites_, name); }

double Model::total_mass() const {
  double sum = 0.0;
  for (const RigidInertia& inertia : inertia_) sum += inertia.mass;
  return sum;
}

bool Model::dof_turns(Index dof) const {
  const Index joint = dof_joint_[dof];
  const JointTraits& traits = traits_of(joints_[joint].kind);
  if (traits.rotation == JointRotation::none) return false;
  return !traits.floating || dof - joint_dof_[joint] >= 3;  // a free joint moves first, then turns
}

}  // namespace tribo
