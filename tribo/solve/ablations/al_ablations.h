// What CANAL is measured against in Lee et al. (2024), Table II: the same augmented Lagrangian with the strict
// operator, its surrogate (19) solved directly by a semismooth Newton method.
#pragma once

#include <memory>

#include "tribo/solve/solver.h"

namespace tribo {

std::unique_ptr<Solver> make_al_dogleg();  // trust-region dogleg
std::unique_ptr<Solver> make_al_damped();  // backtracking on the residual

}  // namespace tribo
