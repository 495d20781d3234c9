// Triangles of bodies that are made of figures, and what is left of them when bodies are put together.
#pragma once

#include "tribo/collide/shapes/solid.h"

namespace tribo::detail {

Triangles revolved_surface(const Profile& figure, double spacing);
// Empty when a figure's end faces cannot be divided from its middle (not star-shaped).
Triangles prism_surface(const Profile& figure, double half_height, double spacing);
Triangles helix_surface(const Profile& figure, double lead, double inner, double reach, double spacing);

// Adds the part of the surface of `own` where `other` is positive (side 1) or negative (side -1), turned inside out if
// asked for. It ends on the curve where both are zero.
void add_part(const Triangles& surface, const Solid::Node& own, const Solid::Node& other, double side,
              bool inside_out, Triangles& into);

}  // namespace tribo::detail
