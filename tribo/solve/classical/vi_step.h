// One iteration of the projection methods for variational inequalities, Acary et al. (2018) sec. 4, on vectors of any kind:
// a whole problem (solve/classical/vi_engine.h) or a single contact (solve/classical/local_solvers.h).
//
//   fixed point (98)      z <- P(z - rho F(z))
//   extragradient (99)    zbar = P(z - rho F(z)),   z <- P(z - rho F(zbar))
//
// rho is constant (De Saxce and Feng) or adapts itself, Alg. 3: it shrinks while r > L and grows where r < L_min, with
//   upk (101, Khobotov)         r = rho |F(z) - F(zbar)| / |z - zbar|
//   upts (102, Solodov-Tseng)   r = rho (z - zbar).(F(z) - F(zbar)) / |z - zbar|^2
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tribo/base/types.h"

namespace tribo {

enum class ViMethod : std::uint8_t { fixed_point, extragradient };
enum class StepRule : std::uint8_t { fixed, upk, upts };

struct ViRule {
  ViMethod method = ViMethod::fixed_point;
  StepRule step = StepRule::upk;
  double upper = 0.9;         // L
  double lower = 0.3;         // L_min
  double shrink = 2.0 / 3.0;  // nu
  Index trials = 10;          // of rho in an iteration
  bool han_lo = false;        // shrink by nu min(1, 1/r)
};

// `Space` is the problem: evaluate(z, f), project_step(z, rho, f, target), length2(z), dual_length2(f).
// In: z and f = F(z). Out: the next z and its f. Returns r, which tells whether rho may grow.
template <class Space, class Vec>
double vi_step(const ViRule& rule, Space& space, double& rho, Vec& z, Vec& f, Vec& z_bar, Vec& f_bar) {
  space.project_step(z, rho, f, z_bar);
  double ratio = 0.0;
  if (rule.step != StepRule::fixed) {
    for (Index trial = 0;; ++trial) {
      space.evaluate(z_bar, f_bar);
      const double moved2 = space.length2(z, z_bar);
      if (moved2 == 0.0) {
        ratio = rule.lower;  // z solves the problem: nothing to learn about rho
      } else if (rule.step == StepRule::upk) {
        ratio = rho * std::sqrt(space.dual_length2(f, f_bar) / moved2);
      } else {
        ratio = rho * (z - z_bar).dot(f - f_bar) / moved2;
      }
      if (!(ratio > rule.upper) || trial == rule.trials) break;
      rho *= rule.shrink * (rule.han_lo ? std::min(1.0, 1.0 / ratio) : 1.0);
      space.project_step(z, rho, f, z_bar);
    }
  }
  if (rule.method == ViMethod::extragradient) {
    if (rule.step == StepRule::fixed) space.evaluate(z_bar, f_bar);
    space.project_step(z, rho, f_bar, z_bar);
    z.swap(z_bar);
    space.evaluate(z, f);
  } else {
    z.swap(z_bar);
    if (rule.step == StepRule::fixed) {
      space.evaluate(z, f);
    } else {
      f.swap(f_bar);
    }
  }
  return ratio;
}

}  // namespace tribo
