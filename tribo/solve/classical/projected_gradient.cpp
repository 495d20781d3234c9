#include "tribo/solve/classical/projected_gradient.h"

#include <algorithm>
#include <cmath>

namespace tribo {
Status ProjectedGradient::run(Subproblem& problem, Vector& impulse, Judge& judge) {
  problem.velocity(impulse, velocity_);
  problem.find_field(impulse, velocity_, gradient_);
  SweepWatch watch(problem.problem(), judge.tolerance());
  const Index limit = judge.limit();
  for (Index k = 1; k <= limit; ++k) {
    bool grows = true;
    for (Index trial = 0;; ++trial, grows = false) {
      problem.project_step(impulse, rho_, gradient_, next_);
      problem.velocity(next_, next_velocity_);
      problem.find_field(next_, next_velocity_, next_gradient_);
      // q(next) - q = (grad q(next) + grad q) . step / 2 = slope + curvature. A projection has -slope >= |step|^2 / rho,
      // so that the second test implies the first, and does not suffer from rounding of large gradients.
      step_ = next_ - impulse;
      const double slope = gradient_.dot(step_);
      const double curvature = 0.5 * step_.dot(next_gradient_ - gradient_);
      const double room = (1.0 - options_.sigma) * problem.length2(step_) / rho_;
      if (slope + curvature <= options_.sigma * slope || curvature <= room) break;
      if (trial + 1 >= options_.trials || rho_ <= options_.least_rho) break;
      rho_ = std::max(options_.least_rho, options_.shrink * rho_);
    }
    const SweepChange change{(next_ - impulse).squaredNorm(), next_.squaredNorm()};
    if (!std::isfinite(change.step) || !std::isfinite(change.impulse)) return Status::stalled;
    impulse.swap(next_);
    velocity_.swap(next_velocity_);
    gradient_.swap(next_gradient_);
    if (grows) rho_ /= options_.shrink;
    if (watch.due(k, change) || k == limit) {
      if (judge.judge(k, impulse, velocity_)) return Status::converged;
      watch.learn(k, judge.error());
    } else if (judge.out_of_time(k)) {
      return Status::time_limit;
    }
    if (watch.stuck() || watch.cycling(k, change, impulse, circle_)) return Status::stalled;
  }
  return Status::iteration_limit;
}

std::vector<Option> describe(ProjectedGradientOptions& o) {
  return {
      real_option("rho", "first step of the projected gradients", "1", o.rho, 1e-12, 1e12),
      real_option("sigma", "least decrease, relative to the slope", "1", o.sigma, 1e-6, 0.999),
      real_option("shrink", "l, the factor of rho", "1", o.shrink, 0.01, 0.99),
      integer_option("trials", "most of them in an iteration", o.trials, 1, 1000),
  };
}

}  // namespace tribo
