// CANAL: an augmented Lagrangian whose surrogate problems are first made convex.
//
// Outer state: multipliers lambda_k and the lagged De Saxce shift s_k = mu |w_t| of every contact. One outer
// step minimises, by Newton with exact line search (solve/newton/convex_newton.h),
//   1/2 v.A v - b.v + phi(J v + e),  phi with p = 1 / beta_i, multipliers lambda_k, shift Gamma_k     (21)-(26)
// then takes lambda_{k+1} = lambda(v), w = J v + e + p (lambda_{k+1} - lambda_k) + R lambda_{k+1} (the slack z)
// and s_{k+1} = mu |w_t|. Fixed points satisfy the exact law. The skew part of an unsymmetric W is lagged in
// the same way, and under the convex law there is no shift.
//
// `variant=printed` is Alg. 1: one beta (N s per m/s), raised by kappa when |J v - z| falls by less than zeta,
// the surrogate solved to an absolute tolerance. The default cures what limits that method:
//   - beta_i = beta / w_i, dimensionless, and adapted: up while the proximal term limits, down when the
//     surrogate was too hard;
//   - the surrogate is solved only as well as the last iterate deserves (a tenth of its natural map);
//   - the lag is a slow linear fixed point. `corrector`: from the convex minimiser, or from a start that is
//     known, a few damped Newton steps
//     on the surrogate with the strict operator (solve/newton/surrogate_newton.h) remove it altogether; the cascade
//     is what brings them into their domain, and what remains when they fail;
//   - there, Anderson extrapolation of the shifts.
//
// Cost of a Newton step: one assembly and factorisation (Cholesky; LU in the corrector) of A + J^T D J, or in the
// corrector a few solutions with the factors of an earlier step (`reuse`).
// Report::iterations counts outer steps, Report::factorizations factorisations.
#include "tribo/solve/newton/canal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/math/anderson.h"
#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/driver/scoped_interrupt.h"
#include "tribo/solve/newton/convex_newton.h"
#include "tribo/solve/newton/surrogate_newton.h"

namespace tribo {
namespace {

// Momentum residuals below this fraction of the free motion's are rounding.
constexpr double kStateRounding = 1e-15;
// The penalty goes up (option `growth`) after a surrogate that was solved in few Newton steps, or, without the strict
// form, while the proximal term limits; down after one whose strict form could not be solved, and farther after one that
// could not be solved at all.
constexpr Index kQuickSteps = 4;
constexpr double kDownFactor = 4.0, kHardFactor = 10.0;

class Canal final : public Solver {
 public:
  explicit Canal(const CanalOptions& options) : options_(options) {}
  std::string_view name() const override { return "canal"; }
  std::unique_ptr<Solver> clone() const override { return make_canal(options_); }
  std::vector<Option> options() override { return describe(options_); }
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  struct Outcome {
    double proximal = 0.0;  // sqrt(sum p |lambda_{k+1} - lambda_k|^2), sqrt(J)
    double lag = 0.0;       // sqrt(sum |s_{k+1} - s_k|^2 / w), sqrt(J); the skew part included
    double slack = 0.0;     // |J v - z|, m/s
  };

  bool printed() const { return options_.variant == CanalOptions::Variant::printed; }
  bool corrects(const ContactProblem& problem, Law law) const {
    return options_.corrector && !printed() && law == Law::exact && problem.has_friction();
  }
  Status run(const ContactProblem& problem, Monitor& monitor);
  void prepare(const ContactProblem& problem, Monitor& monitor);
  void trust_start(const ContactProblem& problem, Law law);
  static void add_shifts(const ContactProblem& problem, Law law, const Vector& w, Vector& shift);
  void set_penalty(const ContactProblem& problem, double beta);
  bool solve_surrogate(const ContactProblem& problem, Law law, Monitor& monitor);
  bool minimise(const ContactProblem& problem, double wanted, Monitor& monitor);
  bool correct(const ContactProblem& problem, double wanted, Monitor& monitor);
  Outcome update(const ContactProblem& problem, Law law);
  double natural_map(const ContactProblem& problem, Law law) const;
  void advance();
  void adapt(const ContactProblem& problem, Law law, const Outcome& outcome);

  CanalOptions options_;

  // Workspace; [rows] unless said otherwise.
  ConvexNewton newton_;
  SurrogateNewton corrector_;
  ConvexPotential potential_;
  ProximalLaw law_;
  AndersonAccelerator anderson_;
  Vector multiplier_, next_;        // lambda_k, lambda_{k+1}
  Vector shift_, next_shift_;       // De Saxce and skew together
  Vector skew_, next_skew_;         // the skew part alone
  Vector velocity_, slack_, root_;  // u of next_, w, sqrt(w_i)
  Vector state_, image_, plain_;    // scaled shifts, for Anderson
  Vector dofs_;                     // [dofs]
  double beta_ = 1.0;
  double natural_ = 0.0;    // natural map of the last offered iterate, sqrt(J)
  bool strict_ = false;     // the last surrogate was solved with the strict operator
  bool minimised_ = false;  // the last surrogate was solved at all
  Index steps_ = 0;         // Newton steps it took
  Index failures_ = 0;      // surrogates not solved as wanted
  Outcome last_;
};

void Canal::prepare(const ContactProblem& problem, Monitor& monitor) {
  const Index rows = problem.row_count();
  for (Vector* x : {&next_, &velocity_, &slack_, &root_, &next_skew_, &state_, &image_, &plain_}) {
    x->resize(rows);
  }
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    root_.segment(problem.row(i), problem.rows(i)).setConstant(std::sqrt(problem.scale(i)));
  }
  newton_.set_line_search(LineSearch::exact, printed() ? 1e-8 : options_.line_tolerance);
  newton_.prepare(problem);
  corrector_.set_reuse(options_.reuse);
  corrector_.prepare(problem);
  set_penalty(problem, printed() ? options_.printed_beta : options_.beta);
  if (options_.anderson > 0) anderson_.reset(rows, options_.anderson);
  last_ = {};
  strict_ = false;
  failures_ = 0;

  multiplier_ = monitor.start();
  dofs_.resize(problem.dof_count());
  problem.generalized_velocity_of(multiplier_, dofs_);
  newton_.start(problem, dofs_);
  next_ = multiplier_;
  shift_.setZero(rows);
  skew_.setZero(rows);
  next_shift_.setZero(rows);
  problem.velocity_of(multiplier_, dofs_, velocity_);
  if (!printed() && !multiplier_.isZero(0.0)) trust_start(problem, monitor.settings().law);
}

// The shifts of a start that is known, and Newton with the strict operator at once: the convex minimiser without
// shifts is far from it.
void Canal::trust_start(const ContactProblem& problem, Law law) {
  strict_ = corrects(problem, law);
  if (!problem.is_symmetric()) {
    problem.skew_velocity_of(next_, velocity_, dofs_, next_skew_);
    skew_ = shift_ = next_skew_;
  }
  slack_ = velocity_ + problem.compliance().cwiseProduct(multiplier_);
  add_shifts(problem, law, slack_, shift_);
}

// += mu |w_t| for the normals.
void Canal::add_shifts(const ContactProblem& problem, Law law, const Vector& w, Vector& shift) {
  if (law != Law::exact) return;
  for_each_cone(problem,
                [&](auto cone) { cone.normal(shift) += cone.friction * detail::tangent_norm(cone.get(w)); });
}

void Canal::set_penalty(const ContactProblem& problem, double beta) {
  beta_ = beta;
  if (printed()) {
    law_.prepare_uniform(problem, beta);
  } else {
    law_.prepare(problem, beta);
  }
  potential_.prepare(problem, law_);
}

// Fills next_ and the iterate of newton_; false when no factorisation can be had.
bool Canal::solve_surrogate(const ContactProblem& problem, Law law, Monitor& monitor) {
  steps_ = 0;
  const double floor = kStateRounding * std::sqrt(problem.free_energy());
  const double wanted = printed() ? options_.inner_tolerance : std::max(options_.inner * natural_, floor);
  const bool strict = corrects(problem, law);
  // Where the strict Newton has worked it starts from its own iterate; else from the convex minimiser.
  const bool was_strict = strict_;
  strict_ = strict && was_strict && correct(problem, wanted, monitor);
  if (strict_) return true;
  if (!minimise(problem, wanted, monitor)) return false;
  next_ = newton_.impulse();
  if (strict) strict_ = correct(problem, wanted, monitor);
  return true;
}

// The Newton loop on the convex surrogate.
bool Canal::minimise(const ContactProblem& problem, double wanted, Monitor& monitor) {
  potential_.set_offset(law_, multiplier_, shift_);
  newton_.linearize(problem, potential_);
  for (Index k = 0;; ++k) {
    const double residual = printed() ? newton_.gradient().norm() : newton_.gradient_norm(problem);
    minimised_ = residual <= wanted;
    if (minimised_ || k == options_.newton || !monitor.may_factorize()) return true;
    const ConvexNewton::Step step = newton_.step(problem, potential_);
    if (!step.factorized) return false;
    ++steps_;
    monitor.count_factorization();
    newton_.linearize(problem, potential_);
    minimised_ = !step.progress;  // as low as rounding lets it be
    if (minimised_) return true;
  }
}

// Strict Newton from the iterate of newton_; takes it over when it solves the surrogate.
bool Canal::correct(const ContactProblem& problem, double wanted, Monitor& monitor) {
  const SurrogateNewton::Result result =
      corrector_.solve(problem, Law::exact, law_, multiplier_, skew_, newton_.velocity(),
                       Globalisation::damped, wanted, options_.corrector_steps);
  monitor.count_factorizations(result.factorizations);
  steps_ += result.steps;
  if (!result.solved) return false;
  minimised_ = true;
  next_ = corrector_.impulse();
  newton_.start(problem, corrector_.velocity());
  return true;
}

// w, the next shifts and how far the outer step went.
Canal::Outcome Canal::update(const ContactProblem& problem, Law law) {
  Outcome out;
  const Vector& u = newton_.constraint_velocity();
  for (Index row = 0; row < next_.size(); ++row) {
    const double change = next_[row] - multiplier_[row];
    const double step = law_.proximal(row) * change;
    out.slack += step * step;
    out.proximal += step * change;
    slack_[row] = u[row] + step + problem.compliance()[row] * next_[row];
  }
  next_skew_.setZero();
  problem.velocity_of(next_, dofs_, velocity_);
  if (!problem.is_symmetric()) problem.skew_velocity_of(next_, velocity_, dofs_, next_skew_);
  // Contacts feel the skew part in w as well.
  if (!problem.is_symmetric()) slack_ += skew_;
  next_shift_ = next_skew_;
  add_shifts(problem, law, slack_, next_shift_);
  out.slack = std::sqrt(out.slack);
  out.proximal = std::sqrt(out.proximal);
  out.lag = (next_shift_ - shift_).cwiseQuotient(root_).norm();
  return out;
}

// sqrt(sum w |lambda - P(lambda - hat w / w)|^2) of next_: what the next surrogate is solved to.
double Canal::natural_map(const ContactProblem& problem, Law law) const {
  double sum = 0.0;
  for_each_constraint(
      problem,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const double w = problem.scale(cone.index);
        const VecN<n> lambda = cone.get(next_);
        VecN<n> hat =
            velocity_.segment<n>(cone.row) + problem.compliance().segment<n>(cone.row).cwiseProduct(lambda);
        hat = corrected(hat, cone.friction, law);
        sum += w * (lambda - project_cone(VecN<n>(lambda - hat / w), cone.friction)).squaredNorm();
      },
      [&](IntervalConstraint row) {
        const double w = problem.scale(row.index), lambda = next_[row.row];
        const double image =
            row.set.project(lambda - (velocity_[row.row] + problem.compliance()[row.row] * lambda) / w);
        sum += w * (lambda - image) * (lambda - image);
      });
  return std::sqrt(sum);
}

// (multiplier_, shift_) <- the next outer state; lagged shifts are extrapolated.
void Canal::advance() {
  multiplier_ = next_;
  skew_ = next_skew_;
  if (options_.anderson == 0 || printed() || strict_) {
    shift_ = next_shift_;
    anderson_.clear();
    return;
  }
  state_ = shift_.cwiseQuotient(root_);
  image_ = next_shift_.cwiseQuotient(root_);
  if (!anderson_.accept((image_ - state_).norm())) {
    state_ = plain_;
  } else {
    plain_ = image_;
    anderson_.extrapolate(state_, image_, state_);
  }
  shift_ = state_.cwiseProduct(root_);
}

void Canal::adapt(const ContactProblem& problem, Law law, const Outcome& now) {
  double beta = beta_;
  if (printed()) {
    if (now.slack > options_.zeta * last_.slack)
      beta = std::min(options_.kappa * beta_, options_.printed_beta_max);
  } else if (!minimised_) {
    beta = std::max(beta_ / kHardFactor, options_.beta_min);
  } else if (strict_) {
    if (steps_ <= kQuickSteps) beta = std::min(beta_ * options_.growth, options_.beta_max);
  } else if (corrects(problem, law)) {
    beta = std::max(beta_ / kDownFactor, options_.beta_min);
  } else if (now.proximal > 0.1 * last_.proximal && now.proximal > now.lag) {
    beta = std::min(beta_ * options_.growth, options_.beta_max);
  }
  if (beta != beta_) set_penalty(problem, beta);
}

Status Canal::iterate(const ContactProblem& problem, Monitor& monitor) {
  const ScopedInterrupt limit(monitor, newton_, corrector_);
  const Status status = run(problem, monitor);
  monitor.note_count("inner failures", failures_);
  return status;
}

Status Canal::run(const ContactProblem& problem, Monitor& monitor) {
  const Law law = monitor.settings().law;
  prepare(problem, monitor);
  natural_ = natural_map(problem, law);
  Index best_step = 0;
  double best = std::numeric_limits<double>::infinity();
  for (Index k = 1; k <= monitor.iterations_left() && monitor.may_factorize(); ++k) {
    if (!solve_surrogate(problem, law, monitor)) return monitor.give_up(k);
    failures_ += minimised_ ? 0 : 1;
    const Outcome outcome = update(problem, law);
    if (!std::isfinite(outcome.slack + outcome.lag)) return Status::stalled;
    if (monitor.check(k, next_, velocity_, beta_)) return Status::converged;
    if (monitor.best_error() < 0.99 * best) {
      best = monitor.best_error();
      best_step = k;
    }
    if (k - best_step > options_.stall) return Status::stalled;
    natural_ = natural_map(problem, law);
    advance();
    adapt(problem, law, outcome);
    last_ = outcome;
  }
  return Status::iteration_limit;
}

}  // namespace

std::vector<Option> describe(CanalOptions& o) {
  return {
      choice_option("variant", "the improved method, or Alg. 1 as printed", o.variant,
                    {{0, "default"}, {1, "printed"}}),
      flag_option("corrector", "default: Newton with the strict operator after the cascade", o.corrector),
      real_option("beta", "default: first penalty", "1", o.beta, 1e-6, 1e12),
      real_option("beta_max", "default: largest penalty", "1", o.beta_max, 1e-6, 1e12),
      real_option("beta_min", "default: smallest penalty", "1", o.beta_min, 1e-6, 1e12),
      real_option("growth", "default: growth of the penalty after an easy surrogate", "1", o.growth, 1.0,
                  1e6),
      real_option("inner", "default: surrogate residual wanted, relative to the natural map", "1", o.inner,
                  1e-6, 1.0),
      integer_option("newton", "Newton steps per outer step", o.newton, 1, 10000),
      integer_option("corrector_steps", "default: strict Newton steps per outer step", o.corrector_steps, 1,
                     1000),
      flag_option("reuse", "default: strict Newton steps with the last factors where they serve", o.reuse),
      integer_option("stall", "outer steps without headway before giving up", o.stall, 1, 1000000),
      integer_option("anderson", "default: memory of the Anderson acceleration, 0 = off", o.anderson, 0, 30),
      real_option("line_tolerance", "exact line search: slope left, relative", "1", o.line_tolerance, 1e-15,
                  0.9),
      real_option("printed_beta", "printed: first penalty", "N s per m/s", o.printed_beta, 1e-6, 1e12),
      real_option("kappa", "printed: growth of the penalty", "1", o.kappa, 1.0, 1e6),
      real_option("printed_beta_max", "printed: largest penalty", "N s per m/s", o.printed_beta_max, 1e-6,
                  1e16),
      real_option("zeta", "printed: reduction of |J v - z| that keeps the penalty", "1", o.zeta, 0.0, 1.0),
      real_option("inner_tolerance", "printed: surrogate residual", "N s", o.inner_tolerance, 1e-16, 1.0),
  };
}

std::unique_ptr<Solver> make_canal(const CanalOptions& options) { return std::make_unique<Canal>(options); }

}  // namespace tribo
