// The face, edge or corner of a convex shape that looks into a direction.
#pragma once

#include "tribo/collide/clipping.h"
#include "tribo/collide/shape.h"

namespace tribo::detail {

// The face of the box most along `direction` (world); it contains the corner farthest along it.
void box_facet(const Vec3& half, const Pose& pose, const Vec3& direction, Facet& facet);

}  // namespace tribo::detail
