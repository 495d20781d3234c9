// Augmented Lagrangian solved by semismooth Newton, the penalty as globalisation.
//
// The outer loop is Lee et al. (2024) (11)-(12): proximal steps of weight 1 / beta from the multipliers
// lambda_k. The surrogate (19) with the strict operator is solved directly, so nothing lags and convergence is
// superlinear; what makes it robust is that beta answers to Newton (pseudo-transient continuation):
//   Newton arrives in few steps     beta rises, the proximal term fades, the outer loop turns quadratic
//   Newton fails                    lambda_k stays, beta falls until the surrogate is easy
// Newton stops at a twentieth of the natural map of lambda_k: solving a surrogate better than that is wasted.
// Penalties are dimensionless (beta_i = beta / scale_i), systems in degrees of freedom or rows, whichever
// suits (newton_system.h). On stagnation the loop starts again from a few sweeps of ADMM; the best iterate
// seen is what is returned. One factorisation per Newton step is the cost.
// Stacks, from zero, begin with their load (solve/newton/stack_prediction.h): at rest they are a matter of two to five
// factorisations, sliding of about thirty, whatever their height.
#pragma once

#include <limits>
#include <memory>

#include "tribo/solve/solver.h"

namespace tribo {

class DenseHalf;

std::unique_ptr<Solver> make_alnewton();

// For solvers that use alnewton as one of their stages: what it may do.
struct AlNewtonPlan {
  bool only_prediction = false;  // give up where the prediction fails
  Index factorizations = std::numeric_limits<Index>::max();
  double beta = 0.0;        // initial penalty; 0: the option's
  Index natural_steps = 0;  // before the first surrogate, see AlSurrogate::natural_step()
  bool stiffens = false;    // beyond the tolerance, where surrogates are linear: see Monitor::aim()
  double most_flops =
      std::numeric_limits<double>::infinity();  // of a factorisation; gives up where it takes more
  const DenseHalf* half = nullptr;              // of the problem, where there is one already
};
void set_plan(Solver& alnewton, const AlNewtonPlan& plan);
// Multiply-adds of a factorisation of the last problem; 0 where not known.
double factor_flops(const Solver& alnewton);

}  // namespace tribo
