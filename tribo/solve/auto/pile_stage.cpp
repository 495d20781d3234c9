#include "tribo/solve/auto/pile_stage.h"

#include <algorithm>
#include <limits>

#include "tribo/solve/auto/tuning.h"

namespace tribo {
namespace {

using namespace tuning;

// After so many rounds of patches.
void grow(PatchSolver::Plan& plan, Index rounds, Index largest) {
  plan.overlap += rounds % 2 == 0 ? 1 : 0;
  plan.largest = std::min(plan.largest + plan.largest / 2, largest);
  plan.factorizations += plan.factorizations / 2 + 1;
}

}  // namespace

PileStage::Allowance PileStage::allowance(Index count, PileEffort effort) {
  switch (effort) {
    case PileEffort::glance:
      return {kBriefBudget, kUsualFactors / 3.0 * static_cast<double>(count)};
    case PileEffort::usual:
      return {kPileBudget, kUsualFactors * static_cast<double>(count)};
    default:
      return {count > kLargestWhole ? kBudgetAlone : kPileBudget, std::numeric_limits<double>::infinity()};
  }
}

// What patches left, with its surroundings, is swept by itself: a few hard places must not cost sweeps of everything, or
// a step would cost more per body the larger the pile is.
void PileStage::plan_after_patches(const ContactProblem& problem, Law law, double allowed) {
  patches_.inspect(problem, law, impulse_, allowed);
  sweep_start_ = {.same_problem = true,
                  .only = patches_.around_bad(problem, allowed, redundant_ ? kRingsRedundant : kRings)};
  const std::size_t visits = sweep_start_.only.size();
  const bool local = visits > 0 && static_cast<double>(visits) <= kLocalShare * problem.constraint_count();
  if (!local) sweep_start_.only = {};
  count_ = redundant_ ? (local ? kLocalSweeps : kPileSweeps / 2) : kPileSweeps;
}

// Accelerated sweeps, plain ones where momentum carries the impulses round in circles, and Newton on the clusters where
// sweeps do not get ahead: in those left over at the end, or else in the worst of them. Patches, and what may be spent
// on them, grow from time to time.
bool PileStage::run(const ContactProblem& problem, const ProblemTraits& traits, Monitor& monitor,
                    PileEffort effort) {
  redundant_ = traits.redundant;
  const bool briefly = effort == PileEffort::glance;
  const bool glances = briefly && redundant_ && traits.frictional;
  sweep_start_ = {};
  impulse_ = monitor.best();
  patches_.prepare(problem);
  const double few = (redundant_ ? kFewRedundant : kFew) * problem.constraint_count();
  // Where it fills in, a patch of nearly everything costs as much as everything.
  const Index largest = effort == PileEffort::patient ? std::max(kPatch, problem.constraint_count() / 3)
                                                      : std::numeric_limits<Index>::max();
  PatchSolver::Plan plan{.overlap = 1, .largest = kPatch, .factorizations = kPatchFactors};
  double before = std::numeric_limits<double>::infinity();
  // A step of a simulation has no other method, but for one last attempt, and its next step to go on in.
  const bool others_follow = traits.cold && problem.constraint_count() <= kLargestWhole;
  double least = std::numeric_limits<double>::infinity();  // of the errors before patches
  Index spent = 0, patched = 0, stuck = 0;
  double relaxation = 1.0;
  bool plain = false;
  Allowance left = allowance(problem.constraint_count(), effort);
  count_ = glances                                ? kGlanceSweeps
           : problem.has_friction() || redundant_ ? kPileSweeps
                                                  : std::min(kMinimisingSweeps, left.sweeps);
  while (spent < left.sweeps && left.work > 0.0) {
    Status status = Status::stalled;
    const bool done = monitor.run_stage(sweeps_.name(), {.iterations = count_}, impulse_,
                                        [&] { status = sweeps_.iterate(problem, monitor, sweep_start_); });
    if (done) return true;
    if (status == Status::no_solution_suspected) return false;
    spent += patched > 0 ? std::max(count_, kPileSweeps / 2) : count_;
    impulse_ = sweeps_.last_impulse();
    const double target = monitor.tolerance(), allowed = kAllowed * target;
    const Index bad = patches_.inspect(problem, monitor.settings().law, impulse_, allowed);
    const double worst = patches_.worst();
    const bool is_local = static_cast<double>(bad) < few;
    const bool slow = worst > 0.5 * before;
    const bool circling = !is_local && !plain && !briefly && worst > before;
    if (briefly && !is_local && spent >= kBriefBudget / 2) return false;
    const bool first_look = glances && spent == kGlanceSweeps;
    if (first_look && bad > kGlanceShare * problem.constraint_count()) return false;
    if (circling || (!is_local && (!slow || briefly))) {
      if (circling) relaxation = std::max(kRelaxation * relaxation, kLowestRelaxation);
      plain = circling;
      count_ = plain ? kPlainSweeps : first_look ? kPileSweeps - kGlanceSweeps : 2 * kPileSweeps;
      before = worst;
      sweep_start_ = {
          .same_problem = true, .go_on = true, .relaxation = plain ? relaxation : 1.0, .plain = plain};
      continue;
    }
    stuck = worst <= 0.5 * least ? 0 : stuck + 1;
    if (stuck == 0) least = worst;
    if (others_follow && stuck > kStuckRounds) break;
    plan.allowed = is_local ? allowed : std::max(allowed, 0.1 * patches_.worst());
    monitor.run_stage("patches", {}, Monitor::From::best, [&] {
      const PatchSolver::Outcome outcome =
          patches_.solve(problem, monitor.settings(), plan, kPatchAccuracy * target, impulse_);
      left.work -= outcome.work;
      monitor.count_factorizations(outcome.factorizations);
    });
    if (patched++ < kPatchGrowths) grow(plan, patched, largest);
    before = std::numeric_limits<double>::infinity();
    plain = false;
    plan_after_patches(problem, monitor.settings().law, allowed);
  }
  return patched > 0 && monitor.check(0, impulse_);
}

}  // namespace tribo
