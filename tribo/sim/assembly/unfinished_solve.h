// What a budget ended before it was solved for, made usable for the step.
//
// - A solver that is stopped within its first factorisations may have nothing yet: a bottle falls out of the hand, and the next
//   step begins with impulses that are worth as little. So the last two fifths of a limit of time are kept for projected Gauss-Seidel
//   sweeps from the impulses of the step before, which are taken where they end nearer to the solution.
// - Impulses whose work is positive would make bodies jump: problem/passive_impulse.h.
#pragma once

#include <memory>

#include "tribo/solve/solver.h"

namespace tribo {

class UnfinishedSolve {
 public:
  // What the solver gets of the settings' limit of time; all of it where there is none.
  static Settings of_solver(const Settings& settings);
  // After a solve with those settings from `start` (null: zero) ended with this report: improves the solution where a limit
  // ended it above the tolerance, and returns the error of what is used.
  double finish(const ContactProblem& problem, const Settings& settings, const Vector* start,
                const Report& report, Solution& solution);

 private:
  std::unique_ptr<Solver> sweeps_;
  Solution swept_;
};

}  // namespace tribo
