#include "tribo/solve/newton/stack_prediction.h"

#include <algorithm>
#include <cmath>

#include "tribo/problem/constraints.h"

namespace tribo {
namespace {

constexpr double kRestShare = 0.25;  // of the contacts, at rest: a stack
constexpr double kRest = 1e-6;       // normal velocity at rest, relative to the fastest free one
// Sticking.
constexpr double kStickBeta = 1e6;    // penalty
constexpr Index kStickSteps = 4;      // Newton steps, the first of which has all contacts at rest stick
constexpr double kStickGain = 1e-3;   // of the residual, every step
constexpr double kNaturalGain = 0.5;  // of the natural map, all of them
// Sliding. A stack carries its load once the penalty exceeds the square of its height times its mass ratio.
constexpr double kLoadBeta = 1e7;
constexpr double kHidden = 1.0;  // natural map of what is hidden from zero impulses, relative to what is seen
constexpr double kFirstBeta =
    0.1;  // penalty of the tangents; its growth from surrogate to surrogate, and after a failure
constexpr double kGrowth = 3.0;
constexpr double kGrowthAfterFailure = 2.0;
constexpr double kRecovery = 1.5;   // of the growth, per surrogate solved
constexpr Index kQuickSteps = 3;    // a surrogate that took more grows less
constexpr Index kSlidingSteps = 8;  // of one surrogate
constexpr Index kBacktracks = 20;   // halvings of a Newton step
constexpr Index kFailures = 3;      // surrogates in a row
constexpr double kAccuracy = 0.5;   // of a surrogate, relative to the natural map
constexpr double kReduction = 0.3;  // of its residual

// Whether a quarter of the contacts are at rest, their normals or all their rows.
bool has_rest(const ContactProblem& problem, bool all_rows) {
  if (problem.row_count() == 0) return false;
  const double rest = kRest * problem.free_velocity().lpNorm<Eigen::Infinity>();
  Index resting = 0;
  for_each_cone(problem, [&](auto cone) {
    const auto q = cone.get(problem.free_velocity());
    const double speed = all_rows ? q.cwiseAbs().maxCoeff() : std::abs(q[cone.kNormal]);
    if (speed <= rest) ++resting;
  });
  return static_cast<double>(resting) > kRestShare * static_cast<double>(problem.contact_count());
}

// Newton on the surrogate until the residual is below `target`; returns the steps made.
Index solve(AlSurrogate& surrogate, Monitor& monitor, double target, bool keep, Index most,
            double& residual) {
  Index steps = 0;
  if (keep && residual > target && surrogate.keep_step(residual, AlSurrogate::kChangedShare)) ++steps;
  bool ahead = true;
  for (; residual > target && ahead && steps < most; ++steps) {
    ahead = surrogate.newton_step(residual, kBacktracks);
  }
  for (Index k = 0; k < steps; ++k) monitor.count_factorization();
  return steps;
}

}  // namespace

bool is_stack(const ContactProblem& problem) { return has_rest(problem, false); }
bool is_still_stack(const ContactProblem& problem) { return has_rest(problem, true); }

bool predict_sticking(AlSurrogate& surrogate, Monitor& monitor, double accuracy, double& penalty) {
  const double before = surrogate.natural();
  surrogate.law().prepare(surrogate.problem(), kStickBeta);
  double residual = surrogate.residual();
  const double target = std::max(0.1 * accuracy * before, surrogate.rounding());
  bool ahead = true;
  for (Index k = 0; k < kStickSteps && ahead && residual > target; ++k) {
    const double last = residual;
    monitor.count_factorization();
    if (!surrogate.stick_step(k == 0 ? kRest * surrogate.fastest() : 0.0)) break;
    residual = surrogate.residual();
    ahead = residual <= kStickGain * last;
  }
  if (residual <= target) {
    surrogate.adopt(surrogate.trial());
    if (surrogate.natural() <= kNaturalGain * before) {
      penalty = 4.0 * kStickBeta;
      return true;
    }
  }
  surrogate.adopt(monitor.start());
  return false;
}

// The state goes on from surrogate to surrogate. Going back to the one that follows from the multipliers would cost
// the load: what Newton left of the residual, times the stiff penalty.
bool follow_sliding(AlSurrogate& surrogate, Monitor& monitor, Index factorizations, Index& outer) {
  const ContactProblem& problem = surrogate.problem();
  double beta = kFirstBeta, growth = kGrowth;
  const double visible = surrogate.natural();
  Index used = 1, failures = 0;
  surrogate.law().prepare_apart(problem, beta, kLoadBeta);
  surrogate.residual();
  monitor.count_factorization();
  bool first = true, ahead = surrogate.hold_step(kRest * surrogate.fastest());
  for (; ahead && outer <= monitor.iterations_left() && used < factorizations; ++outer) {
    surrogate.law().prepare_apart(problem, beta, std::max(beta, kLoadBeta));
    surrogate.system().remember();
    double residual = surrogate.residual();
    // From zero the natural map does not know the load yet.
    const double wanted =
        first ? kReduction * residual : std::min(kReduction * residual, kAccuracy * surrogate.natural());
    const double target = std::max(wanted, surrogate.rounding());
    const Index most = std::min(kSlidingSteps, factorizations - used);
    const Index steps = solve(surrogate, monitor, target, !first, most, residual);
    used += steps;
    if (monitor.out_of_time(outer)) return true;
    if (residual > target) {
      ahead = !first && ++failures < kFailures;
      surrogate.system().recall();
      surrogate.recentre_normals();
      growth = kGrowthAfterFailure;
      beta /= kGrowth;
      continue;
    }
    surrogate.adopt_trial();
    // No hidden load: nothing that growing penalties would not see by themselves.
    if (first && surrogate.natural() < kHidden * visible) break;
    if (monitor.check(outer, surrogate.multiplier(), beta)) return true;
    beta = std::min(beta * (steps <= kQuickSteps ? growth : std::sqrt(growth)), AlSurrogate::kHighestBeta);
    growth = std::min(kRecovery * growth, kGrowth);
    failures = 0;
    first = false;
  }
  surrogate.adopt(monitor.start());
  return false;
}

}  // namespace tribo
