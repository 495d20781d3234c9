#include "tribo/solve/classical/fixed_point.h"

#include <algorithm>

namespace tribo {
namespace {

using Outer = FixedPointOptions::Outer;

class FixedPoint final : public Solver {
 public:
  FixedPoint(std::string_view name, const FixedPointOptions& options)
      : name_(name),
        options_(options),
        vi_(options_.vi),
        sweeps_(options_.sweeps),
        gradient_(options_.gradient),
        normal_sweeps_(options_.sweeps),
        normal_gradient_(options_.gradient) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Solver> clone() const override { return make_fixed_point(name_, options_); }
  std::vector<Option> options() override { return describe(options_); }
  SolverTraits traits() const override { return {.convex_law = options_.outer == Outer::aclm}; }

  Status iterate(const ContactProblem& problem, Monitor& monitor) override {
    subproblem_.setup(problem, options_.scaled);
    Engine& inner = engine(options_.inner);
    Engine& normals =
        options_.normal == ConvexInner::sweeps ? static_cast<Engine&>(normal_sweeps_) : normal_gradient_;
    inner.begin(subproblem_);
    if (options_.outer == Outer::pana) normals.begin(subproblem_);
    impulse_ = monitor.start();
    subproblem_.velocity(impulse_, velocity_);
    double error = monitor.best_error(), best = error;
    Index done = 0, best_at = 0;
    for (Index outer = 1; done < monitor.iterations_left(); ++outer) {
      // Iterations beyond the last digit of the tolerance are not worth it, nor fewer than give a tenth.
      const double accuracy = options_.accuracy * std::min(error, 1.0);
      const Index before = done;
      last_ = impulse_;
      if (options_.outer == Outer::pana) {
        subproblem_.pose(SetKind::normal);
        solve(normals, monitor, accuracy, done);
        subproblem_.pose(SetKind::tangent);
        set_radii(problem);
        if (done < monitor.iterations_left()) solve(inner, monitor, accuracy, done);
      } else if (options_.outer == Outer::tresca) {
        subproblem_.pose(SetKind::cylinder);
        set_radii(problem);
        solve(inner, monitor, accuracy, done);
      } else {
        subproblem_.pose(SetKind::cone);
        if (monitor.settings().law == Law::exact) set_shifts(problem);
        solve(inner, monitor, accuracy, done);
      }
      if (!impulse_.allFinite()) return Status::stalled;
      if (done == before) ++done;  // an outer iteration is one, whatever the inner problems took
      subproblem_.velocity(impulse_, velocity_);
      if (monitor.check(done, impulse_, velocity_)) return Status::converged;
      error = monitor.last_error();
      if (error < 0.99 * best) best = error, best_at = outer;
      if (outer - best_at > kPatience || impulse_ == last_) return Status::stalled;
    }
    return Status::iteration_limit;
  }

 private:
  static constexpr Index kPatience = 1000;  // outer iterations without progress

  Engine& engine(ConvexInner inner) {
    if (inner == ConvexInner::vi) return vi_;
    if (inner == ConvexInner::projected_gradient) return gradient_;
    return sweeps_;
  }

  void solve(Engine& engine, Monitor& monitor, double accuracy, Index& done) {
    Judge judge(monitor, subproblem_, accuracy, options_.inner_iterations, done);
    engine.run(subproblem_, impulse_, judge);
    done += judge.iterations();
  }

  void set_radii(const ContactProblem& problem) {
    for_each_cone(problem, [&](auto cone) {
      subproblem_.radius()[cone.index] = cone.friction * project_orthant(cone.normal(impulse_));
    });
  }

  void set_shifts(const ContactProblem& problem) {
    for_each_cone(problem, [&](auto cone) {
      constexpr int n = cone.kRows;
      VecN<n> w = cone.get(velocity_);
      if (!problem.is_rigid()) w += cone.get(problem.compliance()).cwiseProduct(cone.get(impulse_));
      cone.normal(subproblem_.offset()) = cone.friction * tangent_norm(w);
    });
  }

  std::string_view name_;
  FixedPointOptions options_;
  ViEngine vi_;
  SplittingEngine sweeps_;
  ProjectedGradient gradient_;
  SplittingEngine normal_sweeps_;
  ProjectedGradient normal_gradient_;
  Subproblem subproblem_;
  Vector impulse_, velocity_, last_;
};

}  // namespace

std::vector<Option> describe(FixedPointOptions& o) {
  std::vector<Option> table = {
      real_option("accuracy", "of the inner problems, relative to the error", "1", o.accuracy, 1e-8, 1.0),
      integer_option("inner_iterations", "most for an inner problem", o.inner_iterations, 1, 1000000),
      flag_option("scaled", "in the variables sqrt(w_i) lambda_i", o.scaled),
  };
  const auto add = [&table](std::vector<Option> more) {
    for (Option& option : more) {
      if (option.name != "scaled" && option.name != "adaptive") table.push_back(std::move(option));
    }
  };
  const bool pana = o.outer == FixedPointOptions::Outer::pana;
  if (o.inner == ConvexInner::vi) add(describe(o.vi));
  if (o.inner == ConvexInner::sweeps && !pana) add(describe(o.sweeps));
  if (o.inner == ConvexInner::projected_gradient) add(describe(o.gradient));
  return table;
}

std::unique_ptr<Solver> make_fixed_point(std::string_view name, const FixedPointOptions& options) {
  return std::make_unique<FixedPoint>(name, options);
}

}  // namespace tribo
