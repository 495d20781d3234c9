// Cascaded Newton-based augmented Lagrangian (Lee et al. 2024, Alg. 1).
#pragma once

#include <memory>

#include "tribo/solve/solver.h"

namespace tribo {

std::unique_ptr<Solver> make_canal();

}  // namespace tribo
