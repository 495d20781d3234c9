// Proximal ADMM for every set kind, both laws, rigid and compliant (Carpentier et al. 2024, Alg. 1).
//
// Splitting lambda = f = y: f carries the dynamics, y the sets, z the multiplier (at a solution z = w +
// Gamma(w)). In scaled impulses sqrt(w_i) lambda_i (w_i the contact's own scale; cones and Gamma do not
// notice) one penalty rho serves all contacts. With x = f - z / rho the whole state is one vector, and an
// iteration is
//
//   y = P(x)                          projection on the sets                                  (39)
//   z = rho (y - x)                   multiplier                                              (36c)
//   s = Gamma(z)                      De Saxce term of the last velocity (0: convex law)
//   f = -(W + R + (eta + rho) I)^-1 (q + s - eta f_old - rho y - z)                           (37)
//   x <- f - z / rho                  then safeguarded Anderson extrapolation of x
//
// `operator=strict` (default, exact law only) replaces P by Lee's nested projection (normal first, then the
// disk) and drops s: its fixed points satisfy the exact law without a lagging Gamma, and sliding stacks need
// a third fewer iterations. `operator=cone` is the paper's.
//
// The penalty follows a rule and, without headway, goes through a few fixed ones: admm_penalty.h.
//
// Cost per iteration: one solve with the dual kernel; a change of rho costs one factorisation. Use it for
// stacks, mass ratios and redundant contacts.
#include "tribo/solve/splitting/admm.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tribo/linalg/kernels/dual_kernel.h"
#include "tribo/math/anderson.h"
#include "tribo/math/spectrum.h"
#include "tribo/problem/constraints.h"
#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/driver/scoped_interrupt.h"
#include "tribo/solve/splitting/admm_penalty.h"

namespace tribo {
namespace {

// A row without bounds needs no projection, its penalty only regularises: smaller is faster.
constexpr double kFreePenalty = 1e-3;
// Impulses beyond this multiple of the natural scale do not come from a solvable problem.
constexpr double kDivergence = 1e12;
constexpr Index kStallIterations = 20000;  // without a better iterate
constexpr Index kLanczosSteps = 20;        // for the bounds of the spectrum, good to some percent

class Admm final : public Solver {
 public:
  explicit Admm(const AdmmOptions& options) : options_(options) {}
  std::string_view name() const override { return "admm"; }
  std::unique_ptr<Solver> clone() const override { return make_admm(options_); }
  std::vector<Option> options() override { return describe(options_); }
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  using Residuals = AdmmPenalty::Residuals;

  Status run(const ContactProblem& problem, Monitor& monitor, Law law);
  void prepare(const ContactProblem& problem);
  bool factorize(const ContactProblem& problem, Monitor& monitor);
  void split(const ContactProblem& problem, Law law);
  void solve_dynamics(const ContactProblem& problem);
  Residuals advance(const ContactProblem& problem, Law law);
  void resume(const ContactProblem& problem, const Vector& best, Law law);
  void restart(const ContactProblem& problem, const Vector& start, Law law);
  void estimate_spectrum(const ContactProblem& problem);
  bool must_check(Index iteration, const Residuals& residuals, const Monitor& monitor) const;
  DualKernel::Operator delassus(const ContactProblem& problem) const {
    return {problem.mass(), problem.mass_factor(), problem.jacobian(),
            problem.has_delassus() ? &problem.delassus() : nullptr};
  }

  bool is_strict(Law law) const {
    return law == Law::exact && options_.cone_operator == AdmmOptions::Operator::strict;
  }

  AdmmOptions options_;

  // Workspace; vectors [rows]. Scaled: x_, plain_, y_, z_, f_. Physical units: impulse_, rhs_, d_.
  DualKernel kernel_;
  AndersonAccelerator anderson_;
  SpectrumWorkspace spectrum_;
  Vector root_;            // sqrt(w_i) per row
  Vector penalty_weight_;  // 1, or kFreePenalty
  Vector x_, image_, plain_, y_, y_old_, z_, s_, s_old_, f_, f_physical_, rhs_, d_, impulse_, skew_, dofs_;
  AdmmPenalty penalty_;
  double rho_ = 1.0;                 // the present penalty
  double error_per_estimate_ = 0.0;  // learned: checked error / estimate
};

void Admm::prepare(const ContactProblem& problem) {
  const Index rows = problem.row_count();
  for (Vector* v : {&root_, &penalty_weight_, &x_, &image_, &plain_, &y_, &y_old_, &z_, &s_, &s_old_, &f_,
                    &f_physical_, &rhs_, &d_, &impulse_, &skew_}) {
    v->resize(rows);
  }
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    root_.segment(problem.row(i), problem.rows(i)).setConstant(std::sqrt(problem.scale(i)));
    penalty_weight_.segment(problem.row(i), problem.rows(i))
        .setConstant(problem.interval(i).is_free() ? kFreePenalty : 1.0);
  }
  kernel_.prepare(delassus(problem));
  penalty_.start(options_);
  rho_ = penalty_.value();
  error_per_estimate_ = 0.0;
  s_.setZero();
  s_old_.setZero();
  y_.setZero();
  if (options_.anderson > 0) anderson_.reset(rows, options_.anderson);
}

bool Admm::factorize(const ContactProblem& problem, Monitor& monitor) {
  d_ = problem.compliance().array() +
       (rho_ * penalty_weight_.array() + options_.proximal) * root_.array().square();
  if (!monitor.may_factorize(kernel_.factor_flops())) return false;
  monitor.count_factorization(kernel_.factor_flops());
  return kernel_.factorize(delassus(problem), d_);
}

// From x: y = P(x), z = rho (y - x), s = Gamma(z); everything scaled but s.
void Admm::split(const ContactProblem& problem, Law law) {
  std::swap(y_, y_old_);
  std::swap(s_, s_old_);
  const bool strict = is_strict(law);
  const bool lagged = law == Law::exact && !strict;
  for_each_constraint(
      problem,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const VecN<n> x = cone.get(x_);
        const VecN<n> y = project_law(x, cone.friction, strict ? Law::exact : Law::convex);
        const VecN<n> z = rho_ * (y - x);
        cone.rows(y_) = y;
        cone.rows(z_) = z;
        if (lagged) cone.normal(s_) = root_[cone.row] * cone.friction * z.template head<n - 1>().norm();
      },
      [&](IntervalConstraint row) {
        const Index r = row.row;
        y_[r] = project_box(x_[r], root_[r] * row.set.lower, root_[r] * row.set.upper);
        z_[r] = rho_ * penalty_weight_[r] * (y_[r] - x_[r]);
      });
}

// (37), then image = f - z / rho.
void Admm::solve_dynamics(const ContactProblem& problem) {
  rhs_ = root_.array() *
             (rho_ * penalty_weight_.array() * y_.array() + z_.array() + options_.proximal * f_.array()) -
         problem.free_velocity().array() - s_.array();
  // The kernel knows the symmetric part of W only; the skew part acts on the last f.
  if (!problem.is_symmetric()) rhs_ -= skew_;
  kernel_.solve(delassus(problem), rhs_, f_physical_);
  f_ = root_.cwiseProduct(f_physical_);
  image_ = f_.array() - z_.array() / (rho_ * penalty_weight_.array());
  if (!problem.is_symmetric()) {
    // (W_sym + D) f = rhs, so W_skew f = W f - W_sym f = W f - rhs + D f.
    problem.delassus().multiply(f_physical_, skew_);
    skew_ += d_.cwiseProduct(f_physical_) - rhs_;
  }
}

// x <- next x (accelerated or plain), then the split at it.
Admm::Residuals Admm::advance(const ContactProblem& problem, Law law) {
  const bool accelerate = options_.anderson > 0;
  if (accelerate && !anderson_.accept((image_ - x_).norm())) {
    x_ = plain_;
  } else if (accelerate) {
    plain_ = image_;
    anderson_.extrapolate(x_, image_, x_);
  } else {
    x_ = image_;
  }
  split(problem, law);
  Residuals r;
  double largest = 0.0;
  double worst = 0.0;
  double primal = 0.0, dual = 0.0, f_norm = 0.0, y_norm = 0.0, z_norm = 0.0, q_norm = 0.0;
  for (Index row = 0; row < problem.row_count(); ++row) {
    const double p = f_[row] - y_[row];
    const double dy = rho_ * penalty_weight_[row] * (y_[row] - y_old_[row]);
    const double inverse_root = 1.0 / root_[row];
    const double ds = (s_[row] - s_old_[row]) * inverse_root;
    worst = std::max(worst, std::max(std::abs(p), std::abs(dy) + std::abs(ds)) * inverse_root);
    largest = std::max(largest, std::abs(y_[row]) * inverse_root);
    const double q = problem.free_velocity()[row] * inverse_root;
    primal += p * p;
    dual += dy * dy;
    f_norm += f_[row] * f_[row];
    y_norm += y_[row] * y_[row];
    z_norm += z_[row] * z_[row];
    q_norm += q * q;
  }
  r.primal = std::sqrt(primal);
  r.dual = std::sqrt(dual);
  r.primal_scale = std::sqrt(std::max(f_norm, y_norm));
  r.dual_scale = std::sqrt(std::max(z_norm, q_norm));
  r.estimate = largest > 0.0 ? worst / largest : worst;
  return r;
}

// z = hat w at the best impulses, y = those: the state of an iteration that has arrived there.
void Admm::resume(const ContactProblem& problem, const Vector& best, Law law) {
  f_ = root_.cwiseProduct(best);
  problem.velocity_of(best, dofs_, rhs_);
  rhs_ += problem.compliance().cwiseProduct(best);
  if (law == Law::exact && !is_strict(law)) {
    for_each_cone(problem,
                  [&](auto cone) { cone.normal(rhs_) += cone.friction * cone.tangent(rhs_).norm(); });
  }
  x_ = f_.array() - rhs_.array() / (root_.array() * rho_ * penalty_weight_.array());
  skew_.setZero();
  split(problem, law);
  anderson_.clear();
}

void Admm::restart(const ContactProblem& problem, const Vector& start, Law law) {
  f_ = root_.cwiseProduct(start);
  x_ = f_;
  skew_.setZero();
  split(problem, law);
  anderson_.clear();
}

Status Admm::iterate(const ContactProblem& problem, Monitor& monitor) {
  const ScopedInterrupt limit(monitor, kernel_);
  return run(problem, monitor, monitor.settings().law);
}

Status Admm::run(const ContactProblem& problem, Monitor& monitor, Law law) {
  prepare(problem);
  if (options_.penalty == AdmmOptions::Penalty::spectral) estimate_spectrum(problem);
  if (!factorize(problem, monitor)) return monitor.give_up(0);
  restart(problem, monitor.start(), law);
  Index best_iteration = 0;
  double best = monitor.best_error();
  for (Index k = 1; k <= monitor.iterations_left(); ++k) {
    solve_dynamics(problem);
    const Residuals residuals = advance(problem, law);
    // Sums carry a NaN along, maxima do not.
    if (!std::isfinite(residuals.primal + residuals.dual)) return Status::no_solution_suspected;
    if (monitor.out_of_time(k)) return Status::time_limit;
    if (must_check(k, residuals, monitor) || k == monitor.iterations_left()) {
      impulse_ = y_.cwiseQuotient(root_);
      if (monitor.check(k, impulse_, rho_)) return Status::converged;
      error_per_estimate_ = residuals.estimate > 0.0 ? monitor.last_error() / residuals.estimate : 0.0;
      if (monitor.best_error() < 0.99 * best) {
        best = monitor.best_error();
        best_iteration = k;
        penalty_.remember();
      }
      if (k - best_iteration > kStallIterations) return Status::stalled;
      if (y_.lpNorm<Eigen::Infinity>() > kDivergence * problem.largest_demand())
        return Status::no_solution_suspected;
    }
    if (penalty_.next_stage(residuals)) {
      rho_ = penalty_.value();
      if (!factorize(problem, monitor)) return monitor.give_up(k);
      if (penalty_.resuming()) {
        resume(problem, monitor.best(), law);
      } else {
        restart(problem, monitor.start(), law);
      }
    } else if (penalty_.update(residuals)) {
      rho_ = penalty_.value();
      if (!factorize(problem, monitor)) return monitor.give_up(k);
      x_ = y_.array() - z_.array() / (rho_ * penalty_weight_.array());
      anderson_.clear();
    }
  }
  return Status::iteration_limit;
}

// The full error costs as much as an iteration: look when the estimate, corrected by what was learned, says
// so.
bool Admm::must_check(Index iteration, const Residuals& residuals, const Monitor& monitor) const {
  if (iteration == 5 || iteration % 20 == 0) return true;
  const bool learned = error_per_estimate_ > 0.0;
  if (!learned && monitor.settings().measure != Measure::scaled) return false;
  return residuals.estimate * (learned ? error_per_estimate_ : 1.0) <= 1.5 * monitor.tolerance();
}

// m and L of (45): extreme eigenvalues of the scaled W + R + eta I; the smallest is at least eta.
void Admm::estimate_spectrum(const ContactProblem& problem) {
  const auto apply = [&](const Eigen::Ref<const Vector>& in, Eigen::Ref<Vector> out) {
    rhs_ = in.cwiseQuotient(root_);
    if (problem.has_delassus()) {
      problem.delassus().multiply(rhs_, d_);
    } else {
      dofs_.setZero(problem.dof_count());
      problem.jacobian().add_transpose_product(rhs_, dofs_);
      problem.mass_factor().solve_in_place(dofs_);
      problem.jacobian().multiply(dofs_, d_);
    }
    d_ += problem.compliance().cwiseProduct(rhs_);
    out = d_.cwiseQuotient(root_) + options_.proximal * in;
  };
  const SpectrumBounds bounds = lanczos_bounds(apply, problem.row_count(), kLanczosSteps, spectrum_);
  const double largest = std::max(bounds.upper_bound, 1e-12);
  penalty_.set_spectrum(std::max({bounds.lambda_min, options_.proximal, 1e-12 * largest}), largest);
  rho_ = penalty_.value();
}

}  // namespace

std::vector<Option> describe(AdmmOptions& o) {
  return {
      choice_option("penalty", "rule that adapts the penalty rho", o.penalty,
                    {{0, "balance"}, {1, "linear"}, {2, "spectral"}}),
      real_option("rho", "initial penalty", "1", o.rho, 1e-6, 1e6),
      real_option("proximal", "proximal weight eta", "1", o.proximal, 0.0, 1.0),
      integer_option("anderson", "memory of the Anderson acceleration, 0 = off", o.anderson, 0, 30),
      choice_option("operator", "cone operator under the exact law", o.cone_operator,
                    {{0, "strict"}, {1, "cone"}}),
      integer_option("patience", "iterations without headway before starting again with another penalty",
                     o.patience, 10, 1000000),
      integer_option("interval", "iterations between penalty updates", o.interval, 1, 1000),
      real_option("linear_factor", "penalty=linear: factor of one update", "1", o.linear_factor, 1.01, 100.0),
      real_option("linear_ratio", "penalty=linear, spectral: residual ratio that triggers one", "1",
                  o.linear_ratio, 1.0, 1e3),
      real_option("balance_threshold", "penalty=balance: smallest change of rho worth a factorisation", "1",
                  o.balance_threshold, 1.0, 1e3),
      real_option("spectral_step", "penalty=spectral: change of the exponent p", "1", o.spectral_step, 1e-3,
                  1.0),
      real_option("spectral_exponent", "penalty=spectral: starting exponent p", "1", o.spectral_exponent,
                  -1.0, 1.0),
  };
}

std::unique_ptr<Solver> make_admm(const AdmmOptions& options) { return std::make_unique<Admm>(options); }

}  // namespace tribo
