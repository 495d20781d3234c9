// What a solve is, whatever the solver: checks of the settings, the start, islands, the solver's loop under the eyes of
// the monitor, the certificate of the best iterate and the last word on the status.
//
// Knows the interface Solver only.
#pragma once

#include <chrono>
#include <memory>

#include "tribo/solve/driver/island_driver.h"
#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/solver.h"

namespace tribo {

class SolveDriver {
 public:
  // `option_version` changes when the options of the solver do.
  Report solve(Solver& solver, Index option_version, const ContactProblem& problem, const Settings& settings,
               Solution& solution, const Vector* initial_impulse);

 private:
  Status solve_whole(Solver& solver, const ContactProblem& problem, const Settings& settings, Report& report);
  Status solve_parts(Solver& solver, Index option_version, const ContactProblem& problem,
                     const Settings& settings, Report& report);
  void certify(const ContactProblem& problem, const Settings& settings, Solution& solution, Report& report);
  Status last_word(Status status, const ContactProblem& problem, const Settings& settings,
                   const Solution& solution, const Report& report);
  void take_least_violation(const ContactProblem& problem, Solution& solution) const;

  Monitor monitor_;
  std::unique_ptr<IslandDriver> islands_;  // made for the first problem that falls into islands
  Vector start_, impulse_;                 // [rows]
  std::chrono::steady_clock::time_point begin_;
  bool divided_ = false;  // the last problem was solved island by island
  // The monitor has the velocities of the impulses returned, and has certified them.
  bool vetted_ = false;
};

}  // namespace tribo
