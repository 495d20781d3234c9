// Admissible impulses of a scalar row: an interval [lower, upper], either bound possibly infinite.
//   unilateral  [0, inf)      bilateral  (-inf, inf)      box  [l, u]
// The row's law: lambda in the interval, -w in its normal cone at lambda. So w = 0 strictly inside, w >= 0 at the lower
// bound, w <= 0 at the upper one: w > 0 pushes the impulse to the lower bound, w < 0 to the upper one.
#pragma once

#include <cmath>
#include <limits>

#include "tribo/math/cone.h"

namespace tribo {

struct Interval {
  double lower = 0.0, upper = 0.0;

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr Interval positive() { return {0.0, kInfinity}; }
  static constexpr Interval all() { return {-kInfinity, kInfinity}; }

  bool has_lower() const { return lower > -kInfinity; }
  bool has_upper() const { return upper < kInfinity; }
  bool is_free() const { return !has_lower() && !has_upper(); }      // an equality: w = 0
  bool is_one_sided() const { return has_lower() && !has_upper(); }  // opens like a contact
  bool is_bounded() const { return has_lower() && has_upper(); }

  double project(double x) const { return project_box(x, lower, upper); }
  double derivative(double x) const { return project_box_derivative(x, lower, upper); }
  bool contains_inside(double x) const { return x > lower && x < upper; }

  // Whether a velocity of this sign pushes towards a bound that does not exist: no impulse allows it.
  bool forbids(double w) const { return w > 0.0 ? !has_lower() : !has_upper(); }
  // |w| where the interval forbids it: how far w is from all velocities that some impulse allows.
  double violation(double w) const { return w != 0.0 && forbids(w) ? std::abs(w) : 0.0; }
  // Distance of lambda from the bound that w pushes to, or where there is none from the other one; 0 without bounds.
  // Times |w| it is the complementarity of the row, J.
  double room(double lambda, double w) const {
    if (w > 0.0 ? has_lower() : !has_upper()) return has_lower() ? std::abs(lambda - lower) : 0.0;
    return has_upper() ? std::abs(upper - lambda) : 0.0;
  }
};

// lambda - P(lambda - step w). Where the projection does nothing it is step w itself: the plain difference loses w beside
// a huge lambda.
inline double natural_map(const Interval& set, double lambda, double w, double step) {
  const double move = step * w;
  const double target = lambda - move;
  const double projected = set.project(target);
  return projected == target ? move : lambda - projected;
}

}  // namespace tribo
