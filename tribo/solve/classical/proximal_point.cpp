#include "tribo/solve/classical/proximal_point.h"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

using Alpha = ProximalPointOptions::Alpha;
using Inner = ProximalPointOptions::Inner;
using Kind = ProximalPointOptions::Kind;

class ProximalPoint final : public Solver {
 public:
  ProximalPoint(std::string_view name, const ProximalPointOptions& options)
      : name_(name), options_(options), newton_(options_.newton), sweeps_(options_.sweeps) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Solver> clone() const override { return make_proximal_point(name_, options_); }
  std::vector<Option> options() override { return describe(options_); }
  SolverTraits traits() const override { return {.convex_law = false}; }

  Status iterate(const ContactProblem& problem, Monitor& monitor) override {
    subproblem_.setup(problem, options_.scaled);
    Engine& engine = options_.inner == Inner::newton ? static_cast<Engine&>(newton_) : sweeps_;
    engine.begin(subproblem_);
    impulse_ = monitor.start();
    double alpha = options_.alpha0, error = monitor.best_error(), best = error;
    Index done = 0, best_at = 0;
    for (Index outer = 1; done < monitor.iterations_left(); ++outer) {
      pose(problem, alpha);
      next_ = impulse_;
      Judge judge(monitor, subproblem_, options_.accuracy * std::min(error, 1.0), options_.inner_iterations,
                  done);
      engine.run(subproblem_, next_, judge);
      done += std::max<Index>(judge.iterations(), 1);
      const bool solved = judge.converged();
      // Where the time is over, too, the last iterate of the inner engine is looked at: it may be the best there is.
      if (!next_.allFinite()) next_ = impulse_;
      if (options_.omega != 1.0) next_ = (1.0 - options_.omega) * impulse_ + options_.omega * next_;
      subproblem_.velocity(next_, velocity_);
      if (monitor.check(done, next_, velocity_)) return Status::converged;
      if (options_.inner == Inner::newton && !monitor.may_factorize()) return monitor.give_up(done);
      const double reached = monitor.last_error();
      // Where the inner engine failed, its last iterate may be anywhere.
      if (solved || reached < error) {
        impulse_.swap(next_);
        error = reached;
      }
      if (error < 0.99 * best) best = error, best_at = outer;
      if (outer - best_at > kPatience) return Status::stalled;
      alpha = next_alpha(alpha, error, solved);
    }
    return Status::iteration_limit;
  }

 private:
  static constexpr Index kPatience = 200;  // outer iterations without progress
  static constexpr double kLeastAlpha = 1e-14, kMostAlpha = 1e12;

  void pose(const ContactProblem& problem, double alpha) {
    subproblem_.pose(SetKind::coulomb);
    subproblem_.set_shift(alpha);
    if (options_.kind == Kind::tikhonov) return;
    Vector& offset = subproblem_.offset();
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const double add = -alpha * subproblem_.weight(i);
      const Index row = problem.row(i);
      for (Index r = row; r < row + problem.rows(i); ++r) offset[r] = add * impulse_[r];
    }
  }

  double next_alpha(double alpha, double error, bool solved) const {
    double next = 0.0;
    if (options_.alpha == Alpha::adaptive) {
      next = solved ? 0.1 * alpha : 5.0 * alpha;
    } else {
      next = options_.sigma * std::pow(error, options_.nu) * (solved ? 1.0 : 10.0);
      if (!solved) next = std::max(next, 2.0 * alpha);  // the same once more would fail again
    }
    return std::clamp(next, kLeastAlpha, kMostAlpha);
  }

  std::string_view name_;
  ProximalPointOptions options_;
  NsnEngine newton_;
  SplittingEngine sweeps_;
  Subproblem subproblem_;
  Vector impulse_, next_, velocity_;
};

}  // namespace

std::vector<Option> describe(ProximalPointOptions& o) {
  std::vector<Option> table = {
      choice_option("alpha", "rule of a: (125), or a tenth after success and five times after failure",
                    o.alpha, {{0, "error"}, {1, "adaptive"}}),
      choice_option("kind", "proximal: a D (x - x_k) is added; tikhonov: a D x", o.kind,
                    {{0, "proximal"}, {1, "tikhonov"}}),
      real_option("alpha0", "the first a, relative to D", "1", o.alpha0, 1e-12, 1e12),
      real_option("sigma", "of rule (125)", "1", o.sigma, 1e-9, 1e9),
      real_option("nu", "exponent of rule (125)", "1", o.nu, 0.01, 10.0),
      real_option("over", "omega, relaxation of the outer iteration", "1", o.omega, 0.05, 1.95),
      real_option("accuracy", "of the inner problems, relative to the error", "1", o.accuracy, 1e-8, 1.0),
      integer_option("inner_iterations", "most for an inner problem", o.inner_iterations, 1, 1000000),
      flag_option("scaled", "in the variables sqrt(w_i) lambda_i", o.scaled),
  };
  for (Option& option : o.inner == Inner::newton ? describe(o.newton) : describe(o.sweeps)) {
    if (option.name != "scaled") table.push_back(std::move(option));
  }
  return table;
}

std::unique_ptr<Solver> make_proximal_point(std::string_view name, const ProximalPointOptions& options) {
  return std::make_unique<ProximalPoint>(name, options);
}

}  // namespace tribo
