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
#include "tribo/solve/newton/convex_newton.h"
#include "tribo/solve/newton/surrogate_newton.h"

namespace tribo {
namespace {

enum class Variant { standard, printed };

// Momentum residuals below this fraction of the free motion's are rounding.
constexpr double kRounding = 1e-15;
// The penalty goes up (option `growth`) after a surrogate that was solved in few Newton steps, or, without the strict
// form, while the proximal term limits; down after one whose strict form could not be solved, and farther after one that
// could not be solved at all.
constexpr Index kQuickSteps = 4;
constexpr double kDownFactor = 4.0, kHardFactor = 10.0;

class Canal final : public Solver {
 public:
  std::string_view name() const override { return "canal"; }
  std::vector<Option> options() override;

 protected:
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  struct Outcome {
    double proximal = 0.0;  // sqrt(sum p |lambda_{k+1} - lambda_k|^2), sqrt(J)
    double lag = 0.0;       // sqrt(sum |s_{k+1} - s_k|^2 / w), sqrt(J); the skew part included
    double slack = 0.0;     // |J v - z|, m/s
  };

  bool printed() const { return variant_ == Variant::printed; }
  bool corrects(const ContactProblem& problem, Law law) const {
    return use_corrector_ && !printed() && law == Law::exact && problem.has_friction();
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
  void lag_skew(const ContactProblem& problem);
  double natural_map(const ContactProblem& problem, Law law) const;
  void advance();
  void adapt(const ContactProblem& problem, Law law, const Outcome& outcome);

  // Options.
  Variant variant_ = Variant::standard;
  bool use_corrector_ = true, reuse_ = true;
  double beta_start_ = 100.0, beta_max_ = 1e7, beta_min_ = 1.0, growth_ = 10.0;
  Index newton_steps_ = 50, corrector_steps_ = 15;
  double inner_ = 0.1;
  Index memory_ = 10;
  Index stall_ = 300, newton_total_ = 1000000;
  double line_tolerance_ = 0.1;
  double printed_beta_ = 1e4, kappa_ = 10.0, printed_beta_max_ = 1e8, zeta_ = 0.25;
  double inner_tolerance_ = 1e-10;

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

std::vector<Option> Canal::options() {
  return {
      choice_option("variant", "the improved method, or Alg. 1 as printed", variant_,
                    {{0, "default"}, {1, "printed"}}),
      flag_option("corrector", "default: Newton with the strict operator after the cascade", use_corrector_),
      real_option("beta", "default: first penalty, dimensionless", beta_start_, 1e-6, 1e12),
      real_option("beta_max", "default: largest penalty", beta_max_, 1e-6, 1e12),
      real_option("beta_min", "default: smallest penalty", beta_min_, 1e-6, 1e12),
      real_option("growth", "default: growth of the penalty after an easy surrogate", growth_, 1.0, 1e6),
      real_option("inner", "default: surrogate residual wanted, relative to the natural map", inner_, 1e-6,
                  1.0),
      integer_option("newton", "Newton steps per outer step", newton_steps_, 1, 10000),
      integer_option("corrector_steps", "default: strict Newton steps per outer step", corrector_steps_, 1,
                     1000),
      flag_option("reuse", "default: strict Newton steps with the last factors where they serve", reuse_),
      integer_option("stall", "outer steps without headway before giving up", stall_, 1, 1000000),
      integer_option("newton_total", "Newton steps of all surrogates before giving up", newton_total_, 1,
                     1000000),
      integer_option("anderson", "default: memory of the Anderson acceleration, 0 = off", memory_, 0, 30),
      real_option("line_tolerance", "exact line search: slope left, relative", line_tolerance_, 1e-15, 0.9),
      real_option("printed_beta", "printed: first penalty, N s per m/s", printed_beta_, 1e-6, 1e12),
      real_option("kappa", "printed: growth of the penalty", kappa_, 1.0, 1e6),
      real_option("printed_beta_max", "printed: largest penalty", printed_beta_max_, 1e-6, 1e16),
      real_option("zeta", "printed: reduction of |J v - z| that keeps the penalty", zeta_, 0.0, 1.0),
      real_option("inner_tolerance", "printed: surrogate residual, N s", inner_tolerance_, 1e-16, 1.0),
  };
}

void Canal::prepare(const ContactProblem& problem, Monitor& monitor) {
  const Index rows = problem.row_count();
  for (Vector* x : {&next_, &velocity_, &slack_, &root_, &next_skew_, &state_, &image_, &plain_}) {
    x->resize(rows);
  }
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    root_.segment(problem.row(i), problem.rows(i)).setConstant(std::sqrt(problem.scale(i)));
  }
  newton_.set_line_search(LineSearch::exact, printed() ? 1e-8 : line_tolerance_);
  newton_.prepare(problem);
  corrector_.set_reuse(reuse_);
  corrector_.prepare(problem);
  set_penalty(problem, printed() ? printed_beta_ : beta_start_);
  if (memory_ > 0) anderson_.reset(rows, memory_);
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
    lag_skew(problem);
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
  const double floor = kRounding * std::sqrt(problem.free_energy());
  const double wanted = printed() ? inner_tolerance_ : std::max(inner_ * natural_, floor);
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
    if (minimised_ || k == newton_steps_) return true;
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
                       Globalisation::damped, wanted, corrector_steps_);
  for (Index k = 0; k < result.factorizations; ++k) monitor.count_factorization();
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
  if (!problem.is_symmetric()) lag_skew(problem);
  // Contacts feel the skew part in w as well.
  if (!problem.is_symmetric()) slack_ += skew_;
  next_shift_ = next_skew_;
  add_shifts(problem, law, slack_, next_shift_);
  out.slack = std::sqrt(out.slack);
  out.proximal = std::sqrt(out.proximal);
  out.lag = (next_shift_ - shift_).cwiseQuotient(root_).norm();
  return out;
}

// W_skew lambda = W lambda - J A^-1 J^T lambda.
void Canal::lag_skew(const ContactProblem& problem) {
  dofs_ = problem.momentum();
  problem.jacobian().add_transpose_product(next_, dofs_);
  problem.mass_factor().solve_in_place(dofs_);
  problem.jacobian().multiply(dofs_, next_skew_);
  next_skew_ = velocity_ - next_skew_ - problem.bias();
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
  if (memory_ == 0 || printed() || strict_) {
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
    if (now.slack > zeta_ * last_.slack) beta = std::min(kappa_ * beta_, printed_beta_max_);
  } else if (!minimised_) {
    beta = std::max(beta_ / kHardFactor, beta_min_);
  } else if (strict_) {
    if (steps_ <= kQuickSteps) beta = std::min(beta_ * growth_, beta_max_);
  } else if (corrects(problem, law)) {
    beta = std::max(beta_ / kDownFactor, beta_min_);
  } else if (now.proximal > 0.1 * last_.proximal && now.proximal > now.lag) {
    beta = std::min(beta_ * growth_, beta_max_);
  }
  if (beta != beta_) set_penalty(problem, beta);
}

Status Canal::iterate(const ContactProblem& problem, Monitor& monitor) {
  const std::function<bool()> interrupt = [&monitor] { return monitor.out_of_time(0); };
  if (std::isfinite(monitor.settings().time_limit)) {
    newton_.set_interrupt(&interrupt);
    corrector_.set_interrupt(&interrupt);
  }
  const Status status = run(problem, monitor);
  monitor.note_count("inner failures", failures_);
  newton_.set_interrupt(nullptr);
  corrector_.set_interrupt(nullptr);
  return status;
}

Status Canal::run(const ContactProblem& problem, Monitor& monitor) {
  const Law law = monitor.settings().law;
  prepare(problem, monitor);
  natural_ = natural_map(problem, law);
  Index best_step = 0, taken = 0;
  double best = std::numeric_limits<double>::infinity();
  for (Index k = 1; k <= monitor.settings().max_iterations; ++k) {
    if (!solve_surrogate(problem, law, monitor)) {
      return monitor.out_of_time(k) ? Status::time_limit : Status::stalled;
    }
    failures_ += minimised_ ? 0 : 1;
    const Outcome outcome = update(problem, law);
    if (!std::isfinite(outcome.slack + outcome.lag)) return Status::stalled;
    if (monitor.check(k, next_, velocity_, beta_)) return Status::converged;
    if (monitor.best_error() < 0.99 * best) {
      best = monitor.best_error();
      best_step = k;
    }
    if (k - best_step > stall_) return Status::stalled;
    taken += steps_;
    if (taken >= newton_total_) return Status::iteration_limit;
    natural_ = natural_map(problem, law);
    advance();
    adapt(problem, law, outcome);
    last_ = outcome;
  }
  return Status::iteration_limit;
}

}  // namespace

std::unique_ptr<Solver> make_canal() { return std::make_unique<Canal>(); }

}  // namespace tribo
