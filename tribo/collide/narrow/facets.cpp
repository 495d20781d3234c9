#include "tribo/collide/narrow/facets.h"

#include <cmath>

namespace tribo::detail {

void box_facet(const Vec3& half, const Pose& pose, const Vec3& direction, Facet& facet) {
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (std::abs(direction[k]) > std::abs(direction[axis])) axis = k;
  const bool positive = direction[axis] > 0.0;
  // Turning counter-clockwise around the outward axis.
  const int u = positive ? (axis + 1) % 3 : (axis + 2) % 3, v = 3 - axis - u;
  const std::uint32_t id = positive ? 1u << axis : 0u, id_u = 1u << u, id_v = 1u << v;
  facet.count = 0;
  facet.normal = positive ? Vec3(pose.rotation.col(axis)) : Vec3(-pose.rotation.col(axis));
  const Vec3 middle = pose.position + half[axis] * facet.normal;
  const Vec3 reach_u = half[u] * pose.rotation.col(u), reach_v = half[v] * pose.rotation.col(v);
  const Vec3 low = middle - reach_v, high = middle + reach_v;
  facet.add(low - reach_u, id);
  facet.add(low + reach_u, id | id_u);
  facet.add(high + reach_u, id | id_u | id_v);
  facet.add(high - reach_u, id | id_v);
}

}  // namespace tribo::detail
