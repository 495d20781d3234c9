#include "tribo/solve/classical/splitting_engine.h"

#include <cmath>

namespace tribo {

using Local = SplittingOptions::Local;
using Relax = SplittingOptions::Relax;
using Shuffle = SplittingOptions::Shuffle;

void SplittingEngine::begin(Subproblem& problem) {
  prepared_ = false;
  order_.reset(problem.problem().constraint_count(), static_cast<std::uint64_t>(options_.seed));
  if (options_.shuffle == Shuffle::once) order_.shuffle();
}

void SplittingEngine::prepare(const Subproblem& problem) {
  if (prepared_ && set_ == problem.set() && shift_ == problem.shift()) return;
  prepared_ = true;
  set_ = problem.set();
  shift_ = problem.shift();
  contacts_.clear();
  matrices_.clear();
  exact_.clear();
  convex_.clear();
  rows_.clear();
  intervals_.clear();
  const ContactProblem& p = problem.problem();
  const double divisor = options_.relax == Relax::matrix ? options_.omega : 1.0;
  for_each_constraint(
      p,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const double weight = problem.weight(cone.index);
        LocalContact<n> c;
        c.index = cone.index;
        c.row = cone.row;
        c.weight = weight;
        c.w = local_matrix<n>(p, cone.index);
        c.w.diagonal().array() += (shift_ + options_.regularize) * weight;
        c.w /= divisor;
        const LocalMatrixN<n> floored(c.w, cone.friction);
        c.one_step = floored.rho_n;
        c.law.formulation = options_.formulation;
        c.law.law = set_ == SetKind::coulomb ? Law::exact : Law::convex;
        c.law.mu = cone.friction;
        c.law.unit = std::sqrt(weight);
        c.law.idle = p.is_idle(cone.index);
        if (options_.local == Local::newton) c.law.rho = find_steps<n>(options_.rho, c.w, weight);
        contacts_.of<n>().push_back(c);
        if (options_.local != Local::exact) return;
        matrices_.of<n>().push_back(floored);
        exact_.of<n>().emplace_back(c.w, cone.friction);
        convex_.of<n>().emplace_back(c.w, cone.friction);
      },
      [&](IntervalConstraint row) {
        ScalarRow local = scalar_row(p, row.index, divisor);
        const double added = shift_ + options_.regularize;
        if (added != 0.0)
          local.inverse = 1.0 / (1.0 / local.inverse + added * problem.weight(row.index) / divisor);
        rows_.push_back(local);
        intervals_.push_back(row);
      });
}

// What a sweep does at a constraint.
struct SplittingEngine::Visitor {
  SplittingEngine& engine;
  const Subproblem& problem;
  LocalLimits limits;

  template <int N>
  VecN<N> solve(LocalContact<N>& c, Index slot, const VecN<N>& w, const VecN<N>& r) {
    const SplittingOptions& options = engine.options_;
    const SetKind set = problem.set();
    if (set == SetKind::normal) {
      VecN<N> next = r;
      next[N - 1] = project_orthant(r[N - 1] - c.one_step * w[N - 1]);
      return next;
    }
    const double radius = problem.radius(c.index);
    if (options.local == Local::newton && set == SetKind::coulomb) {
      return local_newton<N>(c, options.search, limits, w, r);
    }
    if (options.local == Local::exact && set == SetKind::coulomb) {
      if constexpr (N == 3) return solve_quartic(engine.matrices_.of<3>()[slot], w, r);
      return engine.exact_.of<N>()[slot].solve(w, r);
    }
    if (options.local == Local::exact && set == SetKind::cone)
      return engine.convex_.of<N>()[slot].solve(w, r);
    if (options.local == Local::one_step) return local_projection<N>(c, set, radius, w, r);
    return local_vi<N>(c, options.vi, limits, set, radius, w, r);
  }

  template <int N>
  VecN<N> contact(Index slot, const VecN<N>& velocity, const VecN<N>& r) {
    LocalContact<N>& c = engine.contacts_.of<N>()[slot];
    if (c.law.idle) return r;
    const VecN<N> w = velocity + problem.offset().segment<N>(c.row) + problem.shift() * c.weight * r;
    const VecN<N> next = solve<N>(c, slot, w, r);
    const double omega = engine.options_.omega;
    if (engine.options_.relax == Relax::matrix || omega == 1.0) return next;
    return project_on<N>(problem.set(), omega * next + (1.0 - omega) * r, c.law.mu, problem.radius(c.index));
  }

  double scalar(Index slot, double velocity, double lambda) {
    const IntervalConstraint& row = engine.intervals_[slot];
    const double w =
        velocity + problem.offset()[row.row] + problem.shift() * problem.weight(row.index) * lambda;
    const double next = engine.rows_[slot].solve(w, lambda);
    if (engine.options_.relax == Relax::matrix) return next;
    return row.set.project(engine.options_.omega * next + (1.0 - engine.options_.omega) * lambda);
  }
};

Status SplittingEngine::run(Subproblem& problem, Vector& impulse, Judge& judge) {
  prepare(problem);
  SweepOperator& sweeps = problem.sweeps();
  sweeps.renew_state(impulse);
  Visitor visitor{*this, problem, options_.limits};
  constexpr Index kRefresh = 50;  // sweeps whose rounding may be collected
  SweepWatch watch(problem.problem(), judge.tolerance());
  const Index limit = judge.limit();
  Index refreshed = 0;
  for (Index k = 1; k <= limit; ++k) {
    if (options_.shuffle == Shuffle::every) order_.shuffle();
    const SweepChange change = sweeps.sweep(order_.visits(), impulse, visitor);
    if (!std::isfinite(change.step) || !std::isfinite(change.impulse)) return Status::stalled;
    if (watch.due(k, change) || k == limit) {
      const bool exactly =
          watch.stuck() || k - refreshed >= kRefresh || judge.error() <= 10.0 * judge.tolerance();
      if (exactly) {
        sweeps.refresh(impulse, velocity_);
        refreshed = k;
      } else {
        sweeps.find_velocity(impulse, velocity_);
      }
      if (judge.judge(k, impulse, velocity_)) return Status::converged;
      watch.learn(k, judge.error());
      if (options_.adaptive)
        visitor.limits.tolerance = std::max(options_.limits.tolerance, 0.1 * judge.error());
    } else if (judge.out_of_time(k)) {
      return Status::time_limit;
    }
    if (watch.stuck() || watch.cycling(k, change, impulse, circle_)) return Status::stalled;
    if (watch.diverging()) return Status::no_solution_suspected;
  }
  return Status::iteration_limit;
}

std::vector<Option> describe(SplittingOptions& o) {
  std::vector<Option> table;
  if (o.local == Local::newton) {
    table.push_back(
        choice_option("rho", "steps of the local Newton: 1/D, or (109) to (112) of Acary et al.", o.rho,
                      {{0, "constant"}, {1, "norm"}, {2, "largest"}, {3, "split"}, {4, "conditioned"}}));
  }
  if (o.local == Local::newton || o.local == Local::vi) {
    table.push_back(real_option("local_tolerance", "of the one-contact problems, relative", "1",
                                o.limits.tolerance, 0.0, 1.0));
    table.push_back(integer_option("local_iterations", "most in a visit", o.limits.iterations, 1, 10000));
    table.push_back(flag_option("adaptive", "local tolerance: at least a tenth of the error", o.adaptive));
  }
  table.push_back(real_option("regularize", "c: local problems with W_ii + c D_i about the present impulse",
                              "1", o.regularize, 0.0, 1e3));
  table.push_back(real_option("omega", "relaxation", "1", o.omega, 0.05, 1.95));
  table.push_back(choice_option("relax",
                                "what omega acts on: the local matrix, (117) to (119), or the iterate",
                                o.relax, {{0, "matrix"}, {1, "iterate"}}));
  table.push_back(choice_option("shuffle",
                                "random order of the visits: drawn never, once, or before every sweep",
                                o.shuffle, {{0, "none"}, {1, "once"}, {2, "every"}}));
  table.push_back(integer_option("seed", "of the random order", o.seed, 0, 1000000000));
  table.push_back(
      flag_option("scaled", "D_i = w_i (off: 1, as printed), where steps or c are relative to it", o.scaled));
  return table;
}

namespace {

class SplittingSolver final : public Solver {
 public:
  SplittingSolver(std::string_view name, const SplittingOptions& options, bool relaxation)
      : name_(name), options_(options), relaxation_(relaxation), engine_(options_) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Solver> clone() const override { return make_splitting(name_, options_, relaxation_); }
  std::vector<Option> options() override { return describe(options_); }
  // The local Newton methods are those of the exact law.
  SolverTraits traits() const override {
    return {.exact_law = !relaxation_, .convex_law = options_.local != Local::newton};
  }

  Status iterate(const ContactProblem& problem, Monitor& monitor) override {
    subproblem_.setup(problem, options_.scaled);
    subproblem_.pose(monitor.settings().law == Law::exact ? SetKind::coulomb : SetKind::cone);
    engine_.begin(subproblem_);
    impulse_ = monitor.start();
    Judge judge(monitor);
    return engine_.run(subproblem_, impulse_, judge);
  }

 private:
  std::string_view name_;
  SplittingOptions options_;
  bool relaxation_;
  SplittingEngine engine_;
  Subproblem subproblem_;
  Vector impulse_;
};

}  // namespace

std::unique_ptr<Solver> make_splitting(std::string_view name, const SplittingOptions& options,
                                       bool relaxation) {
  return std::make_unique<SplittingSolver>(name, options, relaxation);
}

}  // namespace tribo
