// Roots of a scalar function inside a bracket with a sign change; neither method can leave the bracket.
//
//   rtsafe               Newton guarded by bisection: a Newton step is used when it stays inside the bracket
//                        and is less than half the previous step, else the bracket is halved.
//   find_root_bracketed  without derivative: false position with the Illinois weight, and bisection whenever
//                        three evaluations did not halve the bracket (at most about 4 per halving).
//   step_to_root         rtsafe along a direction: of an increasing function with a known negative value at 0
//
// Both stop on the width of the bracket, never on a small step, so a converged root is proved: f changes sign
// within 2 * max(tolerance, a few units in the last place) of it. `tolerance` is absolute, in the units of x.
// A bracket without sign change returns the end with the smaller |f| and converged = false; nothing throws.
//
// Example: sqrt(2)
//   RootResult r = rtsafe([](double x) { return ValueAndDerivative{x * x - 2, 2 * x}; }, 0.0, 2.0);
#pragma once

#include <cmath>
#include <limits>

#include "tribo/base/platform.h"

namespace tribo {

struct ValueAndDerivative {
  double value;
  double derivative;
};

struct RootResult {
  double root = 0.0;
  int iterations = 0;  // evaluations of f after those at the two ends
  bool converged = false;
};

namespace detail {

// The spacing below which x cannot be located: the caller's tolerance or two units in the last place.
TRIBO_HD inline double root_resolution(double x, double tolerance) {
  const double ulps =
      2.0 * std::numeric_limits<double>::epsilon() * std::fabs(x) + std::numeric_limits<double>::denorm_min();
  return tolerance > ulps ? tolerance : ulps;
}

// Moves x at least `resolution` away from the ends: stepping just past the root closes the bracket from the
// other side, which a step onto this side of it would not.
TRIBO_HD inline double keep_inside(double x, double left, double right, double resolution) {
  if (x - left < resolution) return left + resolution;
  if (right - x < resolution) return right - resolution;
  return x;
}

// Settles the cases decided by the end values alone; true if `result` is final.
TRIBO_HD inline bool root_at_ends(double lo, double f_lo, double hi, double f_hi, RootResult& result) {
  if (f_lo == 0.0 || f_hi == 0.0) {
    result = {f_lo == 0.0 ? lo : hi, 0, true};
    return true;
  }
  if ((f_lo < 0.0 && f_hi > 0.0) || (f_lo > 0.0 && f_hi < 0.0)) return false;
  result = {std::fabs(f_hi) < std::fabs(f_lo) ? hi : lo, 0, false};
  return true;
}

}  // namespace detail

// F: double -> ValueAndDerivative (or any aggregate of two doubles in that order).
template <class F>
TRIBO_HD RootResult rtsafe(F&& f, double lo, double hi, double tolerance = 0.0, int max_iterations = 200) {
  const auto [f_lo, slope_lo] = f(lo);
  const auto [f_hi, slope_hi] = f(hi);
  RootResult result;
  if (detail::root_at_ends(lo, f_lo, hi, f_hi, result)) return result;

  double below = f_lo < 0.0 ? lo : hi;  // f(below) < 0 < f(above)
  double above = f_lo < 0.0 ? hi : lo;
  double f_below = f_lo < 0.0 ? f_lo : f_hi;
  double f_above = f_lo < 0.0 ? f_hi : f_lo;
  const bool lo_is_nearer = std::fabs(f_lo) < std::fabs(f_hi);
  double last = lo_is_nearer ? lo : hi;
  double last_step = 2.0 * std::fabs(hi - lo);
  double newton = lo_is_nearer ? lo - f_lo / slope_lo : hi - f_hi / slope_hi;
  for (int iteration = 0;; ++iteration) {
    const double left = below < above ? below : above;
    const double right = below < above ? above : below;
    const double best = -f_below < f_above ? below : above;
    const double resolution = detail::root_resolution(best, tolerance);
    result = {best, iteration, right - left <= 2.0 * resolution};
    if (result.converged || iteration == max_iterations) return result;

    double x = 0.5 * left + 0.5 * right;
    if (newton > left && newton < right) {  // false for the infinity or NaN of a zero slope
      const double inside = detail::keep_inside(newton, left, right, resolution);
      if (std::fabs(inside - last) < 0.5 * last_step) x = inside;
    }
    last_step = std::fabs(x - last);
    last = x;

    const auto [value, slope] = f(x);
    if (value == 0.0) return {x, iteration + 1, true};
    if (std::isnan(value)) return {best, iteration + 1, false};
    (value < 0.0 ? below : above) = x;
    (value < 0.0 ? f_below : f_above) = value;
    newton = x - value / slope;
  }
}

// The root alpha > 0 of an increasing f with f(0) = slope < 0: the exact step along a direction, f being the derivative
// of a convex function along it. Doubling brackets it from alpha = 1 on; `longest` where it lies beyond. |f| up to `close`
// counts as zero.
template <class F>
TRIBO_HD double step_to_root(F&& f, double slope, double close, double longest) {
  const auto rounded = [&](double alpha) -> ValueAndDerivative {
    const auto [value, derivative] = f(alpha);
    return {std::fabs(value) <= close ? 0.0 : value, derivative};
  };
  double low = 0.0, high = 1.0;
  ValueAndDerivative at_low{slope, -slope}, at_high = rounded(1.0);
  while (at_high.value < 0.0 && high < longest) {
    low = high;
    at_low = at_high;
    high *= 2.0;
    at_high = rounded(high);
  }
  if (!(at_high.value > 0.0)) return high;
  const auto known = [&](double alpha) {
    return alpha == low ? at_low : alpha == high ? at_high : rounded(alpha);
  };
  return rtsafe(known, low, high, 1e-14, 60).root;
}

// F: double -> double.
template <class F>
TRIBO_HD RootResult find_root_bracketed(F&& f, double lo, double hi, double tolerance = 0.0,
                                        int max_iterations = 400) {
  if (lo > hi) {
    const double swapped = lo;
    lo = hi;
    hi = swapped;
  }
  double f_lo = f(lo);
  double f_hi = f(hi);
  RootResult result;
  if (detail::root_at_ends(lo, f_lo, hi, f_hi, result)) return result;

  // The Illinois weights act on copies, so that the values at the ends stay true.
  double weighted_lo = f_lo;
  double weighted_hi = f_hi;
  int last_side = 0;        // which end moved last: -1 lo, +1 hi
  int steps_in_window = 0;  // evaluations since the bracket was last seen to halve
  double window_width = hi - lo;
  for (int iteration = 0;; ++iteration) {
    const double width = hi - lo;
    const double best = std::fabs(f_lo) < std::fabs(f_hi) ? lo : hi;
    const double resolution = detail::root_resolution(best, tolerance);
    result = {best, iteration, width <= 2.0 * resolution};
    if (result.converged || iteration == max_iterations) return result;

    if (width <= 0.5 * window_width) {
      window_width = width;
      steps_in_window = 0;
    }
    double x = lo + width * (weighted_lo / (weighted_lo - weighted_hi));
    if (steps_in_window < 3 && x > lo && x < hi) {
      x = detail::keep_inside(x, lo, hi, resolution);
    } else {
      x = lo + 0.5 * width;
    }
    ++steps_in_window;

    const double value = f(x);
    if (value == 0.0) return {x, iteration + 1, true};
    if (std::isnan(value)) return {best, iteration + 1, false};
    if ((value < 0.0) == (f_lo < 0.0)) {
      lo = x;
      f_lo = weighted_lo = value;
      if (last_side == -1) weighted_hi *= 0.5;
      last_side = -1;
    } else {
      hi = x;
      f_hi = weighted_hi = value;
      if (last_side == 1) weighted_lo *= 0.5;
      last_side = 1;
    }
  }
}

}  // namespace tribo
