// The default solver: goes from cheap to strong, island by island, and returns the best certified iterate.
//
//   tiny islands    (at most 5 constraints) Gauss-Seidel sweeps on the dense Delassus matrix, then alnewton on
//                   the same matrix: no factorisation set-up
//   piles           accelerated sweeps; on the whole, where that is cheap, Newton, with friction an interior path and convex
//                   surrogates; Newton in patches
//   sweeps          a few of nsgs, and more where their rate promises the tolerance soon
//   admm            accelerated, a limited number of iterations
//   alnewton, ipm   until the certificate is met; ipm first where the scales of sliding contacts spread widely
//   rounds          the same again, more patiently, from the best iterate; piles that start from impulses other than zero,
//                   steps of a simulation, end with one attempt of bounded work instead
//
// Settings::explain records what every stage cost.
#pragma once

#include <memory>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo {

struct AutoOptions {
  Index admm_iterations = 40;  // before the second-order methods
  Index large = 20000;         // constraints of an island above which only first-order methods are used
};

// The table of the options: meaning, unit and range of each.
std::vector<Option> describe(AutoOptions& options);

std::unique_ptr<Solver> make_auto(const AutoOptions& options = {});

}  // namespace tribo
