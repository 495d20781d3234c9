// Nonsmooth Gauss-Seidel: one contact after the other is solved with the others held. See nsgs.cpp.
#pragma once

#include <memory>
#include <span>

#include "tribo/solve/solver.h"

namespace tribo {

std::unique_ptr<Solver> make_nsgs();

// For solvers that call nsgs on one problem several times.
struct SweepPlan {
  bool same_problem = false;  // as in the last call: nothing has to be set up
  bool go_on = false;         // from where the last call ended (not from its best iterate), with its momentum
  double relaxation = 1.0;    // times the option's
  bool plain = false;         // without momentum, whatever the option says
  std::span<const Index> only{};  // constraints to visit, ascending; empty: all. Must outlive the call.
};
void set_plan(Solver& nsgs, const SweepPlan& plan);
// Where the last call ended; its best iterate may be another one.
const Vector& last_impulse(const Solver& nsgs);

}  // namespace tribo
