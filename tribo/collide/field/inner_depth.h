// Depth of a point below the surface of a shape, positive inside, with its gradient. Continuous everywhere, zero on the
// surface, and it changes no faster than the point moves.
//
// | plane, sphere, capsule | the distance to the surface                                          |
// | box, cylinder, hull    | inside the distance; outside the depth below the nearest face plane   |
// | ellipsoid              | c (1 - |x / a|), c the shortest half axis: linear from the centre     |
// | distance field         | minus the distance (of a formula: never more than the distance)       |
#pragma once

#include "tribo/collide/shape.h"

namespace tribo::detail {

struct DepthSample {
  double depth;   // m
  Vec3 gradient;  // length at most 1; where two faces are equally near, that of one of them
};

// Surfaces without an inside (mesh, height field) have none.
bool has_depth(ShapeKind kind);
// `point` in the shape's frame.
DepthSample sample_depth(const Shape& shape, const Vec3& point);
// Its depth alone, to the same bits: half the work, and the most frequent question.
double depth_at(const Shape& shape, const Vec3& point);
// The largest depth, m; infinite of a plane. Of hulls and distance fields the largest one on a lattice of 24 cells along
// each side of the box.
double largest_depth(const Shape& shape);
// How much faster than the point the depth may change: 1 but for distances sampled on a grid.
double steepest(const Shape& shape);

}  // namespace tribo::detail
