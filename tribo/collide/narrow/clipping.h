// Contact points of two faces that look at each other: the corners of the common part of their projections along
// the contact normal, each with the height between the two faces there.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tribo/collide/narrow_phase.h"

namespace tribo::detail {

// A face, an edge (two vertices) or a corner (one) of a convex shape, in the world.
struct Facet {
  static constexpr int capacity = 64;
  int count = 0;
  Vec3 normal;                              // unit, outward; of faces only
  std::array<Vec3, capacity> vertices;      // faces: counter-clockwise seen from outside
  std::array<std::uint32_t, capacity> ids;  // vertex numbers of the shape, < 2^15

  void add(const Vec3& vertex, std::uint32_t id) {
    vertices[count] = vertex;
    ids[count++] = id;
  }
};

// Feature numbers: which corner of a, corner of b, or crossing of an edge of a with one of b.
constexpr std::uint32_t feature_of_corner_a(std::uint32_t id) { return 1u << 30 | (id & 0x7fffu); }
constexpr std::uint32_t feature_of_corner_b(std::uint32_t id) { return 2u << 30 | (id & 0x7fffu); }
constexpr std::uint32_t feature_of_nearest = 1;  // the nearest points, wherever they are

// Appends the common points with gap <= margin; `normal` points from a to b. Corners closer to a vertex than a
// thousandth of the smallest edge count as that vertex, so that faces which nearly coincide keep their four
// corners and their features. Returns the smallest gap seen (infinite: nothing in common), within the margin or
// not.
double clip_facets(const Facet& a, const Facet& b, const Vec3& normal, double margin,
                   std::vector<ContactPoint>& points);

// Two unit vectors normal to `normal` and each other, right-handed with it.
inline void tangents(const Vec3& normal, Vec3& t1, Vec3& t2) {
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (std::abs(normal[k]) < std::abs(normal[axis])) axis = k;
  Vec3 unit = Vec3::Zero();
  unit[axis] = 1.0;
  t1 = normal.cross(unit).normalized();
  t2 = normal.cross(t1);
}

}  // namespace tribo::detail
