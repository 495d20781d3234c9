// Primal-dual interior point for every set kind, both laws, rigid and compliant.
//
//   1. central path (solve/interior/ipm_path.h) from a cold or warm start until the error falls below `switch` or the
//      path makes no headway; under the exact law a path that is blocked is left for another start;
//   2. polish (solve/interior/polish.h) from the best iterate: the path ends at about 1e-7 where strict
//      complementarity fails (a contact that sticks on the edge of its cone), Newton on the law itself does
//      not notice;
//   3. where the path folds (the exact law is not monotone) proximal sub-problems, alpha >= 4e-4 scaled, each
//      with its own path, then the polish again.
//
// As a stage of others (follow_path()) it follows the path only, from the start given, and leaves it early.
//
// Cost: 8 to 30 iterations, one factorisation and two to four solves each, nearly independent of size, mass
// ratios and sliding. The reduced system has the sparsity of the bodies: a tower costs in proportion to its
// height.
#include "tribo/solve/interior/ipm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "tribo/solve/driver/scoped_interrupt.h"
#include "tribo/solve/interior/ipm_solver.h"
#include "tribo/solve/newton/stack_prediction.h"

namespace tribo {
namespace {

// First proximal weight of a polish: small enough for a few digits per step, large enough for redundant
// contacts; the polish adapts it.
constexpr double kPolishProximal = 1e-3;
// On the path a polish of so many steps is tried, the next one at this share of the error.
constexpr Index kProbeSteps = 4;
constexpr double kProbeInterval = 0.03;
// Proximal rounds: weights relative to w_i from the first to the last by a factor; mu at which a path ends; reduction of the
// error by a polish that moves the anchor.
constexpr double kFirstProximal = 1e-2, kLastProximal = 4e-4, kProximalFactor = 0.2;
constexpr double kProximalTarget = 1e-8;
constexpr double kPolishGain = 0.7;
// Up to so many constraints the centre is the better start: impulses need few steps to grow to their size.
constexpr Index kSmallProblem = 200;
// Sticking contacts of a stack at rest: stiff enough to carry the load to the top.
constexpr double kStackSticking = 1e5;

// follow_path(): distance from the boundary at which it begins, in scaled units; it ends after kPathBlocked steps in a row
// that are shorter than kPathBlockedStep.
constexpr double kPathMargin = 0.03, kPathBlockedStep = 0.2;
constexpr Index kPathBlocked = 2;
constexpr Index kBlocked = 4;  // steps in a row that short end a path where another start is left to try

RowSystem::Route route_of(IpmOptions::System system) {
  switch (system) {
    case IpmOptions::System::dofs:
      return RowSystem::Route::dofs;
    case IpmOptions::System::rows:
      return RowSystem::Route::rows;
    default:
      return RowSystem::Route::automatic;
  }
}

}  // namespace

std::vector<Option> describe(IpmOptions& o) {
  return {
      choice_option("system", "linear system: degrees of freedom, constraint rows, or by size", o.system,
                    {{0, "automatic"}, {1, "dofs"}, {2, "rows"}}),
      choice_option(
          "start",
          "cold start: all pairs at one, Mangoni (4.23), Mangoni (4.57), from sticking contacts; "
          "automatic: the first or second, where blocked the last; stacks at rest begin with the last",
          o.start, {{0, "automatic"}, {1, "centre"}, {2, "clamped"}, {3, "shifted"}, {4, "stick"}}),
      choice_option("warm",
                    "what is taken from a given impulse: impulses and velocities, velocities, nothing",
                    o.warm, {{0, "full"}, {1, "partial"}, {2, "none"}}),
      real_option("warm_margin", "how far inside its cone a warm start is pushed", "1", o.warm_margin, 1e-8,
                  10.0),
      real_option("step_back", "fraction of the distance to the boundary of the cones", "1", o.step_back, 0.5,
                  0.9999),
      flag_option("equal_steps", "one step length for impulses and velocities (always so with friction)",
                  o.equal_steps),
      integer_option("refinements", "corrections of every linear solve", o.refinements, 0, 10),
      integer_option("patience", "iterations without headway before the path is left", o.patience, 2, 1000),
      real_option("switch", "multiple of the tolerance at which a first short polish is tried", "1",
                  o.switch_error, 0.0, 1e12),
      flag_option("polish", "finish with a regularised Newton method on the law itself", o.polish),
      integer_option("polish_steps", "factorisations of one polish", o.polish_steps, 1, 10000),
      integer_option("proximal_rounds", "proximal sub-problems tried when the path is lost",
                     o.proximal_rounds, 0, 10000),
  };
}

Ipm::Ipm(const IpmOptions& options) : options_(options) {}

// True when the monitor has stopped.
bool Ipm::polish(const ContactProblem& problem, Monitor& monitor, const Vector& start, Index factorizations,
                 bool probe) {
  if (!options_.polish) return false;
  if (monitor.settings().law == Law::convex && !problem.has_delassus()) {
    return convex_polish_.run(problem, monitor, start, 1.0 / kPolishProximal, factorizations, iteration_);
  }
  return polish_.run(problem, monitor, path_.system(), path_.blocks(), start, kPolishProximal, factorizations,
                     probe, iteration_) == Polish::End::stopped;
}

std::span<const IpmOptions::Start> Ipm::starts(const ContactProblem& problem, Law law) const {
  using Start = IpmOptions::Start;
  static constexpr std::array kCentre = {Start::centre};
  static constexpr std::array kSmall = {Start::centre, Start::stick};
  static constexpr std::array kLarge = {Start::clamped, Start::stick};
  static constexpr std::array kStill = {Start::stick, Start::centre};
  if (options_.start != Start::automatic) return {&options_.start, 1};
  if (law == Law::convex || !problem.has_friction()) return kCentre;
  if (is_still_stack(problem)) return kStill;
  if (problem.constraint_count() <= kSmallProblem) return kSmall;
  return kLarge;
}

// True when the monitor has stopped.
bool Ipm::follow_from_starts(const ContactProblem& problem, Monitor& monitor) {
  const std::span<const IpmOptions::Start> all = starts(problem, monitor.settings().law);
  IpmPathOptions options{options_};
  const double usual = options.sticking;
  for (std::size_t k = 0; k < all.size(); ++k) {
    options.start = all[k];
    options.blocked_steps = k + 1 < all.size() ? kBlocked : 0;
    // The only start from sticking contacts that comes first is that of a stack.
    options.sticking = k == 0 && all.size() > 1 ? kStackSticking : usual;
    path_.start_cold(problem, options, monitor);
    if (follow(problem, options, monitor)) return true;
    if (exhausted(monitor)) return false;
  }
  return false;
}

// Follows the path to its end, trying a short polish from time to time; true when the monitor has stopped.
bool Ipm::follow(const ContactProblem& problem, const IpmPathOptions& options, Monitor& monitor) {
  double level = options_.switch_error * monitor.tolerance();
  for (;;) {
    const IpmPath::End end =
        path_.run(problem, options, monitor, level, iteration_, monitor.iterations_left());
    if (end == IpmPath::End::stopped) return true;
    if (end == IpmPath::End::blocked) return false;
    if (end != IpmPath::End::reached)
      return polish(problem, monitor, monitor.best(), options_.polish_steps, false);
    if (polish(problem, monitor, path_.impulse(), kProbeSteps, true)) return true;
    level = kProbeInterval * std::min(level, monitor.best_error());
  }
}

// Proximal point iterations whose sub-problems have no folds; true when the monitor has stopped.
bool Ipm::follow_proximal(const ContactProblem& problem, Monitor& monitor) {
  const IpmPathOptions options{options_};
  double alpha = kFirstProximal;
  anchor_ = monitor.best();
  for (Index round = 0; round < options_.proximal_rounds && !exhausted(monitor); ++round) {
    path_.set_proximal(problem, alpha, anchor_);
    path_.start_cold(problem, options, monitor);
    const IpmPath::End end =
        path_.run(problem, options, monitor, kProximalTarget, iteration_, monitor.iterations_left());
    if (end == IpmPath::End::stopped) return true;
    if (end != IpmPath::End::broken) anchor_ = path_.impulse();
    const double before = monitor.best_error();
    if (polish(problem, monitor, anchor_, options_.polish_steps, false)) return true;
    if (monitor.best_error() < kPolishGain * before) anchor_ = monitor.best();
    alpha = std::max(kProximalFactor * alpha, kLastProximal);
  }
  return false;
}

Status Ipm::follow_path(const ContactProblem& problem, Monitor& monitor, double target) {
  const ScopedInterrupt limit(monitor, path_.system());
  iteration_ = 0;
  path_.prepare(problem, monitor.settings().law, route_of(options_.system));
  flops_ = path_.system().analyze(problem, path_.is_symmetric(problem));
  if (!monitor.may_factorize(flops_) || monitor.best_error() <= target) return Status::stalled;
  IpmPathOptions options{options_};
  options.refinements = 0;  // far from the end of the path
  options.warm_margin = kPathMargin;
  options.blocked_step = kPathBlockedStep;
  options.blocked_steps = kPathBlocked;
  path_.start_warm(problem, options, monitor.start());
  const Index last = monitor.iterations_left();
  const IpmPath::End end = path_.run(problem, options, monitor, target, iteration_, last);
  if (end == IpmPath::End::stopped) return Status::converged;
  return iteration_ >= last ? Status::iteration_limit : Status::stalled;
}

Status Ipm::run(const ContactProblem& problem, Monitor& monitor) {
  const Law law = monitor.settings().law;
  const IpmPathOptions options{options_};
  iteration_ = 0;
  polish_.prepare(problem, law);
  if (law == Law::convex && !problem.has_delassus()) convex_polish_.prepare(problem);
  const bool warm = options_.warm != IpmOptions::Warm::none && !monitor.start().isZero(0.0);
  const RowSystem::Route first = route_of(options_.system);
  for (const RowSystem::Route route : {first, RowSystem::Route::rows}) {
    path_.prepare(problem, law, route);
    if (std::isfinite(monitor.factor_flops_allowed()) &&
        !monitor.may_factorize(path_.system().analyze(problem, path_.is_symmetric(problem)))) {
      return Status::stalled;
    }
    if (warm && route == first) {
      path_.start_warm(problem, options, monitor.start());
      if (follow(problem, options, monitor)) return Status::converged;
    }
    if (follow_from_starts(problem, monitor)) return Status::converged;
    if (path_.diverges(problem)) return Status::no_solution_suspected;
    // The rows keep more digits than the degrees of freedom: the same path once more through them.
    if (exhausted(monitor) || path_.system().route() == RowSystem::Route::rows) break;
  }
  if (follow_proximal(problem, monitor)) return Status::converged;
  if (path_.diverges(problem)) return Status::no_solution_suspected;
  return exhausted(monitor) ? Status::iteration_limit : Status::stalled;
}

Status Ipm::iterate(const ContactProblem& problem, Monitor& monitor) {
  const ScopedInterrupt limit(monitor, path_.system(), convex_polish_);
  return run(problem, monitor);
}

std::unique_ptr<Solver> make_ipm(const IpmOptions& options) { return std::make_unique<Ipm>(options); }

}  // namespace tribo
