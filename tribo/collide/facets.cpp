#include "tribo/collide/facets.h"

#include <cmath>

namespace tribo::detail {

void box_facet(const Vec3& half, const Vec3& direction, Facet& facet) {
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (std::abs(direction[k]) > std::abs(direction[axis])) axis = k;
  const bool positive = direction[axis] > 0.0;
  // Turning counter-clockwise around the outward axis.
  const int u = positive ? (axis + 1) % 3 : (axis + 2) % 3, v = 3 - axis - u;
  const std::uint32_t id = positive ? 1u << axis : 0u, id_u = 1u << u, id_v = 1u << v;
  Vec3 corner;
  const auto add = [&](double su, double sv, std::uint32_t number) {
    corner[u] = su * half[u], corner[v] = sv * half[v];
    facet.add(corner, number);
  };
  corner[axis] = positive ? half[axis] : -half[axis];
  facet.count = 0;
  facet.normal = Vec3::Zero();
  facet.normal[axis] = positive ? 1.0 : -1.0;
  add(-1.0, -1.0, id);
  add(1.0, -1.0, id | id_u);
  add(1.0, 1.0, id | id_u | id_v);
  add(-1.0, 1.0, id | id_v);
}

}  // namespace tribo::detail
