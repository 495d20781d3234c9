// How far a pair of an interior point method may go before it leaves its set.
#pragma once

#include <algorithm>

#include "tribo/math/jordan_n.h"

namespace tribo {

// Largest step <= limit that keeps value + step * change > 0.
inline double scalar_step(double value, double change, double limit) {
  return change < 0.0 ? std::min(limit, -value / change) : limit;
}

// The same for a cone. Most do not limit: whether x + limit * change is inside costs less than where it leaves.
template <int N>
double cone_step(const VecN<N>& x, const VecN<N>& change, double limit) {
  const VecN<N> end = x + limit * change;
  const double normal = end[N - 1];
  if (normal > 0.0 && normal * normal > end.template head<N - 1>().squaredNorm()) return limit;
  return step_length_to_cone(x, change, limit);
}

}  // namespace tribo
