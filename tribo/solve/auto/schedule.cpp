#include "tribo/solve/auto/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tribo/solve/auto/tuning.h"

namespace tribo {
namespace {

using Context = const StageContext&;
using From = Monitor::From;
using namespace tuning;

// ---- When. ----

bool always(Context) { return true; }
bool is_small_start(Context c) {
  return c.traits.tiny && (c.traits.cold || c.traits.single || c.traits.explicit_w);
}
bool may_factorize(Context c) { return c.traits.constraints <= c.options.large; }
bool is_dense(Context c) { return c.traits.dense && !is_small_start(c); }
// Every contact of a body that bends moves all others: how far sweeps get depends on the load, not on their number, while
// Newton's methods take as many steps for any.
bool is_flexible(Context c) { return c.traits.flexible && !is_small_start(c) && may_factorize(c); }
bool is_warm(Context c) { return !c.traits.cold && !c.traits.dense && may_factorize(c); }
bool is_whole_pile(Context c) {
  return c.traits.pile && may_factorize(c) &&
         c.traits.constraints <= (c.traits.redundant ? kLargestRedundantWhole : kLargestWhole);
}
bool is_frictional_pile(Context c) { return is_whole_pile(c) && c.traits.frictional && !c.traits.robots; }
bool has_cheap_factors(Context c) { return c.factor_sweeps <= c.options.cheap_factor; }
// A pile too large for anything else, or one of a simulation, whose next step has another chance.
bool is_left_to_sweeps(Context c) { return c.traits.pile && c.traits.constraints > kLargestWhole; }
bool is_step_of_pile(Context c) { return c.traits.pile && !c.traits.cold && !is_left_to_sweeps(c); }
bool is_hard(Context c) { return !c.traits.pile || c.traits.cold; }
bool is_hard_and_factorizes(Context c) { return is_hard(c) && !is_left_to_sweeps(c) && may_factorize(c); }
bool may_have_full_rank(Context c) { return c.problem.row_count() <= c.problem.dof_count(); }
// The central path does not mind mass ratios where contacts slide, which is where Newton needs many steps.
bool slides_with_mass_ratios(Context c) {
  return is_hard_and_factorizes(c) && scale_spread(c.problem) > kWideSpread &&
         sliding_share(c.problem, c.monitor.best()) > kSlidingShare;
}
// Flexible bodies had a short turn of it only.
bool is_point_due(Context c) { return c.traits.flexible || !c.has_tried(StageId::point); }
// What else has failed; of the steps of a pile those with mass ratios, as long as the pile would be none from zero.
bool is_worth_patience(Context c) {
  const bool ends_step = is_step_of_pile(c) && c.traits.constraints <= kSmallestColdPile &&
                         scale_spread(c.problem) > kWideSpread;
  return c.traits.frictional && may_factorize(c) && (is_hard_and_factorizes(c) || ends_step);
}

// ---- With what. ----

Budget none(Context) { return {}; }
Budget cheap_proof(Context c) { return {.factor_flops = c.options.cheap_factor * c.traits.sweep_flops}; }
Budget tiny_sweeps(Context c) { return {.iterations = c.options.tiny_sweeps}; }
Budget warm_sweeps(Context c) { return {.iterations = c.options.warm_sweeps}; }
Budget promised_sweeps(Context c) { return {.iterations = c.options.promised_sweeps}; }
Budget few_factors(Context c) {
  return {.iterations = kNewtonIterations, .factorizations = c.options.few_factors};
}
Budget factors(Context c) { return {.iterations = kNewtonIterations, .factorizations = c.options.factors}; }
Budget few_or_usual_factors(Context c) {
  return c.traits.constraints <= c.options.few ? factors(c) : few_factors(c);
}
// Flexible bodies: sweeps may cost as much as the interior point after them, which is told from a tenth of them.
Budget sweeps_of_point(Context c) {
  return {.iterations = static_cast<Index>(std::min(kFlexibleFactors * c.traits.factor_sweeps, 1e6))};
}
Budget flexible_point(Context) {
  return {.iterations = static_cast<Index>(kUsualFactors),
          .factorizations = static_cast<Index>(kUsualFactors)};
}
Budget more_factors(Context) { return {.iterations = 2 * kNewtonIterations}; }
Budget path(Context c) {
  return {.iterations = c.options.path_iterations,
          .factor_flops = c.options.cheap_factor * c.traits.sweep_flops};
}
Budget convex(Context c) { return {.iterations = kConvexIterations, .factorizations = c.options.factors}; }
Budget patient_convex(Context c) {
  return {.iterations = kPatientIterations, .factorizations = kPatience * c.options.factors};
}
Budget point(Context c) { return {.iterations = c.options.point_iterations}; }
// Where nothing may be factorised again, it is the last method, and goes on.
Budget admm(Context c) {
  return {.iterations = may_factorize(c) ? c.options.admm_iterations : std::numeric_limits<Index>::max()};
}
Budget restarts(Context) { return {.iterations = kRestartIterations, .factorizations = kRestartFactors}; }
// What a Newton method would cost.
double sweeps_of_newton(Context c) {
  return std::min(c.monitor.factor_flops() / c.traits.sweep_flops * kUsualFactors, 1e6);
}
Budget sweeps_of_newton_budget(Context c) { return {.iterations = static_cast<Index>(sweeps_of_newton(c))}; }
Index last_factors(Context c) {
  const double flops = std::max(c.monitor.factor_flops() / c.traits.sweep_flops, c.factor_sweeps);
  return static_cast<Index>(kLastAttempt / std::max(flops, 1.0));
}
Budget last_attempt(Context c) {
  return {.iterations = kConvexIterations,
          .factorizations = std::min(last_factors(c), kLastFactors * c.options.factors)};
}

constexpr std::array kSchedule = {
    // Few constraints: nothing is worth setting up.
    ScheduleRow{StageId::tiny_sweeps, From::best, is_small_start, tiny_sweeps, "a body on the ground"},
    ScheduleRow{StageId::proof, From::best, is_small_start, cheap_proof, "or is there no solution?"},
    ScheduleRow{StageId::newton, From::best, is_small_start, factors, "what sweeps do not solve"},
    // Stacks from zero, whatever their height; others give up before anything is factorised.
    ScheduleRow{
        StageId::stack, From::start,
        [](Context c) { return c.traits.cold && !is_small_start(c) && may_factorize(c) && !is_flexible(c); },
        factors, "stacks, at rest or sliding"},
    // Few trees: a factorisation costs a few sweeps.
    ScheduleRow{StageId::dense_sweeps, From::best, [](Context c) { return is_dense(c) && !c.is_near(); },
                warm_sweeps, "a robot whose contacts have changed"},
    ScheduleRow{StageId::newton_here, From::best, is_dense, factors, "a robot on the ground"},
    ScheduleRow{StageId::proof, From::best, is_dense, cheap_proof, "or is there no solution?"},
    // Bodies that bend: all contacts of a body are coupled.
    ScheduleRow{StageId::newton_here, From::best,
                [](Context c) { return is_flexible(c) && !c.traits.cold && c.is_near(); }, few_factors,
                "a flexible body at rest"},
    ScheduleRow{StageId::more_sweeps, From::best, is_flexible, sweeps_of_point,
                "as long as they promise to be cheaper than Newton"},
    ScheduleRow{StageId::point, From::start, is_flexible, flexible_point, "bodies that are bent"},
    ScheduleRow{StageId::newton, From::best, is_flexible, factors, "where the path is long"},
    // From the impulses of a step before.
    ScheduleRow{StageId::sweeps, From::best,
                [](Context c) { return is_warm(c) && !c.traits.pile && !c.is_near(); }, warm_sweeps,
                "a step whose contacts have changed"},
    ScheduleRow{StageId::newton_here, From::best,
                [](Context c) { return is_warm(c) && (!c.traits.pile || c.is_near()); }, few_or_usual_factors,
                "a step like the one before"},
    // Piles.
    ScheduleRow{StageId::pile_glance, From::best, is_whole_pile, none, "piles that sweeps solve at once"},
    ScheduleRow{StageId::proof, From::best, is_whole_pile, cheap_proof, "or is there no solution?"},
    ScheduleRow{StageId::path, From::best, is_frictional_pile, path,
                "friction: Newton circles from what sweeps leave, a path gets near"},
    ScheduleRow{StageId::convex, From::best,
                [](Context c) { return is_frictional_pile(c) && has_cheap_factors(c); }, convex,
                "and convex surrogates end from there"},
    ScheduleRow{StageId::point, From::start,
                [](Context c) { return is_whole_pile(c) && has_cheap_factors(c); }, point,
                "piles that Newton does not solve"},
    ScheduleRow{StageId::pile, From::best, [](Context c) { return c.traits.pile; }, none,
                "sweeps, and Newton where they do not get ahead"},
    // A pile of a simulation: one more attempt, as long as its factorisations are worth their time.
    ScheduleRow{StageId::newton_here, From::best, is_step_of_pile, last_attempt,
                "a step of a simulated pile"},
    // All that is left.
    ScheduleRow{StageId::more_sweeps, From::best,
                [](Context c) { return is_hard(c) && !is_left_to_sweeps(c); }, promised_sweeps,
                "loose contacts"},
    ScheduleRow{StageId::proof, From::best, always, cheap_proof, "or is there no solution?"},
    ScheduleRow{StageId::natural, From::best,
                [](Context c) {
                  return c.traits.cold && !c.traits.pile && may_have_full_rank(c) &&
                         c.traits.constraints <= c.options.few;
                },
                few_factors, "chains, loose bodies: W of full rank is what Newton likes"},
    ScheduleRow{StageId::admm, From::start, [](Context c) { return is_hard(c) && !is_left_to_sweeps(c); },
                admm, "moderate accuracy"},
    ScheduleRow{StageId::point, From::start,
                [](Context c) { return slides_with_mass_ratios(c) && is_point_due(c); }, point,
                "sliding under mass ratios"},
    ScheduleRow{StageId::more_sweeps, From::best,
                [](Context c) {
                  return is_hard_and_factorizes(c) && sweeps_of_newton(c) > kCostlyFactor * kUsualFactors;
                },
                sweeps_of_newton_budget, "where a factorisation costs many sweeps"},
    ScheduleRow{StageId::newton, From::best, is_hard_and_factorizes, factors, "high accuracy"},
    ScheduleRow{StageId::point, From::start,
                [](Context c) { return is_hard_and_factorizes(c) && is_point_due(c); }, point, "mass ratios"},
    ScheduleRow{StageId::newton, From::best, is_hard_and_factorizes, more_factors, "with more patience"},
    ScheduleRow{StageId::afresh, From::start,
                [](Context c) { return !c.traits.cold && is_hard_and_factorizes(c); }, factors,
                "a step whose start misleads"},
    ScheduleRow{StageId::patient_convex, From::start, is_worth_patience, patient_convex,
                "deep piles of high friction and mass ratio"},
    ScheduleRow{StageId::restarts, From::start,
                [](Context c) {
                  return c.traits.cold && c.traits.frictional && c.traits.constraints <= kRestartConstraints;
                },
                restarts, "jammed: from elsewhere"},
};

}  // namespace

std::span<const ScheduleRow> auto_schedule() { return kSchedule; }

}  // namespace tribo
