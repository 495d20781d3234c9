#include "tribo/solve/auto/stages.h"

#include <algorithm>
#include <cmath>

#include "tribo/solve/auto/pile_stage.h"
#include "tribo/solve/auto/restarts.h"
#include "tribo/solve/auto/tuning.h"
#include "tribo/solve/newton/canal.h"
#include "tribo/solve/splitting/admm.h"

namespace tribo {
namespace {

using From = Monitor::From;
using namespace tuning;

// A stage that is a function of the tools.
template <class Run>
class SimpleStage final : public AutoStage {
 public:
  SimpleStage(StageTools& tools, Run function) : tools_(tools), run_(function) {}
  bool run(StageContext& context, const Budget& budget, From from) override {
    return run_(tools_, context, budget, from);
  }

 private:
  StageTools& tools_;
  Run run_;
};

template <class Run>
std::unique_ptr<AutoStage> simple(StageTools& tools, Run run) {
  return std::make_unique<SimpleStage<Run>>(tools, run);
}

// A stage that is a solver of its own.
class SolverStage final : public AutoStage {
 public:
  explicit SolverStage(std::unique_ptr<Solver> solver) : solver_(std::move(solver)) {}
  bool run(StageContext& context, const Budget& budget, From from) override {
    return context.monitor.run(*solver_, budget, from);
  }

 private:
  std::unique_ptr<Solver> solver_;
};

class PileSweeps final : public AutoStage {
 public:
  explicit PileSweeps(bool glances) : glances_(glances) {}
  bool run(StageContext& context, const Budget&, From) override {
    const bool factors_are_cheap =
        context.factor_sweeps > 0.0 && context.factor_sweeps <= context.options.cheap_factor;
    const PileEffort effort = glances_            ? PileEffort::glance
                              : factors_are_cheap ? PileEffort::usual
                                                  : PileEffort::patient;
    return pile_.run(context.problem, context.traits, context.monitor, effort);
  }

 private:
  bool glances_;
  PileStage pile_;
};

// A few sweeps; more for as long as their rate promises the tolerance within the budget.
bool run_more_sweeps(StageTools& tools, StageContext& context, const Budget& budget, From) {
  Monitor& monitor = context.monitor;
  const Index probe = std::max(context.options.probe_sweeps, budget.iterations / kProbes);
  if (monitor.run(tools.nsgs, {.iterations = probe})) return true;
  double before = monitor.last_error();
  for (Index done = 0; done < budget.iterations; done += probe) {
    if (monitor.run(tools.nsgs, {.iterations = probe})) return true;
    const double after = monitor.last_error();
    if (!(after < before)) return false;
    const double per_sweep = std::log(before / after) / static_cast<double>(probe);
    const double needed = std::log(after / monitor.tolerance()) / per_sweep;
    if (needed > static_cast<double>(budget.iterations - done)) return false;
    before = after;
  }
  return false;
}

bool run_newton(StageTools& tools, StageContext& context, const Budget& budget, From from,
                const AlNewtonStart& start) {
  const bool done = context.monitor.run_stage(tools.newton.name(), budget, from, [&] {
    tools.newton.iterate(context.problem, context.monitor, start);
  });
  context.factor_sweeps =
      std::max(context.factor_sweeps, tools.newton.factor_flops() / context.traits.sweep_flops);
  return done;
}

// Penalties of Newton's method from a start with this error: the nearer, the fewer contacts change, and the stiffer it
// may be. 2 / sqrt(error) passes the smallest one at 4e-3 and comes to 630 at 1e-5.
double penalty_from(double error, double very_near) {
  return error <= very_near ? kStiffest : std::max(kPenaltyAtOne / std::sqrt(error), kSoftest);
}

// From the impulses of the last step a Newton step or two end far below the tolerance, and the next step then needs
// none. Chains are soft as a whole, the more so the longer they are, and take stiff penalties at the end.
bool run_newton_here(StageTools& tools, StageContext& context, const Budget& budget, From from) {
  Monitor& monitor = context.monitor;
  const AutoOptions& options = context.options;
  const double error = monitor.best_error();
  Budget own = budget;
  if (error <= monitor.tolerance()) own.factorizations = std::min(own.factorizations, kPolishFactors);
  const bool very_near = error <= options.very_near;
  const AlNewtonStart start{
      .beta = penalty_from(error, options.very_near),
      .natural_steps = context.traits.robots ? options.few_factors : 0,
      .stiffens = very_near && context.traits.chain,
      .whitened = context.has_tried(StageId::dense_sweeps) ? &tools.dense.whitened() : nullptr};
  if (very_near) monitor.aim(options.deep * monitor.tolerance());
  run_newton(tools, context, own, from, start);
  return monitor.drop_aim();
}

// Near enough, Newton on the equation itself ends in three to six steps, where surrogates take two or three each.
bool run_natural(StageTools& tools, StageContext& context, const Budget& budget, From from) {
  const double beta = penalty_from(context.monitor.best_error(), context.options.very_near);
  return run_newton(tools, context, budget, from,
                    {.beta = beta, .natural_steps = static_cast<Index>(budget.factorizations)});
}

// Which contacts stick, slide and open shows long before an interior path ends; others end from there in fewer steps.
bool run_path(StageTools& tools, StageContext& context, const Budget& budget, From from) {
  const bool done = context.monitor.run_stage(tools.point.name(), budget, from, [&] {
    tools.point.follow_path(context.problem, context.monitor, context.options.path_target);
  });
  context.factor_sweeps =
      std::max(context.factor_sweeps, tools.point.factor_flops() / context.traits.sweep_flops);
  return done;
}

// Newton with patience from where the solve began, then from other starts: most arrive in 150 factorisations or not at
// all.
bool run_restarts(StageTools& tools, StageContext& context, const Budget& budget, From) {
  Monitor& monitor = context.monitor;
  Vector start = monitor.start();
  for (Index k = -1; k < context.options.restarts; ++k) {
    if (k >= 0) restart(context.problem, monitor.best(), k, start);
    Budget own = budget;
    if (k < 0) own.factorizations *= kRestartPatience;
    if (monitor.run(tools.newton, own, start)) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<AutoStage> make_stage(StageId id, StageTools& tools) {
  switch (id) {
    case StageId::tiny_sweeps:
      return simple(tools, [](StageTools& t, StageContext& c, const Budget& budget, From from) {
        return c.monitor.run_stage("tiny sweeps", budget, from, [&] { t.tiny.run(c.problem, c.monitor); });
      });
    case StageId::dense_sweeps:
      return simple(tools, [](StageTools& t, StageContext& c, const Budget& budget, From from) {
        return c.monitor.run_stage("dense sweeps", budget, from, [&] { t.dense.run(c.problem, c.monitor); });
      });
    case StageId::sweeps:
      return simple(tools, [](StageTools& t, StageContext& c, const Budget& budget, From from) {
        return c.monitor.run(t.nsgs, budget, from);
      });
    case StageId::more_sweeps:
      return simple(tools, run_more_sweeps);
    case StageId::stack:
      return simple(tools, [](StageTools& t, StageContext& c, const Budget& budget, From from) {
        return run_newton(t, c, budget, from, {.only_prediction = true});
      });
    case StageId::newton_here:
      return simple(tools, run_newton_here);
    case StageId::natural:
      return simple(tools, run_natural);
    case StageId::newton:
      return simple(tools, [](StageTools& t, StageContext& c, const Budget& budget, From from) {
        return run_newton(t, c, budget, from, {});
      });
    case StageId::pile_glance:
      return std::make_unique<PileSweeps>(true);
    case StageId::pile:
      return std::make_unique<PileSweeps>(false);
    case StageId::path:
      return simple(tools, run_path);
    case StageId::point:
      return simple(tools, [](StageTools& t, StageContext& c, const Budget& budget, From from) {
        return c.monitor.run(t.point, budget, from);
      });
    case StageId::convex:
      return std::make_unique<SolverStage>(
          make_canal({.beta = 30.0, .growth = 2.0, .inner = 0.3, .stall = 30}));
    case StageId::patient_convex:
      return std::make_unique<SolverStage>(make_canal({.beta = 1.0, .growth = 2.0}));
    case StageId::admm:
      return std::make_unique<SolverStage>(make_admm());
    case StageId::afresh:
      return simple(tools, [](StageTools& t, StageContext& c, const Budget& budget, From) {
        Vector zero = Vector::Zero(c.problem.row_count());
        project_impulse(c.problem, zero);
        return c.monitor.run(t.newton, budget, zero);
      });
    case StageId::restarts:
      return simple(tools, run_restarts);
    default:  // proof
      return simple(tools, [](StageTools&, StageContext& c, const Budget& budget, From) {
        return c.monitor.prove_infeasible(budget.factor_flops);
      });
  }
}

}  // namespace tribo
