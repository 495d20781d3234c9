#include "tribo/collide/facets.h"

#include <cmath>

namespace tribo::detail {

void box_facet(const Vec3& half, const Pose& pose, const Vec3& direction, Facet& facet) {
  const Vec3 local = pose.rotation.transpose() * direction;
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (std::abs(local[k]) > std::abs(local[axis])) axis = k;
  const bool positive = local[axis] > 0.0;
  // Turning counter-clockwise around the outward axis.
  const int u = positive ? (axis + 1) % 3 : (axis + 2) % 3, v = 3 - axis - u;
  const double side = positive ? 1.0 : -1.0;
  const Vec3 middle = pose.position + (side * half[axis]) * pose.rotation.col(axis);
  const Vec3 reach_u = half[u] * pose.rotation.col(u), reach_v = half[v] * pose.rotation.col(v);
  const std::uint32_t id = positive ? 1u << axis : 0u, id_u = 1u << u, id_v = 1u << v;
  facet.count = 0;
  facet.normal = side * pose.rotation.col(axis);
  facet.add(middle - reach_u - reach_v, id);
  facet.add(middle + reach_u - reach_v, id | id_u);
  facet.add(middle + reach_u + reach_v, id | id_u | id_v);
  facet.add(middle - reach_u + reach_v, id | id_v);
}

}  // namespace tribo::detail
