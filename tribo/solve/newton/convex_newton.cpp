#include "tribo/solve/newton/convex_newton.h"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

// Castro et al., sec. IV-B.
constexpr double kArmijoLongest = 1.25;
constexpr double kArmijoShrink = 0.8;
constexpr double kArmijoDecrease = 1e-4;
constexpr int kArmijoTrials = 100;
// Differences of l below this fraction of its terms are rounding.
constexpr double kCostResolution = 1e-11;
constexpr double kLongestStep = 1024.0;  // of the exact line search, in Newton steps

}  // namespace

void ConvexNewton::prepare(const ContactProblem& problem) {
  for (Vector* x : {&v_, &inertia_, &gradient_, &direction_, &inertia_change_}) {
    x->resize(problem.dof_count());
  }
  for (Vector* x : {&u_, &change_, &impulse_, &trial_}) x->resize(problem.row_count());
  kernel_.analyze(problem.mass(), problem.jacobian());
}

void ConvexNewton::start(const ContactProblem& problem, const Vector& v) {
  v_ = v;
  problem.jacobian().multiply(v_, u_);
  u_ += problem.bias();
  problem.mass().multiply(v_, inertia_);
}

void ConvexNewton::linearize(const ContactProblem& problem, const ConvexPotential& potential) {
  potential.evaluate(u_, impulse_, derivative_);
  direction_.setZero();
  problem.jacobian().add_transpose_product(impulse_, direction_);
  gradient_ = inertia_ - problem.momentum() - direction_;
}

double ConvexNewton::gradient_norm(const ContactProblem& problem) {
  direction_ = gradient_;
  problem.mass_factor().solve_in_place(direction_);
  return std::sqrt(std::max(0.0, gradient_.dot(direction_)));
}

double ConvexNewton::proximal_change(const ProximalLaw& law, const Vector& multiplier) const {
  double sum = 0.0;
  for (Index row = 0; row < multiplier.size(); ++row) {
    const double change = impulse_[row] - multiplier[row];
    sum += law.proximal(row) * change * change;
  }
  return std::sqrt(sum);
}

double ConvexNewton::cost(const ContactProblem& problem, const ConvexPotential& potential) const {
  return 0.5 * v_.dot(inertia_) - v_.dot(problem.momentum()) + potential.value(u_);
}

ConvexNewton::Step ConvexNewton::step(const ContactProblem& problem, const ConvexPotential& potential) {
  Step out;
  if (!kernel_.factorize(problem.mass(), problem.jacobian(), derivative_)) return out;
  out.factorized = true;
  direction_ = -gradient_;
  kernel_.solve_in_place(direction_);
  out.slope = slope_ = direction_.dot(gradient_);
  if (!(slope_ < 0.0)) return out;
  problem.jacobian().multiply(direction_, change_);
  problem.mass().multiply(direction_, inertia_change_);
  linear_ = direction_.dot(inertia_) - direction_.dot(problem.momentum());
  quadratic_ = direction_.dot(inertia_change_);
  if (line_search_ == LineSearch::armijo) {
    cost_size_ = 0.5 * v_.dot(inertia_) + std::abs(v_.dot(problem.momentum())) + potential.value(u_);
    out.length = armijo_length(potential, out.trials);
  } else {
    out.length = exact_length(potential, out.trials);
  }
  v_ += out.length * direction_;
  u_ += out.length * change_;
  inertia_ += out.length * inertia_change_;
  out.progress = out.length > 0.0 && std::isfinite(out.length);
  return out;
}

ValueAndDerivative ConvexNewton::slope_at(const ConvexPotential& potential, double alpha) const {
  const ValueAndDerivative phi = potential.along(u_, change_, alpha);
  return {linear_ + alpha * quadratic_ + phi.value, quadratic_ + phi.derivative};
}

// The root of l'(alpha); l' grows at least like d.A d.
double ConvexNewton::exact_length(const ConvexPotential& potential, int& trials) const {
  const auto derivative = [&](double alpha) {
    ++trials;
    return slope_at(potential, alpha);
  };
  return step_to_root(derivative, slope_, line_tolerance_ * std::abs(slope_), kLongestStep);
}

// Backtracking from 1.25 by 0.8 (so that 1 is tried) for as long as the cost falls and Armijo's rule is not
// met; once l changes by rounding only, the full step.
double ConvexNewton::armijo_length(const ConvexPotential& potential, int& trials) const {
  if (-slope_ <= kCostResolution * cost_size_) return 1.0;
  const double here = potential.value(u_);
  const auto rise = [&](double alpha) {
    ++trials;
    trial_ = u_ + alpha * change_;
    return alpha * (linear_ + 0.5 * alpha * quadratic_) + potential.value(trial_) - here;
  };
  double alpha = kArmijoLongest;
  double change = rise(alpha);
  while (trials < kArmijoTrials) {
    const double next = kArmijoShrink * alpha;
    const double next_change = rise(next);
    const bool enough = change < kArmijoDecrease * alpha * slope_;
    if (enough && next_change >= change) break;
    alpha = next;
    change = next_change;
  }
  return alpha;
}

}  // namespace tribo
