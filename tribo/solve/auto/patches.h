// Newton where it is needed: in a large island that sweeps have nearly solved, a few clusters of contacts converge
// badly (a ball wedged between others, a box on too many points) while the rest is done. Each cluster with its
// surroundings is a problem of its own, all other impulses fixed,
//
//   W_CC lambda_C + (u_C - W_CC lambda_C)_now  in the law of C,
//
// a block of a Gauss-Seidel sweep that is solved by alnewton: overlapping multiplicative Schwarz. Where everything is
// bad the patches tile the island. Cost: that of small problems, in proportion to the number of bad constraints.
//
// Example
//   PatchSolver patches;
//   patches.prepare(problem);
//   if (patches.inspect(problem, law, impulse, allowed) < problem.constraint_count() / 4)
//     patches.solve(problem, settings, {.allowed = allowed}, 0.1 * allowed, impulse);
#pragma once

#include <span>
#include <vector>

#include "tribo/problem/problem_filler.h"
#include "tribo/solve/driver/loop_solver.h"
#include "tribo/solve/newton/alnewton_solver.h"

namespace tribo {

class PatchSolver {
 public:
  PatchSolver();

  struct Plan {
    double allowed = 0.0;       // error of a constraint above which it is bad
    Index core = 60;            // bad constraints of one patch
    Index overlap = 1;          // rings of neighbours around them
    Index largest = 200;        // constraints of one patch
    Index factorizations = 20;  // of one patch
  };
  struct Outcome {
    Index patches = 0, iterations = 0, factorizations = 0;
    double work = 0.0;  // factorisations times constraints
  };

  // The neighbourhoods. Grow-only.
  void prepare(const ContactProblem& problem);

  // Number of constraints whose error at `impulse` exceeds `allowed`.
  Index inspect(const ContactProblem& problem, Law law, const Vector& impulse, double allowed);

  // After inspect(): the constraints that were bad and `rings` of neighbours around them, ascending.
  std::span<const Index> around_bad(const ContactProblem& problem, double allowed, Index rings);

  double worst() const { return worst_; }  // largest error that inspect() met

  // After inspect() at the same impulses: solves patch after patch. `settings`: tolerance and law; tolerances of the
  // patches aim at an error of `accuracy` in the whole.
  Outcome solve(const ContactProblem& problem, const Settings& settings, const Plan& plan, double accuracy,
                Vector& impulse);

 private:
  double error_of(const ContactProblem& problem, Law law, const Vector& impulse, Index i);
  void collect(const ContactProblem& problem, Index seed, const Plan& plan);
  void add_neighbours(const ContactProblem& problem, std::size_t begin, std::size_t end, double more_than,
                      std::size_t most);
  void add_rings(const ContactProblem& problem, Index rings, std::size_t most);
  void extract_trees(const ContactProblem& problem, const Vector& impulse);
  bool extract(const ContactProblem& problem, const Vector& impulse);
  void put_back(const ContactProblem& problem, Vector& impulse);

  std::vector<Index> tree_start_, tree_constraints_;  // constraints on each tree
  std::vector<double> error_;                         // [constraints] natural map over its reference
  Vector velocity_;                                   // [rows] where inspected
  Vector motion_;                                     // [dofs] of the present impulses
  std::vector<Index> constraints_, trees_;            // of the patch
  std::vector<Index> mark_, local_tree_;  // [constraints] and [trees]: number of the last patch, place
  std::vector<char> done_;                // [constraints] has been in the core of a patch
  Index patch_ = 0;
  double worst_ = 0.0;
  double reference_ = 1.0;  // common_reference() of the whole, sqrt(J)

  ProblemFiller filler_;
  ContactProblem part_;
  AlNewton newton_;
  Index factorizations_ = 0;  // that a patch may take
  LoopSolver solver_;
  Solution solution_;
  Vector start_, scratch_;
};

}  // namespace tribo
