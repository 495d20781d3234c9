// Containers that are held and filled: a thin wall from a formula for what is inside, and a solid cylinder of the same outer
// size for what holds it from outside, two smooth surfaces in place of hundreds of triangles under every finger. Which
// surfaces meet is told by groups: bits of Geom::contact_type and contact_affinity, the same for both.
#pragma once

#include <cstdint>
#include <string>

#include "tribo/scenes/manipulators.h"

namespace tribo::detail {

inline constexpr std::uint32_t kOrdinary = 1;  // robots, tables, contents
inline constexpr std::uint32_t kInside = 2;    // walls of containers and what they contain
inline constexpr std::uint32_t kOutside = 4;   // hulls of containers and what holds or carries them
void set_groups(Geom& geom, std::uint32_t groups);
// Of all geoms on these bodies.
void set_groups(World& world, const Manipulator& part, std::uint32_t groups);

struct Container {
  std::string name;
  Shape wall = Shape::plane();
  double mass = 0.1;                              // kg
  double radius = 0.04, bottom = 0.0, top = 0.1;  // m, of its hull
  Pose pose = {};
  Material inside = {}, outside = {};
  Color color{0.7f, 0.7f, 0.7f, 1.0f};
};
// A free body; returns its number.
Index add_container(ModelBuilder& builder, World& world, const Container& container);

// Of the bodies first, first + 1, ... (count): whose origins are above the container's floor, below its rim (z, m) and
// within its radius.
Index count_inside(const Kinematics& kinematics, Index container, double radius, double height, Index first,
                   Index count);

}  // namespace tribo::detail
