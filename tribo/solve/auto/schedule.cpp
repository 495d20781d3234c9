#include "tribo/solve/auto/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tribo {
namespace {

using Context = const StageContext&;
using From = Monitor::From;

// Piles above this many constraints are left to sweeps and patches: Newton on the whole costs more per body the larger
// they are; where contacts share pairs of bodies it has more choices and needs more steps.
constexpr Index kLargestWhole = 5000, kLargestRedundantWhole = 1500;
// Outer iterations of the Newton methods; their factorisations are what counts.
constexpr Index kNewtonIterations = 80, kConvexIterations = 120, kPatientIterations = 600;
constexpr Index kPatience = 15;  // times the usual factorisations, where nothing else is left to try
constexpr Index kRestartIterations = 400, kRestartConstraints = 30, kRestartFactors = 150;
// A Newton method takes about so many factorisations: sweeps may have their time.
constexpr double kUsualFactors = 60.0;
// The last attempt at a step of a simulation may cost so many sweeps; the next step has another chance.
constexpr double kLastAttempt = 60000.0;
constexpr double kWideSpread = 1e2, kSlidingShare = 0.1;

// ---- When. ----

bool always(Context) { return true; }
bool is_small_start(Context c) {
  return c.traits.tiny && (c.traits.cold || c.traits.single || c.traits.explicit_w);
}
bool may_factorize(Context c) { return c.traits.constraints <= c.options.large; }
bool is_dense(Context c) { return c.traits.dense && !is_small_start(c); }
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
// The central path does not mind mass ratios where contacts slide, which is where Newton needs many steps.
bool slides_with_mass_ratios(Context c) {
  return is_hard_and_factorizes(c) && scale_spread(c.problem) > kWideSpread &&
         sliding_share(c.problem, c.monitor.best()) > kSlidingShare;
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
Budget some_factors(Context c) {
  return {.iterations = kNewtonIterations, .factorizations = c.options.some_factors};
}
Budget some_or_few(Context c) {
  return c.traits.constraints <= c.options.few ? some_factors(c) : few_factors(c);
}
Budget many_factors(Context c) {
  return {.iterations = kNewtonIterations, .factorizations = c.options.many_factors};
}
Budget more_factors(Context) { return {.iterations = 2 * kNewtonIterations}; }
Budget pile_factors(Context c) {
  return {.iterations = kNewtonIterations,
          .factorizations = c.options.many_factors,
          .factor_flops = c.options.cheap_factor * c.traits.sweep_flops};
}
Budget path(Context c) {
  return {.iterations = c.options.path_iterations,
          .factor_flops = c.options.cheap_factor * c.traits.sweep_flops};
}
Budget convex(Context c) {
  return {.iterations = kConvexIterations, .factorizations = c.options.many_factors};
}
Budget patient_convex(Context c) {
  return {.iterations = kPatientIterations, .factorizations = kPatience * c.options.many_factors};
}
Budget point(Context c) { return {.iterations = c.options.point_iterations}; }
Budget admm(Context c) { return {.iterations = c.options.admm_iterations}; }
Budget more_admm(Context c) {
  return {.iterations = may_factorize(c) ? std::max<Index>(500, 2 * c.options.admm_iterations)
                                         : std::numeric_limits<Index>::max()};
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
          .factorizations = std::min(last_factors(c), 3 * c.options.many_factors)};
}

constexpr std::array kSchedule = {
    // Few constraints: nothing is worth setting up.
    ScheduleRow{StageId::tiny_sweeps, From::best, is_small_start, tiny_sweeps, "a body on the ground"},
    ScheduleRow{StageId::proof, From::best, is_small_start, cheap_proof, "or is there no solution?"},
    ScheduleRow{StageId::newton, From::best, is_small_start, many_factors, "what sweeps do not solve"},
    // Stacks from zero, whatever their height; others give up before anything is factorised.
    ScheduleRow{StageId::stack, From::start,
                [](Context c) { return c.traits.cold && !is_small_start(c) && may_factorize(c); },
                some_factors, "stacks, at rest or sliding"},
    // Few trees: a factorisation costs a few sweeps.
    ScheduleRow{StageId::dense_sweeps, From::best, [](Context c) { return is_dense(c) && !c.is_near(); },
                warm_sweeps, "a robot whose contacts have changed"},
    ScheduleRow{StageId::newton_here, From::best, is_dense, some_factors, "a robot on the ground"},
    ScheduleRow{StageId::proof, From::best, is_dense, cheap_proof, "or is there no solution?"},
    // From the impulses of a step before.
    ScheduleRow{StageId::sweeps, From::best,
                [](Context c) { return is_warm(c) && !c.traits.pile && !c.is_near(); }, warm_sweeps,
                "a step whose contacts have changed"},
    ScheduleRow{StageId::newton_here, From::best,
                [](Context c) { return is_warm(c) && (!c.traits.pile || c.is_near()); }, some_or_few,
                "a step like the one before"},
    // Piles.
    ScheduleRow{StageId::pile_glance, From::best, is_whole_pile, none, "piles that sweeps solve at once"},
    ScheduleRow{StageId::proof, From::best, is_whole_pile, cheap_proof, "or is there no solution?"},
    ScheduleRow{StageId::path, From::best, is_frictional_pile, path,
                "friction: Newton circles from what sweeps leave, a path gets near"},
    ScheduleRow{StageId::convex, From::best,
                [](Context c) { return is_frictional_pile(c) && has_cheap_factors(c); }, convex,
                "and convex surrogates end from there"},
    ScheduleRow{StageId::newton_here, From::best,
                [](Context c) { return is_whole_pile(c) && !is_frictional_pile(c); }, pile_factors,
                "piles without friction, wide rather than deep"},
    ScheduleRow{StageId::point, From::start,
                [](Context c) { return is_whole_pile(c) && has_cheap_factors(c); }, point,
                "piles that Newton does not solve"},
    ScheduleRow{StageId::pile, From::best, [](Context c) { return c.traits.pile; }, none,
                "sweeps, and Newton where they do not get ahead"},
    // A pile of a simulation: one more attempt, as long as its factorisations are worth their time.
    ScheduleRow{StageId::more_sweeps, From::best, is_step_of_pile, promised_sweeps, "a pile on its way"},
    ScheduleRow{StageId::admm, From::start, is_step_of_pile, admm, "a pile on its way"},
    ScheduleRow{
        StageId::convex, From::best,
        [](Context c) { return is_step_of_pile(c) && c.traits.frictional && !c.has_tried(StageId::convex); },
        last_attempt, "a pile on its way"},
    ScheduleRow{StageId::newton_here, From::best, is_step_of_pile, last_attempt, "a pile on its way"},
    // All that is left.
    ScheduleRow{StageId::more_sweeps, From::best,
                [](Context c) { return is_hard(c) && !is_left_to_sweeps(c); }, promised_sweeps,
                "loose contacts"},
    ScheduleRow{StageId::proof, From::best, always, cheap_proof, "or is there no solution?"},
    ScheduleRow{StageId::admm, From::start, [](Context c) { return is_hard(c) && !is_left_to_sweeps(c); },
                admm, "moderate accuracy"},
    ScheduleRow{StageId::point, From::start,
                [](Context c) { return slides_with_mass_ratios(c) && !c.has_tried(StageId::point); }, point,
                "sliding under mass ratios"},
    ScheduleRow{
        StageId::more_sweeps, From::best,
        [](Context c) { return is_hard_and_factorizes(c) && sweeps_of_newton(c) > 8.0 * kUsualFactors; },
        sweeps_of_newton_budget, "where a factorisation costs many sweeps"},
    ScheduleRow{StageId::newton, From::best, is_hard_and_factorizes, many_factors, "high accuracy"},
    ScheduleRow{StageId::convex, From::start,
                [](Context c) {
                  return is_hard_and_factorizes(c) && c.traits.frictional && !c.has_tried(StageId::convex);
                },
                convex, "where Newton on the exact law circles"},
    ScheduleRow{StageId::point, From::start,
                [](Context c) { return is_hard_and_factorizes(c) && !c.has_tried(StageId::point); }, point,
                "mass ratios"},
    ScheduleRow{StageId::admm, From::best, [](Context c) { return is_hard(c) && !is_left_to_sweeps(c); },
                more_admm, "with more patience"},
    ScheduleRow{StageId::newton, From::best, is_hard_and_factorizes, more_factors, "with more patience"},
    ScheduleRow{StageId::patient_convex, From::start,
                [](Context c) { return c.traits.cold && is_hard_and_factorizes(c) && c.traits.frictional; },
                patient_convex, "deep piles of high friction and mass ratio"},
    ScheduleRow{StageId::restarts, From::start,
                [](Context c) {
                  return c.traits.cold && c.traits.frictional && c.traits.constraints <= kRestartConstraints;
                },
                restarts, "jammed: from elsewhere"},
};

}  // namespace

std::span<const ScheduleRow> auto_schedule() { return kSchedule; }

}  // namespace tribo
