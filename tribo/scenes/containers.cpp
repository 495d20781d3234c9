#include "tribo/scenes/containers.h"

#include <algorithm>

namespace tribo::detail {

void set_groups(Geom& geom, std::uint32_t groups) { geom.contact_type = geom.contact_affinity = groups; }

void set_groups(World& world, const Manipulator& part, std::uint32_t groups) {
  for (Geom& geom : world.geoms) {
    if (std::ranges::find(part.bodies, geom.body) != part.bodies.end()) set_groups(geom, groups);
  }
}

Index add_container(ModelBuilder& builder, World& world, const Container& c) {
  const Index body = add_solid(builder, world, c.name, c.wall, c.mass, c.pose, c.inside);
  set_groups(world.geoms.back(), kInside);
  world.geoms.back().color = c.color;
  world.add_geom({.name = c.name + "_hull",
                  .shape = Shape::cylinder(c.radius, 0.5 * (c.top - c.bottom)),
                  .body = body,
                  .pose = {Vec3(0.0, 0.0, 0.5 * (c.top + c.bottom)), Mat3::Identity()},
                  .material = c.outside,
                  .visual = false});
  set_groups(world.geoms.back(), kOutside);
  return body;
}

Index count_inside(const Kinematics& kinematics, Index container, double radius, double height, Index first,
                   Index count) {
  const Pose& pose = kinematics.pose(container);
  Index inside = 0;
  for (Index k = 0; k < count; ++k) {
    const Vec3 at = pose.to_local(kinematics.pose(first + k).position);
    if (at.head<2>().norm() < radius && at.z() > 0.0 && at.z() < height) ++inside;
  }
  return inside;
}

}  // namespace tribo::detail
