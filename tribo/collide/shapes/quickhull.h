// Convex hull of points as a closed surface of triangles.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tribo/base/types.h"

namespace tribo::detail {

struct HullTriangle {
  std::array<Index, 3> vertices;    // point numbers, counter-clockwise seen from outside
  std::array<Index, 3> neighbours;  // across the edge from corner k to corner k + 1
  Vec3 normal;                      // unit, outward
};

// Points less than `tolerance` outside are left out. InvalidInput if all points lie in one plane.
std::vector<HullTriangle> quickhull(std::span<const Vec3> points, double tolerance);

}  // namespace tribo::detail
