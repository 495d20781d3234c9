// Balls and capsules against each other, against boxes and cylinders.
#pragma once

#include "tribo/collide/narrow/pair_query.h"

namespace tribo::detail {

void collide_sphere_sphere(const PairQuery& query);
void collide_sphere_capsule(const PairQuery& query);
void collide_sphere_box(const PairQuery& query);
void collide_sphere_cylinder(const PairQuery& query);
void collide_capsule_capsule(const PairQuery& query);

// The surface of a shape at its place nearest to p, in the shape's frame: unit outward normal, and distance of p along
// it, m, negative inside, where the nearest face counts.
struct SurfaceDistance {
  Vec3 normal;
  double distance;
};
SurfaceDistance distance_from_box(const Vec3& half, const Vec3& p);
SurfaceDistance distance_from_cylinder(double radius, double half_height, const Vec3& p);

}  // namespace tribo::detail
