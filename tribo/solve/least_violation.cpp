#include "tribo/solve/least_violation.h"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

// Proximal weight over the curvature of one violated constraint. Smaller ones take fewer proximal steps; with the
// spread of the constraints' directions on top, Cholesky keeps about half of its digits here.
constexpr double kDelta = 1e-6;
constexpr Index kProximalSteps = 5;
constexpr Index kNewtonSteps = 40;  // per proximal step; the pieces of the function are finite in number
// Gradient left, relative to the force of the violated constraints: refine() takes it from there.
constexpr double kGradient = 1e-10;
// Violation, relative to that of the free motion or of rest, below which the demands count as met: contradictions
// as small as that are lost in a solution's tolerance.
constexpr double kMet = 1e-10;
constexpr int kRefinements = 3;

}  // namespace

std::optional<Contradiction> LeastViolation::prove(const ContactProblem& problem, Law law,
                                                   const std::function<bool()>* interrupt) {
  factorizations_ = 0;
  newton_.prepare(problem);
  if (newton_.kernel().cholesky().factor_flops() > kMostFlops) return std::nullopt;
  potential_.prepare_demands(problem, law, kDelta);
  plain_.prepare_demands(problem, law, kDelta);
  ray_.setZero(problem.row_count());
  multiplier_.setZero(problem.row_count());
  offset_.resize(problem.row_count());
  change_.resize(problem.row_count());
  free_ = problem.momentum();
  residual_.setZero(problem.dof_count());
  newton_.start(problem, residual_);
  size_ = violation(problem);
  problem.mass_factor().solve_in_place(free_);
  newton_.start(problem, free_);
  size_ = std::max(size_, violation(problem));
  newton_.set_interrupt(interrupt);
  std::optional<Contradiction> proof;
  for (Index step = 0; step < kProximalSteps && !proof; ++step) {
    if (!minimize(problem, interrupt)) break;
    if (violation(problem) <= kMet * size_) break;
    proof = judge(problem, law);
    multiplier_ = newton_.impulse();
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const Index row = problem.row(i), n = problem.rows(i);
      offset_.segment(row, n) = kDelta * problem.scale(i) * multiplier_.segment(row, n);
    }
    potential_.set_offset(offset_);
  }
  newton_.set_interrupt(nullptr);
  return proof;
}

// One proximal step.
bool LeastViolation::minimize(const ContactProblem& problem, const std::function<bool()>* interrupt) {
  double best = std::numeric_limits<double>::infinity();
  int idle = 0;
  for (Index k = 0; k < kNewtonSteps; ++k) {
    newton_.linearize(problem, potential_);
    const double gradient = newton_.gradient_norm(problem);
    if (gradient * kDelta <= kGradient * size_ && k > 0) return true;
    idle = gradient < 0.5 * best ? 0 : idle + 1;
    best = std::min(best, gradient);
    if (idle > 4) return true;  // rounding
    if (interrupt != nullptr && *interrupt && (*interrupt)()) return false;
    const ConvexNewton::Step step = newton_.step(problem, potential_);
    if (!step.factorized) return false;
    ++factorizations_;
    if (!step.progress) return true;
  }
  return true;
}

// sqrt(sum viol^2 / w), and the ray y = viol / w at the iterate.
double LeastViolation::violation(const ContactProblem& problem) {
  plain_.impulse(newton_.constraint_velocity(), ray_);
  ray_ *= kDelta;
  double sum = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    sum += problem.scale(i) * ray_.segment(problem.row(i), problem.rows(i)).squaredNorm();
  }
  return std::sqrt(sum);
}

std::optional<Contradiction> LeastViolation::judge(const ContactProblem& problem, Law law) {
  for (int k = 0; k < kRefinements; ++k) {
    if (auto proof = check_.prove(problem, ray_, law)) return proof;
    refine(problem, law);
  }
  return check_.prove(problem, ray_, law);
}

// y -= D J H^-1 J^T y on what is violated; what leaves its cone is put back on it.
void LeastViolation::refine(const ContactProblem& problem, Law law) {
  check_.transpose_product(problem, ray_, residual_);
  newton_.kernel().solve_in_place(residual_);
  problem.jacobian().multiply(residual_, change_);
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i), n = problem.rows(i);
    auto y = ray_.segment(row, n);
    if (y.isZero(0.0)) continue;
    const Mat3& d = newton_.derivative()[i];
    switch (demand_of(problem, i, law)) {
      case Demand::none:
        break;
      case Demand::at_least_zero:
        y[n - 1] = std::max(0.0, y[n - 1] - d(n - 1, n - 1) * change_[row + n - 1]);
        break;
      case Demand::at_most_zero:
        y[0] = std::min(0.0, y[0] - d(0, 0) * change_[row]);
        break;
      case Demand::zero:
        y[0] -= d(0, 0) * change_[row];
        break;
      case Demand::dual_cone: {
        y -= d * change_.segment<3>(row);
        const double limit = problem.friction(i) * std::max(0.0, y[2]), tangent = y.head<2>().norm();
        y[2] = std::max(0.0, y[2]);
        if (tangent > limit) y.head<2>() *= limit / tangent;
        break;
      }
    }
  }
}

}  // namespace tribo
