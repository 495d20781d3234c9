#include "tribo/solve/classical/nsn_engine.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/solve/classical/vi_engine.h"
#include "tribo/solve/law/one_cone.h"

namespace tribo {
namespace {

// The linear system counts as solved when its residual, relative to the right-hand side, is below this.
constexpr double kSolved = 1e-6;
// Regularisation where a matrix is singular, relative to D: from the first to the last, times the factor.
constexpr double kFirstRegularization = 1e-10, kLastRegularization = 1e-1, kRegularizationFactor = 100.0;
// Velocities are renewed from the impulses after so many steps.
constexpr Index kRefresh = 20;

}  // namespace

void NsnEngine::begin(Subproblem& problem) {
  const ContactProblem& p = problem.problem();
  laws_.resize(static_cast<std::size_t>(p.constraint_count()));
  for (GroupBlocks* blocks : {&by_velocity_, &by_impulse_, &shifted_}) blocks->resize(p.jacobian());
  value_.resize(p.row_count());
}

// Steps belong to the blocks W_ii + R_ii + a D_i.
void NsnEngine::find_laws(const Subproblem& problem, Law law) {
  const ContactProblem& p = problem.problem();
  for (Index i = 0; i < p.constraint_count(); ++i) {
    LawAt& at = laws_[i];
    at.formulation = options_.formulation;
    at.law = law;
    at.unit = std::sqrt(problem.weight(i));
    at.idle = p.is_idle(i);
  }
  for_each_constraint(
      p,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        MatN<n> w = local_matrix<n>(p, cone.index);
        w.diagonal().array() += problem.shift() * problem.weight(cone.index);
        laws_[cone.index].mu = cone.friction;
        laws_[cone.index].rho = find_steps<n>(options_.rho, w, problem.weight(cone.index));
      },
      [&](IntervalConstraint row) {
        const double w = p.delassus_scalar(row.index) + p.compliance()[row.row] +
                         problem.shift() * problem.weight(row.index);
        const bool constant = options_.rho == RhoRule::constant || !(w > 0.0);
        const double rho = 1.0 / (constant ? problem.weight(row.index) : w);
        laws_[row.index].rho = {rho, rho};
      });
}

double NsnEngine::merit(const Subproblem& problem, const Vector& impulse, const Vector& u) const {
  double sum = 0.0;
  for_each_constraint(
      problem.problem(),
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const VecN<n> lambda = cone.get(impulse);
        const VecN<n> w = problem.softened<n>(cone.index, cone.row, cone.get(u), lambda);
        sum += residual_of<n>(laws_[cone.index], lambda, w).squaredNorm();
      },
      [&](IntervalConstraint row) {
        const VecN<1> lambda(impulse[row.row]),
            w = problem.softened<1>(row.index, row.row, VecN<1>(u[row.row]), lambda);
        const double value = linearise_scalar(laws_[row.index], row.set, lambda[0], w[0]).value;
        sum += value * value;
      });
  return 0.5 * sum;
}

double NsnEngine::linearise_all(const Subproblem& problem, const Vector& impulse, const Vector& u) {
  for_each_constraint(
      problem.problem(),
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const VecN<n> lambda = cone.get(impulse);
        const VecN<n> w = problem.softened<n>(cone.index, cone.row, cone.get(u), lambda);
        const Linearised<n> at = linearise<n>(laws_[cone.index], lambda, w);
        cone.rows(value_) = at.value;
        by_velocity_.at<n>(cone.index) = at.by_velocity;
        by_impulse_.at<n>(cone.index) = at.by_impulse;
      },
      [&](IntervalConstraint row) {
        const VecN<1> lambda(impulse[row.row]),
            w = problem.softened<1>(row.index, row.row, VecN<1>(u[row.row]), lambda);
        const LinearisedScalar at = linearise_scalar(laws_[row.index], row.set, lambda[0], w[0]);
        value_[row.row] = at.value;
        by_velocity_.at<1>(row.index)(0, 0) = at.by_velocity;
        by_impulse_.at<1>(row.index)(0, 0) = at.by_impulse;
      });
  return 0.5 * value_.squaredNorm();
}

// The blocks beside W: Phi_lambda + Phi_w (R + (a + c) D).
void NsnEngine::add_compliance(const Subproblem& problem, double regularization) {
  const ContactProblem& p = problem.problem();
  for (Index i = 0; i < p.constraint_count(); ++i) {
    const double add = (problem.shift() + regularization) * problem.weight(i);
    with_rows(p.rows(i), [&](auto rows) {
      constexpr int n = rows();
      const VecN<n> diagonal = p.compliance().template segment<n>(p.row(i)) + VecN<n>::Constant(add);
      shifted_.at<n>(i) = by_impulse_.at<n>(i) + by_velocity_.at<n>(i) * diagonal.asDiagonal();
    });
  }
}

// Also W d and, with it, q'(0) from what the direction really does.
bool NsnEngine::find_direction(Subproblem& problem, Judge& judge, double error, double present) {
  Monitor& monitor = judge.monitor();
  const BlockMatrix& w = problem.matrix();
  lu_.analyze(w);
  lu_.set_interrupt(monitor.interrupt());
  rhs_ = -value_;
  double regularization = options_.regularize * std::min(1.0, error);
  for (;;) {
    if (!monitor.may_factorize(lu_.lu().factor_flops())) return false;
    add_compliance(problem, regularization);
    monitor.count_factorization(lu_.lu().factor_flops());
    if (lu_.factorize(w, by_velocity_, shifted_)) {
      lu_.solve(rhs_, direction_, 2);
      if (direction_.allFinite() && (lu_.backward_error() <= kSolved || present == 0.0)) break;
    }
    if (monitor.out_of_time(0) || regularization >= kLastRegularization) return false;
    regularization = std::max(kFirstRegularization, kRegularizationFactor * regularization);
  }
  problem.multiply(direction_, product_);
  return product_.allFinite();
}

// q'(0) = G . Phi d of the matrix without regularisation.
double NsnEngine::slope(const Subproblem& problem) const {
  const ContactProblem& p = problem.problem();
  double sum = 0.0;
  for (Index i = 0; i < p.constraint_count(); ++i) {
    const Index row = p.row(i);
    with_rows(p.rows(i), [&](auto rows) {
      constexpr int n = rows();
      const VecN<n> d = direction_.segment<n>(row);
      VecN<n> dw = product_.segment<n>(row) + problem.shift() * problem.weight(i) * d;
      dw += p.compliance().template segment<n>(row).cwiseProduct(d);
      sum += value_.segment<n>(row).dot(by_velocity_.at<n>(i) * dw + by_impulse_.at<n>(i) * d);
    });
  }
  return sum;
}

Status NsnEngine::run(Subproblem& problem, Vector& impulse, Judge& judge) {
  find_laws(problem, problem.set() == SetKind::coulomb ? Law::exact : Law::convex);
  problem.velocity(impulse, velocity_);
  double present = linearise_all(problem, impulse, velocity_), best = present, error = 1.0;
  Index best_at = 0;
  const Index limit = judge.limit();
  for (Index k = 1; k <= limit; ++k) {
    if (!find_direction(problem, judge, error, present)) return judge.monitor().give_up(0);
    const auto merit_at = [&](double t) {
      trial_ = impulse + t * direction_;
      trial_velocity_ = velocity_ + t * product_;
      return merit(problem, trial_, trial_velocity_);
    };
    const double t = search_step(options_.search, present, slope(problem), merit_at);
    impulse += t * direction_;
    if (k % kRefresh == 0) {
      problem.velocity(impulse, velocity_);
    } else {
      velocity_ += t * product_;
    }
    if (!impulse.allFinite()) return Status::stalled;
    if (judge.judge(k, impulse, velocity_)) return Status::converged;
    error = judge.error();
    present = linearise_all(problem, impulse, velocity_);
    if (!std::isfinite(present)) return Status::stalled;
    if (present < 0.98 * best) best = present, best_at = k;
    if (k - best_at >= options_.patience) return Status::stalled;
  }
  return Status::iteration_limit;
}

std::vector<Option> describe(NsnOptions& o) {
  std::vector<Option> table;
  if (o.formulation != Formulation::fischer_burmeister) {
    table.push_back(
        choice_option("rho", "steps: 1/D, or (109) to (112) of Acary et al.", o.rho,
                      {{0, "constant"}, {1, "norm"}, {2, "largest"}, {3, "split"}, {4, "conditioned"}}));
  }
  table.push_back(choice_option("search", "line search", o.search.kind,
                                {{0, "none"}, {1, "goldstein-price"}, {2, "armijo"}}));
  table.push_back(real_option("m1", "least decrease, relative to the slope", "1", o.search.m1, 1e-10, 0.5));
  table.push_back(real_option("m2", "most of it (goldstein-price)", "1", o.search.m2, 0.5, 1.0));
  table.push_back(integer_option("trials", "most steps tried by a search", o.search.trials, 1, 100));
  table.push_back(flag_option("full_on_failure", "full step where the search fails (off: the last one tried)",
                              o.search.full_on_failure));
  table.push_back(real_option("regularize",
                              "W + c D in the matrix, c so many times the error; 0: where singular", "1",
                              o.regularize, 0.0, 1e3));
  table.push_back(integer_option("patience", "iterations without progress", o.patience, 1, 1000000));
  if (o.eg_iterations > 0) {
    table.push_back(integer_option("eg", "iterations of eg-vi-upk before", o.eg_iterations, 1, 1000000));
  }
  table.push_back(flag_option("scaled", "in the variables sqrt(w_i) lambda_i", o.scaled));
  return table;
}

namespace {

class NsnSolver final : public Solver {
 public:
  NsnSolver(std::string_view name, const NsnOptions& options)
      : name_(name), options_(options), newton_(options_), gradient_(gradient_options_) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Solver> clone() const override { return make_nsn(name_, options_); }
  std::vector<Option> options() override { return describe(options_); }
  // Alart-Curnier's and Jean-Moreau's functions are those of the exact law.
  SolverTraits traits() const override {
    const Formulation f = options_.formulation;
    return {.convex_law = f == Formulation::natural_map || f == Formulation::fischer_burmeister};
  }

  Status iterate(const ContactProblem& problem, Monitor& monitor) override {
    subproblem_.setup(problem, options_.scaled);
    subproblem_.pose(monitor.settings().law == Law::exact ? SetKind::coulomb : SetKind::cone);
    impulse_ = monitor.start();
    if (options_.eg_iterations > 0) {
      gradient_options_ = {.rule = {.method = ViMethod::extragradient}, .scaled = options_.scaled};
      gradient_.begin(subproblem_);
      const Budget budget{.iterations = options_.eg_iterations};
      const bool ended = monitor.run_stage("eg-vi-upk", budget, Monitor::From::best, [&] {
        Judge judge(monitor);
        gradient_.run(subproblem_, impulse_, judge);
      });
      if (ended) return Status::iteration_limit;
      impulse_ = monitor.best();
    }
    newton_.begin(subproblem_);
    Judge judge(monitor);
    return newton_.run(subproblem_, impulse_, judge);
  }

 private:
  std::string_view name_;
  NsnOptions options_;
  ViOptions gradient_options_;
  NsnEngine newton_;
  ViEngine gradient_;
  Subproblem subproblem_;
  Vector impulse_;
};

}  // namespace

std::unique_ptr<Solver> make_nsn(std::string_view name, const NsnOptions& options) {
  return std::make_unique<NsnSolver>(name, options);
}

}  // namespace tribo
