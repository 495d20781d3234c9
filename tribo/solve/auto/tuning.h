// All numbers of `auto`. AutoOptions: those of the schedule, which the caller may change. `tuning`: those of
// traits and stages, which are fixed. Each has its unit (1 where none is given), its meaning and, in brackets, the
// suite of bench/run.py that chose it. docs/solvers/auto.md says what it costs to change them.
#pragma once

#include "tribo/base/types.h"

namespace tribo {

struct AutoOptions {
  Index large = 20000;  // constraints of an island above which nothing is factorised [sim_scale]
  Index few = 200;      // constraints up to which a factorisation costs little [sim]

  Index tiny_sweeps = 30;      // sweeps of an island of up to five constraints [sim: clutter, dominos]
  Index warm_sweeps = 6;       // sweeps before Newton's method where a start is not near [robots]
  Index probe_sweeps = 6;      // sweeps whose rate tells whether more are worth it [problems]
  Index promised_sweeps = 60;  // sweeps within which they must promise the tolerance [problems]

  double near = 1e-2;  // error of a start below which contacts stick, slide and open as in it [sim: dominos]
  double very_near = 1e-5;  // error of a start with which hardly a contact changes [sim: stack, pyramid]
  double deep = 1e-4;       // error then aimed at, relative to the tolerance [sim: stack, pyramid]

  Index few_factors = 8;  // factorisations of a brief Newton method; its steps on the natural map [sim]
  Index factors =
      200;  // factorisations of a Newton method before another has its turn [collection, problems]
  Index admm_iterations = 40;    // iterations before the second-order methods [towers, problems]
  Index point_iterations = 150;  // iterations of the interior point [towers, problems]

  double cheap_factor = 150.0;  // sweeps that one factorisation of a pile may cost [sim: pile216]
  double path_target = 1e-4;    // error at which an interior path is left [sim: pile216]
  Index path_iterations = 22;   // iterations of an interior path [sim: pile216]

  Index restarts = 8;  // other starts of a small island [extremes]
  Index skip = 0;      // row of the schedule that is left out, 0: none; for ablations
};

namespace tuning {

// ---- What a problem is: traits.cpp, and conditions in schedule.cpp ----

// Multiply-adds of the visit of a constraint in a sweep, 40 ns [kernels].
inline constexpr double kVisitFlops = 200.0;
// Share of the coordinates from which on those of sparse trees say what a problem is like. A majority, not measured: a flexible
// body has hundreds of coordinates, a rigid one six, so that the share is hardly ever near it.
inline constexpr double kFlexibleShare = 0.5;
// Touching pairs per tree above which elimination fills in: a chain has one, a wall two, balls three [sim_scale].
inline constexpr double kPairsPerTree = 1.2;
// Share of constraints that are not the first of their pair: boxes on boxes have three quarters, balls none
// [sim_scale].
inline constexpr double kRedundantShare = 0.2;
// Constraints of the smallest pile: of a simulation [sim: clutter], from zero [problems: islands of 256 contacts].
inline constexpr Index kSmallestPile = 100, kSmallestColdPile = 300;
// Constraints up to which a pile is tried as a whole [sim_scale]; less where contacts share pairs of bodies, since
// Newton takes more steps there. Up to the latter such an island is no pile from zero [problems].
inline constexpr Index kLargestWhole = 5000, kLargestRedundantWhole = 1500;
// Ratio of the scales w_i and share of sliding contacts above which the central path does better than Newton
// [towers]. A contact slides from this share of its friction limit on.
inline constexpr double kWideSpread = 1e2, kSlidingShare = 0.1, kSliding = 0.999;
// Constraints up to which other starts are worth their time [extremes].
inline constexpr Index kRestartConstraints = 30;

// ---- Budgets: schedule.cpp ----

// Factorisations that Newton on the whole usually takes. Sweeps and patches in its place may cost as much [towers,
// sim_scale]; sweeps come first where a factorisation costs more than kCostlyFactor of them [problems].
inline constexpr double kUsualFactors = 60.0, kCostlyFactor = 8.0;
// Factorisations of an interior point on flexible bodies: as a rule 10 to 17 on steps of bending, cubes-fem and flexible-stack,
// whatever their mesh [flexible_peers].
inline constexpr double kFlexibleFactors = 16.0;
// Outer iterations of Newton's methods; as a rule their factorisations end them: one method, convex surrogates,
// the patient ones, a start from elsewhere [towers, extremes].
inline constexpr Index kNewtonIterations = 80, kConvexIterations = 120, kPatientIterations = 600,
                       kRestartIterations = 400;
// The last attempt at a step of a simulated pile: what it may cost in sweeps, and in multiples of
// AutoOptions::factors [sim: balls].
inline constexpr double kLastAttempt = 60000.0;
inline constexpr Index kLastFactors = 3;
// Patient surrogates, where nothing else is left to try: multiple of AutoOptions::factors [problems: wide/bin*].
inline constexpr Index kPatience = 15;
// Factorisations of a start from elsewhere, and how many times as many the first attempt gets [extremes].
inline constexpr Index kRestartFactors = 150, kRestartPatience = 13;

// ---- Newton and sweeps: stages.cpp ----

// Penalties beta of a known start: kStiffest very near [sim: stack]; else kPenaltyAtOne / sqrt(error), at least
// kSoftest [sim: dominos].
inline constexpr double kStiffest = 3e3, kPenaltyAtOne = 2.0, kSoftest = 30.0;
// Factorisations where the start itself meets the tolerance [sim: stack].
inline constexpr Index kPolishFactors = 6;
// Times that the rate of sweeps is looked at within their budget, at most [problems].
inline constexpr Index kProbes = 20;

// ---- Piles: pile_stage.cpp ----

// Sweeps of a round: with friction; without, where they converge by themselves; not accelerated [sim: pile216,
// balls].
inline constexpr Index kPileSweeps = 100, kMinimisingSweeps = 1000, kPlainSweeps = 400;
// Relaxation of plain sweeps that run in circles: factor of each round, and the least [sim_scale].
inline constexpr double kRelaxation = 0.8, kLowestRelaxation = 0.3;
// Sweeps in all: where no other method follows, the usual, and the brief stage, which ends after half of them if
// many constraints are bad and whose patches may cost a third of kUsualFactors [sim_scale; sim: clutter].
inline constexpr Index kBudgetAlone = 20000, kPileBudget = 6000, kBriefBudget = 600;
// Sweeps before the first look at a frictional pile, and the share of bad constraints that ends the stage there
// [sim: pile216].
inline constexpr Index kGlanceSweeps = 25;
inline constexpr double kGlanceShare = 0.55;
// Share of bad constraints below which patches do better than sweeps; where contacts share pairs [sim_scale].
inline constexpr double kFew = 0.02, kFewRedundant = 0.3;
// After patches: share of constraints up to which sweeps leave out the others, rings of neighbours around the bad
// ones, fewer where contacts share pairs [sim_scale].
inline constexpr double kLocalShare = 0.5;
inline constexpr Index kRings = 3, kRingsRedundant = 2;
// Sweeps of these where contacts share pairs; a round with patches counts for half of kPileSweeps at least
// [sim_scale].
inline constexpr Index kLocalSweeps = 10;
// Patches at first: constraints and factorisations; rounds after which both grow no more [sim_scale].
inline constexpr Index kPatch = 120, kPatchFactors = 20, kPatchGrowths = 6;
// Rounds of patches in a row that do not halve the error, after which other methods have their turn where there
// are some: rocks on a chute (1000 to 5000 contacts, many on each pair) are stuck from then on, and take Newton
// seconds [campaign].
inline constexpr Index kStuckRounds = 8;
// Errors relative to the tolerance: above the first a constraint is bad, patches aim at the second [sim_scale].
inline constexpr double kAllowed = 0.3, kPatchAccuracy = 0.1;

// ---- One patch: patches.cpp ----

// Penalty beta and outer iterations of Newton's method, which starts near a solution [sim_scale].
inline constexpr double kPatchBeta = 100.0;
inline constexpr Index kPatchIterations = 40;
// Tolerance relative to its own reference: the least that doubles allow, the most that is worth solving.
inline constexpr double kTightest = 1e-13, kLoosest = 1e-1;

// ---- Other starts: restarts.cpp ----

// Shares: of contacts without an impulse, of the others at the limit of friction, of constraints that change near
// the best iterate [extremes].
inline constexpr double kOpen = 0.3, kAtLimit = 0.5, kChanged = 0.3;

}  // namespace tuning
}  // namespace tribo
