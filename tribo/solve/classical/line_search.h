// Line searches of the nonsmooth Newton methods on the merit function q(t) = |G(lambda + t d)|^2 / 2, Acary et al. (2018)
// sec. 5.5 with its errata: (113) is squared, and Armijo's search halves.
//
//   goldstein_price   m2 q'(0) <= (q(t) - q(0)) / t <= m1 q'(0): bisection, a t while no upper end is known
//   armijo            (q(t) - q(0)) / t <= m1 q'(0): halving
#pragma once

#include <cstdint>

#include "tribo/base/types.h"

namespace tribo {

enum class Search : std::uint8_t { none, goldstein_price, armijo };

struct SearchOptions {
  Search kind = Search::none;
  double m1 = 0.01, m2 = 0.99;
  double extrapolation = 10.0;  // a
  Index trials = 10;
  bool full_on_failure = false;  // otherwise the last step tried
};

// The step t; merit(t) is q(t), `slope` q'(0). Directions that do not descend get t = 1.
template <class Merit>
double search_step(const SearchOptions& options, double start, double slope, Merit&& merit) {
  if (options.kind == Search::none || !(slope < 0.0)) return 1.0;
  double low = 0.0, high = 0.0, t = 1.0;
  for (Index trial = 0; trial < options.trials; ++trial) {
    const double rate = (merit(t) - start) / t;
    const bool too_long = !(rate <= options.m1 * slope);  // also where q is not a number
    const bool too_short = !too_long && options.kind == Search::goldstein_price && rate < options.m2 * slope;
    if (!too_long && !too_short) return t;
    (too_long ? high : low) = t;
    t = high == 0.0 ? options.extrapolation * t : 0.5 * (low + high);
  }
  return options.full_on_failure ? 1.0 : t;
}

}  // namespace tribo
