// The face of a box that looks into a direction.
#pragma once

#include "tribo/collide/narrow/clipping.h"

namespace tribo::detail {

// The face most along `direction` (in the frame of the box); it contains the corner farthest along it. The facet is in
// the frame in which `pose` places the box; corner numbers have bit k set where coordinate k is positive.
void box_facet(const Vec3& half, const Pose& pose, const Vec3& direction, Facet& facet);

// Turns a facet from a shape's frame into the world.
inline void place(const Pose& pose, Facet& facet) {
  if (facet.count > 2) facet.normal = pose.rotation * facet.normal;
  for (int k = 0; k < facet.count; ++k) facet.vertices[k] = pose * facet.vertices[k];
}

}  // namespace tribo::detail
