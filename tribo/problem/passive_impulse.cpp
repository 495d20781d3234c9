#include "tribo/problem/passive_impulse.h"

#include <algorithm>

#include "tribo/problem/sparse_trees.h"

namespace tribo {

double impulse_work(const ContactProblem& problem, const Solution& solution) {
  return 0.5 * solution.impulse.dot(solution.velocity + problem.free_velocity());
}

bool make_passive(const ContactProblem& problem, Solution& solution) {
  if (!(impulse_work(problem, solution) > 0.0)) return false;
  const double free = solution.impulse.dot(problem.free_velocity());
  const double square = solution.impulse.dot(solution.velocity) - free;  // lambda . W lambda
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.kind(i) == ConstraintKind::box && !(problem.lower(i) <= 0.0 && problem.upper(i) >= 0.0))
      return false;
  }
  const double share = free < 0.0 && square > 0.0 ? std::min(1.0, -free / square) : 0.0;
  solution.impulse *= share;
  // Both are affine in the impulses.
  solution.velocity = problem.free_velocity() + share * (solution.velocity - problem.free_velocity());
  if (solution.generalized_velocity.size() > 0) {
    SparseScratch scratch;
    problem.full_velocity_of(solution.impulse, solution.generalized_velocity, scratch);
  }
  return true;
}

}  // namespace tribo
