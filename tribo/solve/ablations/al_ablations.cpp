// The outer loop of Lee et al. Alg. 1 around a direct solution of the surrogate problem (19):
//   solve r(v) = A v - b - J^T T(J v + e) = 0     (solve/newton/surrogate_newton.h), at most `newton` steps
//   lambda_{k+1} = T, then beta <- min(kappa beta, beta_max) when |J v - z| fell by less than zeta
// A surrogate that is not solved to `inner_tolerance` counts as an inner failure (Settings::explain: the stage
// "inner failures"); the loop goes on from where Newton stopped. The skew part of an unsymmetric W is lagged.
//
// These are ablations: without CANAL's convex cascade the inner loop may get stuck, and beta only grows. For
// the same surrogate with beta as globalisation use alnewton. Report::iterations counts outer steps,
// Report::factorizations Newton steps.
#include "tribo/solve/ablations/al_ablations.h"

#include <algorithm>
#include <cmath>

#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/newton/surrogate_newton.h"

namespace tribo {
namespace {

// The usual constants of a backtracking line search.
constexpr double kArmijo = 1e-4;
constexpr int kHalvings = 40;

class AlAblation final : public Solver {
 public:
  AlAblation(std::string_view name, Globalisation method) : name_(name), method_(method) {}
  std::string_view name() const override { return name_; }
  std::vector<Option> options() override;

 protected:
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  void prepare(const ContactProblem& problem, Monitor& monitor);
  Status run(const ContactProblem& problem, Monitor& monitor);
  double slack() const;
  void lag_skew(const ContactProblem& problem);

  std::string_view name_;
  Globalisation method_;
  // Options.
  double beta_start_ = 1e4, kappa_ = 10.0, beta_max_ = 1e8, zeta_ = 0.25;
  double inner_tolerance_ = 1e-10;
  Index newton_steps_ = 50;

  SurrogateNewton newton_;
  ProximalLaw law_;
  Vector multiplier_, skew_, velocity_;  // [rows]
  Vector v_, dofs_;                      // [dofs]
  Index failures_ = 0;
};

std::vector<Option> AlAblation::options() {
  return {
      real_option("beta", "first penalty, N s per m/s", beta_start_, 1e-6, 1e12),
      real_option("kappa", "growth of the penalty", kappa_, 1.0, 1e6),
      real_option("beta_max", "largest penalty", beta_max_, 1e-6, 1e16),
      real_option("zeta", "reduction of |J v - z| that keeps the penalty", zeta_, 0.0, 1.0),
      real_option("inner_tolerance", "surrogate residual in the A^-1 norm, sqrt(J)", inner_tolerance_, 1e-16,
                  1.0),
      integer_option("newton", "Newton steps per outer step", newton_steps_, 1, 10000),
  };
}

void AlAblation::prepare(const ContactProblem& problem, Monitor& monitor) {
  newton_.set_backtracking(kArmijo, kHalvings);
  newton_.prepare(problem);
  multiplier_ = monitor.start();
  skew_.setZero(problem.row_count());
  velocity_.resize(problem.row_count());
  v_.resize(problem.dof_count());
  dofs_.resize(problem.dof_count());
  problem.generalized_velocity_of(multiplier_, v_);
  failures_ = 0;
}

// |J v - z|, z = J v + p (lambda - lambda_k).
double AlAblation::slack() const {
  double sum = 0.0;
  for (Index row = 0; row < multiplier_.size(); ++row) {
    const double step = law_.proximal(row) * (newton_.impulse()[row] - multiplier_[row]);
    sum += step * step;
  }
  return std::sqrt(sum);
}

// W_skew lambda = W lambda - J A^-1 J^T lambda; velocity_ holds W lambda + q.
void AlAblation::lag_skew(const ContactProblem& problem) {
  dofs_ = problem.momentum();
  problem.jacobian().add_transpose_product(multiplier_, dofs_);
  problem.mass_factor().solve_in_place(dofs_);
  problem.jacobian().multiply(dofs_, skew_);
  skew_ = velocity_ - skew_ - problem.bias();
}

Status AlAblation::iterate(const ContactProblem& problem, Monitor& monitor) {
  const std::function<bool()> interrupt = [&monitor] { return monitor.out_of_time(0); };
  if (std::isfinite(monitor.settings().time_limit)) newton_.set_interrupt(&interrupt);
  const Status status = run(problem, monitor);
  newton_.set_interrupt(nullptr);
  monitor.note_count("inner failures", failures_);
  return status;
}

Status AlAblation::run(const ContactProblem& problem, Monitor& monitor) {
  prepare(problem, monitor);
  double beta = beta_start_, last_slack = 0.0;
  law_.prepare_uniform(problem, beta);
  for (Index k = 1; k <= monitor.settings().max_iterations; ++k) {
    const SurrogateNewton::Result inner = newton_.solve(problem, monitor.settings().law, law_, multiplier_,
                                                        skew_, v_, method_, inner_tolerance_, newton_steps_);
    for (Index step = 0; step < inner.steps; ++step) monitor.count_factorization();
    failures_ += inner.solved ? 0 : 1;
    if (monitor.out_of_time(k)) return Status::time_limit;
    const double now = slack();
    if (!std::isfinite(now + inner.residual)) return Status::stalled;
    v_ = newton_.velocity();
    multiplier_ = newton_.impulse();
    problem.velocity_of(multiplier_, dofs_, velocity_);
    if (monitor.check(k, multiplier_, velocity_, beta)) return Status::converged;
    if (!problem.is_symmetric()) lag_skew(problem);
    if (now > zeta_ * last_slack && beta < beta_max_) {
      beta = std::min(kappa_ * beta, beta_max_);
      law_.prepare_uniform(problem, beta);
    }
    last_slack = now;
  }
  return Status::iteration_limit;
}

}  // namespace

std::unique_ptr<Solver> make_al_dogleg() {
  return std::make_unique<AlAblation>("al-dogleg", Globalisation::dogleg);
}

std::unique_ptr<Solver> make_al_damped() {
  return std::make_unique<AlAblation>("al-damped", Globalisation::damped);
}

}  // namespace tribo
