// Balls and capsules against each other, against boxes and cylinders.
#pragma once

#include "tribo/collide/narrow/pair_query.h"

namespace tribo::detail {

void collide_sphere_sphere(const PairQuery& query);
void collide_sphere_capsule(const PairQuery& query);
void collide_sphere_box(const PairQuery& query);
void collide_sphere_cylinder(const PairQuery& query);
void collide_capsule_capsule(const PairQuery& query);

// Point of a box (half extents `half`, own frame) nearest to p, and the distance of p from the surface along
// the unit outward normal: negative inside, where the nearest face counts.
struct BoxSurfacePoint {
  Vec3 normal;
  double distance;
};
BoxSurfacePoint nearest_on_box(const Vec3& half, const Vec3& p);

}  // namespace tribo::detail
