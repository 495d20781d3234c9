// Primal-dual interior point with a final polish; see solve/interior/ipm.cpp.
#pragma once

#include <limits>
#include <memory>

#include "tribo/solve/solver.h"

namespace tribo {

std::unique_ptr<Solver> make_ipm();

// For solvers that use ipm as one of their stages: what it may do.
struct IpmPlan {
  // > 0: only the path, from the start given, until the error is below this or steps get short. Which contacts stick,
  // slide and open shows long before a path ends, and others end from there in fewer steps.
  double target = 0.0;
  double most_flops =
      std::numeric_limits<double>::infinity();  // of a factorisation; with `target`: gives up beyond
};
void set_plan(Solver& ipm, const IpmPlan& plan);
// Multiply-adds of a factorisation of the last problem that was solved with a target.
double path_flops(const Solver& ipm);

}  // namespace tribo
