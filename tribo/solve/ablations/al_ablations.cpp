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
#include "tribo/solve/driver/scoped_interrupt.h"
#include "tribo/solve/newton/surrogate_newton.h"

namespace tribo {
namespace {

// The usual constants of a backtracking line search.
constexpr double kArmijo = 1e-4;
constexpr int kHalvings = 40;

class AlAblation final : public Solver {
 public:
  AlAblation(std::string_view name, Globalisation method, const AlAblationOptions& options)
      : name_(name), method_(method), options_(options) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Solver> clone() const override {
    return std::make_unique<AlAblation>(name_, method_, options_);
  }
  std::vector<Option> options() override { return describe(options_); }
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  void prepare(const ContactProblem& problem, Monitor& monitor);
  Status run(const ContactProblem& problem, Monitor& monitor);
  double slack() const;

  std::string_view name_;
  Globalisation method_;
  AlAblationOptions options_;

  SurrogateNewton newton_;
  ProximalLaw law_;
  Vector multiplier_, skew_, velocity_;  // [rows]
  Vector v_, dofs_;                      // [dofs]
  Index failures_ = 0;
};

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

Status AlAblation::iterate(const ContactProblem& problem, Monitor& monitor) {
  const ScopedInterrupt limit(monitor, newton_);
  const Status status = run(problem, monitor);
  monitor.note_count("inner failures", failures_);
  return status;
}

Status AlAblation::run(const ContactProblem& problem, Monitor& monitor) {
  prepare(problem, monitor);
  double beta = options_.beta, last_slack = 0.0;
  law_.prepare_uniform(problem, beta);
  for (Index k = 1; k <= monitor.iterations_left() && monitor.may_factorize(); ++k) {
    const SurrogateNewton::Result inner =
        newton_.solve(problem, monitor.settings().law, law_, multiplier_, skew_, v_, method_,
                      options_.inner_tolerance, std::min(options_.newton, monitor.factorizations_left()));
    monitor.count_factorizations(inner.steps);
    failures_ += inner.solved ? 0 : 1;
    if (monitor.out_of_time(k)) return Status::time_limit;
    const double now = slack();
    if (!std::isfinite(now + inner.residual)) return Status::stalled;
    v_ = newton_.velocity();
    multiplier_ = newton_.impulse();
    problem.velocity_of(multiplier_, dofs_, velocity_);
    if (monitor.check(k, multiplier_, velocity_, beta)) return Status::converged;
    if (!problem.is_symmetric()) problem.skew_velocity_of(multiplier_, velocity_, dofs_, skew_);
    if (now > options_.zeta * last_slack && beta < options_.beta_max) {
      beta = std::min(options_.kappa * beta, options_.beta_max);
      law_.prepare_uniform(problem, beta);
    }
    last_slack = now;
  }
  return Status::iteration_limit;
}

}  // namespace

std::vector<Option> describe(AlAblationOptions& o) {
  return {
      real_option("beta", "first penalty", "N s per m/s", o.beta, 1e-6, 1e12),
      real_option("kappa", "growth of the penalty", "1", o.kappa, 1.0, 1e6),
      real_option("beta_max", "largest penalty", "N s per m/s", o.beta_max, 1e-6, 1e16),
      real_option("zeta", "reduction of |J v - z| that keeps the penalty", "1", o.zeta, 0.0, 1.0),
      real_option("inner_tolerance", "surrogate residual in the A^-1 norm", "sqrt(J)", o.inner_tolerance,
                  1e-16, 1.0),
      integer_option("newton", "Newton steps per outer step", o.newton, 1, 10000),
  };
}

std::unique_ptr<Solver> make_al_dogleg(const AlAblationOptions& options) {
  return std::make_unique<AlAblation>("al-dogleg", Globalisation::dogleg, options);
}

std::unique_ptr<Solver> make_al_damped(const AlAblationOptions& options) {
  return std::make_unique<AlAblation>("al-damped", Globalisation::damped, options);
}

}  // namespace tribo
