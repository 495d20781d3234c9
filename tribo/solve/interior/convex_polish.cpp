#include "tribo/solve/interior/convex_polish.h"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

// Penalty relative to 1 / w_i: grows by the factor with every multiplier; beyond the highest the matrix has lost its digits.
constexpr double kHighestPenalty = 1e9;
constexpr double kPenaltyFactor = 10.0;
// A proximal step need not be solved better than it changes the multipliers.
constexpr double kInnerAccuracy = 0.1;

}  // namespace

void ConvexPolish::prepare(const ContactProblem& problem) {
  newton_.set_line_search(LineSearch::exact, 1e-8);
  newton_.prepare(problem);
  multiplier_.resize(problem.row_count());
  zero_.setZero(problem.row_count());
  velocity_.resize(problem.dof_count());
}

void ConvexPolish::recentre(const ContactProblem& problem, double beta) {
  law_.prepare(problem, beta);
  potential_.prepare(problem, law_);
  potential_.set_offset(law_, multiplier_, zero_);
  newton_.linearize(problem, potential_);
}

bool ConvexPolish::run(const ContactProblem& problem, Monitor& monitor, const Vector& start, double beta,
                       Index factorizations, Index& iteration) {
  factorizations = std::min(factorizations, monitor.factorizations_left());
  multiplier_ = start;
  problem.generalized_velocity_of(start, velocity_);
  newton_.start(problem, velocity_);
  recentre(problem, beta);
  for (Index used = 0; used < factorizations && iteration < monitor.iterations_left(); ++used) {
    const ConvexNewton::Step step = newton_.step(problem, potential_);
    if (step.factorized) monitor.count_factorization();
    newton_.linearize(problem, potential_);
    if (monitor.check(++iteration, newton_.impulse(), beta)) return true;
    if (step.progress &&
        newton_.gradient_norm(problem) > kInnerAccuracy * newton_.proximal_change(law_, multiplier_))
      continue;
    multiplier_ = newton_.impulse();
    beta = std::min(kPenaltyFactor * beta, kHighestPenalty);
    recentre(problem, beta);
  }
  return false;
}

}  // namespace tribo
