// Distance of two convex cores (Gilbert, Johnson, Keerthi): the point of their difference a - b nearest to the
// origin, as a combination of at most four support points.
#pragma once

#include <array>

#include "tribo/collide/narrow/convex_core.h"

namespace tribo::detail {

struct Simplex {
  std::array<SupportPoint, 4> points;
  std::array<double, 4> weights;  // of the nearest point
  int count = 0;

  Vec3 on_a() const;
  Vec3 on_b() const;
};

enum class GjkResult {
  far,        // farther apart than `reach`
  separated,  // nearest points found
  touching    // the origin is in the simplex or closer to it than rounding resolves
};

// `nearest`: a - b at the nearest points. Stops as soon as the distance is known to exceed `reach`, or, for a first look,
// up to `slack`.
GjkResult nearest_points(const CorePair& pair, double reach, double slack, Simplex& simplex, Vec3& nearest);

}  // namespace tribo::detail
