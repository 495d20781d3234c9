// Solves the islands of a problem one by one with copies of one solver, and certifies the whole.
//
// Every island stops on its own: its tolerance is chosen so that islands which meet it make a whole that meets
// the caller's (the scaled error is a maximum; the two-norm of the siconos measure needs a factor sqrt(3)).
// Small islands are solved together, since a copy of the solver for each would cost more than it gains; one by one for
// solvers that ask for it (SolverTraits::small_islands_apart), those of a single constraint then in closed form, where
// they are, with W_ii and q_i of the whole.
// Islands run on Settings::threads threads; each is solved by its own object from its own start, so the result
// has the same bits for any number of threads. Buffers are kept: the same structure again allocates nothing.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "tribo/base/workers.h"
#include "tribo/problem/islands.h"
#include "tribo/solve/solver.h"

namespace tribo {

class IslandDriver {
 public:
  // True if the problem falls into islands worth separating: several, none of them nearly everything.
  bool splits(const ContactProblem& problem, const SolverTraits& traits);

  // True if there is more than one island, however large or small they are.
  bool splits_at_all(const ContactProblem& problem);

  // After splits() or splits_at_all(). Fills `impulse` and the report's counts, history and stages; returns the worst
  // status of the islands. `version` changes when the options of `prototype` do.
  Status solve(const Solver& prototype, Index version, const ContactProblem& problem,
               const Settings& settings, const Vector& start, Vector& impulse, Report& report);

  // After solve(): puts the velocities of least violation of the islands without a solution into `solution`.
  void take_least_violation(const ContactProblem& problem, Solution& solution) const;

 private:
  struct Slot {
    ContactProblem problem;
    std::unique_ptr<Solver> solver;
    Index version = -1;
    Vector start;
    Solution solution;
    Report report;
  };

  void begin(const Settings& settings);
  void solve_singles(const ContactProblem& problem, const Settings& settings, const Vector& start,
                     Vector& impulse);
  bool solve_single(const ContactProblem& problem, Index i, const Vector& start, Vector& impulse,
                    double& before, double& after);
  void prepare(const Solver& prototype, Index version, const Settings& settings);
  void solve_island(Index island, const ContactProblem& problem, const Vector& start,
                    const Settings& settings);
  void collect(const ContactProblem& problem, const Settings& settings, Vector& impulse,
               Report& report) const;
  void take_contradictions(const ContactProblem& problem, Report& report) const;
  void merge_histories(Report& report) const;

  Islands islands_;
  std::vector<std::unique_ptr<Slot>> slots_;  // [islands], none for those of one constraint solved in place
  std::vector<Index> order_;                  // islands with a slot, the largest first
  Report singles_;                            // of the islands of one constraint solved in place
  Index single_count_ = 0;                    // how many
  Vector velocity_;                           // [rows], theirs filled
  std::unique_ptr<Workers> workers_;
  Settings island_settings_;
  std::mutex progress_;
};

}  // namespace tribo
