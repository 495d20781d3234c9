// Roots of a scalar function inside a bracket with a sign change; neither method can leave the bracket.
//
//   rtsafe               Newton guarded by bisection: the Newton step is used when it stays inside the
//   bracket and is
//                        less than half the previous step, else the bracket is halved. Quadratic near simple
//                        roots. Both stop on the width of the bracket, never on a small step, so a converged
//                        root is proved.
//   find_root_bracketed  no derivative: false position with the Illinois weight, and bisection whenever three
//                        evaluations did not halve the bracket, so at most about 4 log2((hi - lo) /
//                        tolerance) calls.
//
// `tolerance` is absolute, in the units of x; 0 asks for the last representable digits. A bracket without a
// sign change (or with a NaN) returns the end with the smaller |f| and converged = false; nothing throws.
//
// Example: sqrt(2)
//   RootResult r = rtsafe([](double x) { return ValueAndDerivative{x * x - 2, 2 * x}; }, 0.0, 2.0);
#pragma once

#include <cmath>
#include <limits>

#include "tribo/math/platform.h"

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
  const bool lo_is_nearer = std::fabs(f_lo) < std::fabs(f_hi);
  double best = lo_is_nearer ? lo : hi;
  double best_value = lo_is_nearer ? f_lo : f_hi;
  double newton = lo_is_nearer ? lo - f_lo / slope_lo : hi - f_hi / slope_hi;
  double last = best;
  double last_step = 2.0 * std::fabs(hi - lo);
  for (int iteration = 0;; ++iteration) {
    const double left = below < above ? below : above;
    const double right = below < above ? above : below;
    const double resolution = detail::root_resolution(best, tolerance);
    result = {best, iteration, right - left <= 2.0 * resolution};
    if (result.converged || iteration == max_iterations) return result;

    double x = 0.5 * left + 0.5 * right;
    // A zero slope makes `newton` infinite or NaN, which fails this test.
    if (newton > left && newton < right && std::fabs(newton - last) < 0.5 * last_step) {
      x = newton;
      // Step just past the root: that closes the bracket from the other side too and proves convergence.
      if (x - left < resolution) x = left + resolution;
      if (right - x < resolution) x = right - resolution;
    }
    last_step = std::fabs(x - last);
    last = x;

    const auto [value, slope] = f(x);
    if (value == 0.0) return {x, iteration + 1, true};
    if (std::isnan(value)) return {best, iteration + 1, false};
    if (std::fabs(value) < std::fabs(best_value)) {
      best = x;
      best_value = value;
    }
    (value < 0.0 ? below : above) = x;
    newton = x - value / slope;
  }
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

  double best = std::fabs(f_lo) < std::fabs(f_hi) ? lo : hi;
  double best_value = std::fabs(f_lo) < std::fabs(f_hi) ? f_lo : f_hi;
  int last_side = 0;        // which end moved last: -1 lo, +1 hi
  int steps_in_window = 0;  // evaluations since the bracket was last seen to halve
  double window_width = hi - lo;
  for (int iteration = 0;; ++iteration) {
    const double width = hi - lo;
    const double resolution = detail::root_resolution(best, tolerance);
    result = {best, iteration, width <= 2.0 * resolution};
    if (result.converged || iteration == max_iterations) return result;

    if (width <= 0.5 * window_width) {
      window_width = width;
      steps_in_window = 0;
    }
    double x = lo + width * (f_lo / (f_lo - f_hi));
    if (steps_in_window >= 3 || !(x > lo && x < hi)) {
      x = lo + 0.5 * width;
    } else {
      // A point within the resolution of an end would leave the far end where it is: step just past the root
      // instead.
      if (x - lo < resolution) x = lo + resolution;
      if (hi - x < resolution) x = hi - resolution;
    }
    ++steps_in_window;

    const double value = f(x);
    if (value == 0.0) return {x, iteration + 1, true};
    if (std::isnan(value)) return {best, iteration + 1, false};
    if (std::fabs(value) < std::fabs(best_value)) {
      best = x;
      best_value = value;
    }
    if ((value < 0.0) == (f_lo < 0.0)) {
      lo = x;
      f_lo = value;
      if (last_side == -1) f_hi *= 0.5;
      last_side = -1;
    } else {
      hi = x;
      f_hi = value;
      if (last_side == 1) f_lo *= 0.5;
      last_side = 1;
    }
  }
}

}  // namespace tribo
