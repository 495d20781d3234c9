// Two ablations of canal, Lee et al. (2024): its outer loop without the convex cascade. See al_ablations.cpp.
#pragma once

#include <memory>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo {

struct AlAblationOptions {
  double beta = 1e4;               // first penalty, N s per m/s
  double kappa = 10.0;             // growth of the penalty
  double beta_max = 1e8;           // N s per m/s
  double zeta = 0.25;              // reduction of |J v - z| that keeps the penalty
  double inner_tolerance = 1e-10;  // of the surrogate, sqrt(J)
  Index newton = 50;               // Newton steps per outer step
};

// The table of the options: meaning, unit and range of each.
std::vector<Option> describe(AlAblationOptions& options);

std::unique_ptr<Solver> make_al_dogleg(const AlAblationOptions& options = {});
std::unique_ptr<Solver> make_al_damped(const AlAblationOptions& options = {});

}  // namespace tribo
