// Augmented Lagrangian solved by semismooth Newton, the penalty as globalisation.
//
// The outer loop is Lee et al. (2024) (11)-(12): proximal steps of weight 1 / beta from the multipliers
// lambda_k. The surrogate (19) with the strict operator is solved directly, so nothing lags and convergence is
// superlinear; what makes it robust is that beta answers to Newton (pseudo-transient continuation):
//   Newton arrives in few steps     beta rises, the proximal term fades, the outer loop turns quadratic
//   Newton fails                    lambda_k stays, beta falls until the surrogate is easy
// Newton stops at a twentieth of the natural map of lambda_k: solving a surrogate better than that is wasted.
// Penalties are dimensionless (beta_i = beta / scale_i), systems in degrees of freedom or rows, whichever
// suits (newton_system.h). On stagnation the loop starts again from some iterations of ADMM; the best iterate
// seen is what is returned. One factorisation per Newton step is the cost.
// Stacks, from zero, begin with their load (solve/newton/stack_prediction.h): at rest they are a matter of two to five
// factorisations, sliding of about thirty, whatever their height.
#pragma once

#include <memory>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo {

struct AlNewtonOptions {
  enum class Prediction { off, first, only };

  double beta = 1.0;      // initial penalty
  Index first_stage = 0;  // iterations of ADMM to begin with
  Index newton_steps = 50, backtracks = 20;
  double accuracy = 0.05;  // residual of the surrogate over the natural map
  Prediction prediction = Prediction::first;
  Index patience = 40;  // outer iterations without headway before starting again
};

// The table of the options: meaning, unit and range of each.
std::vector<Option> describe(AlNewtonOptions& options);

std::unique_ptr<Solver> make_alnewton(const AlNewtonOptions& options = {});

}  // namespace tribo
