#include "tribo/solve/classical/vi_engine.h"

#include <cmath>

namespace tribo {
namespace {

// A subproblem as vi_step() sees it; remembers the velocity of the last evaluation.
struct Space {
  Subproblem& problem;
  Vector& velocity;
  Vector& difference;

  void evaluate(const Vector& z, Vector& f) {
    problem.velocity(z, velocity);
    problem.find_field(z, velocity, f);
  }
  void project_step(const Vector& z, double rho, const Vector& f, Vector& target) {
    problem.project_step(z, rho, f, target);
  }
  double length2(const Vector& a, const Vector& b) {
    difference = a - b;
    return problem.length2(difference);
  }
  double dual_length2(const Vector& a, const Vector& b) {
    difference = a - b;
    return problem.dual_length2(difference);
  }
};

}  // namespace

Status ViEngine::run(Subproblem& problem, Vector& impulse, Judge& judge) {
  const ViRule& rule = options_.rule;
  Space space{problem, velocity_, difference_};
  space.evaluate(impulse, field_);
  SweepWatch watch(problem.problem(), judge.tolerance());
  const Index limit = judge.limit();
  for (Index k = 1; k <= limit; ++k) {
    past_ = impulse;
    const double ratio = vi_step(rule, space, rho_, impulse, field_, next_, next_field_);
    const SweepChange change{(impulse - past_).squaredNorm(), impulse.squaredNorm()};
    if (!std::isfinite(change.step) || !std::isfinite(change.impulse)) return Status::stalled;
    if (watch.due(k, change) || k == limit) {
      if (judge.judge(k, impulse, velocity_)) return Status::converged;
      watch.learn(k, judge.error());
    } else if (judge.out_of_time(k)) {
      return Status::time_limit;
    }
    if (watch.stuck()) return Status::stalled;
    if (watch.cycling(k, change, impulse, circle_)) return Status::stalled;
    if (watch.diverging()) return Status::no_solution_suspected;
    if (rule.step != StepRule::fixed && ratio < rule.lower) rho_ /= rule.shrink;
  }
  return Status::iteration_limit;
}

std::vector<Option> describe(ViOptions& o) {
  std::vector<Option> table;
  const bool adaptive = o.rule.step != StepRule::fixed;
  table.push_back(real_option("rho", adaptive ? "first step" : "step", "1", o.rho, 1e-12, 1e12));
  if (adaptive) {
    table.push_back(
        real_option("upper", "L: rho shrinks while the ratio is above it", "1", o.rule.upper, 0.01, 1.0));
    table.push_back(
        real_option("lower", "L_min: rho grows where the ratio is below it", "1", o.rule.lower, 0.0, 0.99));
    table.push_back(real_option("shrink", "nu, the factor of rho", "1", o.rule.shrink, 0.01, 0.99));
    table.push_back(integer_option("trials", "most of them in an iteration", o.rule.trials, 1, 100));
    table.push_back(flag_option("han_lo", "shrink by nu min(1, 1/ratio)", o.rule.han_lo));
  }
  table.push_back(flag_option("scaled", "steps rho / w_i (off: rho, as printed)", o.scaled));
  return table;
}

namespace {

class ViSolver final : public Solver {
 public:
  ViSolver(std::string_view name, const ViOptions& options)
      : name_(name), options_(options), engine_(options_) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Solver> clone() const override { return make_vi(name_, options_); }
  std::vector<Option> options() override { return describe(options_); }

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
  ViOptions options_;
  ViEngine engine_;
  Subproblem subproblem_;
  Vector impulse_;
};

}  // namespace

std::unique_ptr<Solver> make_vi(std::string_view name, const ViOptions& options) {
  return std::make_unique<ViSolver>(name, options);
}

}  // namespace tribo
