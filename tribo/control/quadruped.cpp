#include "tribo/control/quadruped.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tribo/base/errors.h"
#include "tribo/multibody/kinematics.h"

namespace tribo {

namespace {

// The sphere furthest from the frame's origin among those on the bodies that this dof moves and no later one.
std::optional<QuadrupedLeg> leg_at(const World& world, Index last_dof) {
  const Model& model = world.model;
  QuadrupedLeg leg;
  Index dof = last_dof;
  for (int k = 2; k >= 0; --k) {
    if (dof < 0 || model.joint(model.dof_joint(dof)).kind != JointKind::hinge) return std::nullopt;
    leg.joints[static_cast<std::size_t>(k)] = model.dof_joint(dof);
    dof = model.dof_parent(dof);
  }
  if (dof < 0 || model.joint(model.dof_joint(dof)).kind != JointKind::free) return std::nullopt;
  leg.hip = model.joint(leg.joints[0]).body;
  for (const Geom& geom : world.geoms) {
    if (model.body_dof(geom.body) != last_dof || geom.shape.kind() != ShapeKind::sphere) continue;
    if (geom.contact_type == 0 && geom.contact_affinity == 0) continue;
    if (leg.foot_radius > 0.0 && geom.pose.position.norm() <= leg.foot_center.norm()) continue;
    leg.foot = geom.body;
    leg.foot_center = geom.pose.position;
    leg.foot_radius = geom.shape.radius();
  }
  if (leg.foot_radius == 0.0) return std::nullopt;
  return leg;
}

std::vector<QuadrupedLeg> legs_of(const World& world, Index tree) {
  const Model& model = world.model;
  std::vector<QuadrupedLeg> legs;
  for (Index dof = model.tree_dof(tree); dof < model.tree_dof(tree + 1); ++dof) {
    bool last = true;
    for (Index other = dof + 1; other < model.tree_dof(tree + 1); ++other)
      last = last && model.dof_parent(other) != dof;
    if (!last) continue;
    const std::optional<QuadrupedLeg> leg = leg_at(world, dof);
    if (!leg) return {};
    legs.push_back(*leg);
  }
  return legs;
}

}  // namespace

Quadruped find_quadruped(const World& world) {
  const Model& model = world.model;
  for (Index tree = 0; tree < model.tree_count(); ++tree) {
    if (model.tree_dof_count(tree) != 18) continue;
    const std::vector<QuadrupedLeg> legs = legs_of(world, tree);
    if (legs.size() != 4) continue;
    Quadruped robot{.trunk = model.tree_body(tree), .legs = {}};
    Kinematics kinematics(model);
    kinematics.set_positions(model.reference_coordinates());
    const Pose& trunk = kinematics.pose(robot.trunk);
    std::array<bool, 4> found{};
    for (const QuadrupedLeg& leg : legs) {
      const Vec3 place = trunk.to_local(kinematics.pose(leg.hip).position);
      const std::size_t number = (place.x() > 0.0 ? 0u : 2u) + (place.y() > 0.0 ? 0u : 1u);
      robot.legs[number] = leg;
      found[number] = true;
    }
    if (std::ranges::count(found, true) == 4) return robot;
  }
  throw InvalidInput(
      "no quadruped: it takes a floating body and four chains of three hinges, each ending in a sphere, one "
      "at "
      "every corner");
}

}  // namespace tribo
