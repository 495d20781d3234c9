// SAP, Castro et al. Alg. 2: Newton with exact line search on the primal cost
//   l(v) = 1/2 |v - v*|_A^2 + 1/2 |lambda(v)|_R^2,       lambda(v) = P_K(-R^-1 (J v + e))      (24), (27)
// monotone from the start, quadratically convergent at the end. Convex law only.
//
// Where the problem is rigid (R = 0) the near-rigid rule supplies compliance; the result then solves another
// problem and says so: Status::regularized, Report::regularized_count, and the certificate of the raw problem.
// With `near_rigid=off` rigid rows are reached by a proximal-point loop around the same Newton method: the cost
// gains p |lambda - lambda_k|^2 / 2, p = w / beta, and lambda_k follows; so do rows with R too small to be
// resolved in double precision, and tangential pairs of unequal R, which have no analytic projection.
//
// Cost per iteration: one assembly and Cholesky factorisation of A + J^T G J and a few O(rows) trials.
#include "tribo/solve/newton/sap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/driver/scoped_interrupt.h"
#include "tribo/solve/newton/convex_newton.h"

namespace tribo {
namespace {

using Rule = SapOptions::Rule;

// (26): the absolute tolerance of the paper.
constexpr double kAbsolute = 1e-16;
// R below this fraction of the scale leaves impulses -u / R without enough digits.
constexpr double kResolvable = 1e-6;
// Momentum residual, relative, that rounding leaves.
constexpr double kCostRounding = 1e-15;
// After so many steps without a decrease of the cost a residual below this counts as solved: the rest is rounding.
constexpr int kIdleSteps = 3;
constexpr double kStuck = 1e-9;
// Gradient of a proximal problem relative to the change of its multipliers, from which on the next one pays.
constexpr double kProximalAccuracy = 0.1;

class Sap final : public Solver {
 public:
  explicit Sap(const SapOptions& options) : options_(options) {}
  std::string_view name() const override { return "sap"; }
  std::unique_ptr<Solver> clone() const override { return make_sap(options_); }
  SolverTraits traits() const override { return {.exact_law = false}; }
  std::vector<Option> options() override { return describe(options_); }
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  void prepare(const ContactProblem& problem, Monitor& monitor);
  double momentum_residual(const ContactProblem& problem);
  double target(double tolerance) const;
  double impulse_energy(const ContactProblem& problem) const;
  void next_multiplier(const ContactProblem& problem);
  Status run(const ContactProblem& problem, Monitor& monitor);
  Status ended() const { return regularized_ > 0 ? Status::regularized : Status::stalled; }

  SapOptions options_;

  // Workspace.
  ConvexNewton newton_;
  ConvexPotential potential_;
  ProximalLaw law_;
  Vector compliance_, multiplier_, zero_;  // [rows]
  Vector weight_, start_, contact_;        // [dofs]; weight 1 / sqrt(A_ii)
  Index regularized_ = 0;
  bool proximal_loop_ = false;
};

void Sap::prepare(const ContactProblem& problem, Monitor& monitor) {
  compliance_ = problem.compliance();
  regularized_ = options_.near_rigid
                     ? near_rigid_compliance(problem, options_.near_rigid_beta, options_.sigma, compliance_)
                     : 0;
  monitor.note_regularized(regularized_);
  bool unresolved = false;
  proximal_loop_ = false;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i);
    const auto own = compliance_.segment(row, problem.rows(i));
    unresolved |= own.minCoeff() < kResolvable * problem.scale(i);
    // Tangential rows that differ.
    for (Index r = 1; r + 1 < problem.rows(i); ++r) proximal_loop_ |= own[r] != own[0];
  }
  proximal_loop_ |= unresolved;
  law_.prepare(problem, compliance_,
               unresolved ? options_.proximal : std::numeric_limits<double>::infinity());
  potential_.prepare(problem, law_);
  zero_.setZero(problem.row_count());
  multiplier_ = monitor.start();
  potential_.set_offset(law_, multiplier_, zero_);
  weight_.resize(problem.dof_count());
  contact_.resize(problem.dof_count());
  for (Index t = 0; t < problem.tree_count(); ++t) {
    weight_.segment(problem.mass().block_start(t), problem.mass().block_size(t)) =
        problem.mass().block(t).diagonal().array().rsqrt();
  }
  const bool exact = options_.line_search == SapOptions::LineSearch::exact;
  newton_.set_line_search(exact ? LineSearch::exact : LineSearch::armijo, options_.line_tolerance);
  newton_.prepare(problem);
  start_.resize(problem.dof_count());
  problem.generalized_velocity_of(multiplier_, start_);
  newton_.start(problem, start_);
}

// The left side of (26) over the bracket of its right side.
double Sap::momentum_residual(const ContactProblem& problem) {
  contact_ = newton_.inertia() - problem.momentum() - newton_.gradient();  // J^T lambda
  const double size =
      std::max(weight_.cwiseProduct(newton_.inertia()).norm(), weight_.cwiseProduct(contact_).norm());
  const double residual = weight_.cwiseProduct(newton_.gradient()).norm();
  return residual < kAbsolute ? 0.0 : residual / std::max(size, std::numeric_limits<double>::min());
}

double Sap::target(double tolerance) const {
  if (options_.rule == Rule::momentum) return options_.relative;
  // A regularised problem can only be solved to its own accuracy; the raw certificate will not tell.
  return regularized_ > 0 ? std::max(kCostRounding, 1e-2 * tolerance) : kCostRounding;
}

// sqrt(sum w |lambda|^2), sqrt(J).
double Sap::impulse_energy(const ContactProblem& problem) const {
  double sum = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    sum += problem.scale(i) * newton_.impulse().segment(problem.row(i), problem.rows(i)).squaredNorm();
  }
  return std::sqrt(sum);
}

void Sap::next_multiplier(const ContactProblem& problem) {
  multiplier_ = newton_.impulse();
  potential_.set_offset(law_, multiplier_, zero_);
  newton_.linearize(problem, potential_);
}

Status Sap::iterate(const ContactProblem& problem, Monitor& monitor) {
  const ScopedInterrupt limit(monitor, newton_);
  return run(problem, monitor);
}

Status Sap::run(const ContactProblem& problem, Monitor& monitor) {
  prepare(problem, monitor);
  newton_.linearize(problem, potential_);
  int idle = 0;
  double best = std::numeric_limits<double>::infinity();
  for (Index k = 1; k <= monitor.iterations_left() && monitor.may_factorize(); ++k) {
    const ConvexNewton::Step step = newton_.step(problem, potential_);
    if (step.factorized) monitor.count_factorization();
    if (!step.factorized) return monitor.give_up(k);
    newton_.linearize(problem, potential_);
    if (monitor.check(k, newton_.impulse())) return Status::converged;
    const double residual = momentum_residual(problem);
    // Newton converges quadratically: a residual that no longer falls is rounding.
    idle = residual < 0.5 * best ? 0 : idle + 1;
    best = std::min(best, residual);
    const bool solved = residual <= target(monitor.tolerance()) || !step.progress ||
                        (idle >= kIdleSteps && residual < kStuck);
    if (!proximal_loop_) {
      if (solved) return ended();
      continue;
    }
    // A proximal step need not be solved better than it changes the multipliers.
    const double change = newton_.proximal_change(law_, multiplier_);
    if (!solved && newton_.gradient_norm(problem) > kProximalAccuracy * change) continue;
    if (change <= target(monitor.tolerance()) * impulse_energy(problem)) return ended();
    next_multiplier(problem);
    idle = 0;
    best = std::numeric_limits<double>::infinity();
  }
  return Status::iteration_limit;
}

}  // namespace

Index near_rigid_compliance(const ContactProblem& problem, double beta, double sigma, Vector& compliance) {
  constexpr double turn = 2.0 * std::numbers::pi;
  compliance = problem.compliance();
  Index changed = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    auto own = compliance.segment(problem.row(i), problem.rows(i));
    if (own.minCoeff() > 0.0) continue;
    ++changed;
    const Index last = own.size() - 1;
    for (Index r = 0; r < last; ++r) own[r] = std::max(own[r], sigma * problem.scale(i));
    own[last] = std::max(own[last], beta * beta / (turn * turn) * problem.scale(i));
  }
  return changed;
}

std::vector<Option> describe(SapOptions& o) {
  return {
      choice_option("line_search", "step length", o.line_search, {{0, "exact"}, {1, "armijo"}}),
      real_option("line_tolerance", "exact line search: slope left, relative", "1", o.line_tolerance, 1e-15,
                  0.9),
      choice_option("rule", "when to stop: the certificate alone, or also the momentum rule (26)", o.rule,
                    {{0, "certificate"}, {1, "momentum"}}),
      real_option("relative", "rule=momentum: relative tolerance", "1", o.relative, 1e-15, 1.0),
      flag_option("near_rigid", "give rigid constraints the near-rigid compliance", o.near_rigid),
      real_option("near_rigid_beta", "near-rigid rule: normal compliance beta^2 / (4 pi^2) w", "1",
                  o.near_rigid_beta, 1e-6, 1e3),
      real_option("sigma", "near-rigid rule: tangential compliance sigma w", "1", o.sigma, 1e-12, 1e3),
      real_option("proximal", "near_rigid=off: penalty of the proximal loop", "1", o.proximal, 1.0, 1e8),
  };
}

std::unique_ptr<Solver> make_sap(const SapOptions& options) { return std::make_unique<Sap>(options); }

}  // namespace tribo
