// Piles in `auto`: which problems are some, that patches repair what is bad and nothing else, and that the stage ends
// where the certificate says so.
#include "tribo/solve/auto/pile_stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "tribo/generate/generators.h"
#include "tribo/problem/certificate.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/driver/loop_solver.h"
#include "tribo/solve/newton/alnewton_solver.h"
#include "tribo/solve/sweeps/nsgs_solver.h"

namespace tribo {
namespace {

ContactProblem scene(const char* name, Index bodies, double friction = 0.5) {
  GeneratorSettings settings;
  settings.bodies = bodies;
  settings.friction = friction;
  settings.seed = 2;
  return generate(name, settings);
}

TEST(PileStage, StacksAndSmallHeapsAreNoPiles) {
  EXPECT_TRUE(classify(scene("pile", 300), Law::exact, true).pile);
  EXPECT_FALSE(classify(scene("pile", 50), Law::exact, true).pile);
  EXPECT_TRUE(classify(scene("pile", 50), Law::exact, false).pile);
  EXPECT_FALSE(classify(scene("pile", 20), Law::exact, false).pile);
  EXPECT_FALSE(classify(scene("tower", 200), Law::exact, true).pile);
}

TEST(PileStage, CountsPairsOfBodies) {
  const ContactProblem tower = scene("tower", 20), pile = scene("pile", 50);
  const PairCount stacked = count_pairs(tower), heaped = count_pairs(pile);
  EXPECT_EQ(stacked.pairs, 19);  // the ground is no body
  EXPECT_EQ(stacked.repeated, 20 * 3);
  EXPECT_GT(heaped.pairs, pile.tree_count());
}

TEST(PileStage, SolvesAPileOfHundreds) {
  const ContactProblem problem = scene("pile", 300);
  Settings settings;
  settings.explain = true;
  Solution solution;
  const Report report = make_solver("auto")->solve(problem, settings, solution);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_LE(certify(problem, solution, Law::exact).error.value, settings.tolerance);
  Index iterations = 0, factorizations = 0;
  bool swept = false;
  for (const Stage& stage : report.stages) {
    swept = swept || stage.name == "nsgs";
    iterations += stage.iterations;
    factorizations += stage.factorizations;
    EXPECT_GE(stage.iterations, 0) << stage.name;
    EXPECT_GE(stage.factorizations, 0) << stage.name;
  }
  EXPECT_TRUE(swept);
  EXPECT_EQ(iterations, report.iterations);
  EXPECT_EQ(factorizations, report.factorizations);
}

Report solve_from_near(const ContactProblem& problem, double tolerance) {
  Settings settings;
  settings.explain = true;
  settings.tolerance = tolerance;
  settings.max_iterations = 500;
  Solution solution;
  const Vector start = Vector::Constant(problem.row_count(), 1e-3);
  return make_solver("auto")->solve(problem, settings, solution, &start);
}

Index place_of(const Report& report, std::string_view name) {
  const auto stage = std::find_if(report.stages.begin(), report.stages.end(),
                                  [name](const Stage& s) { return s.name == name; });
  return stage == report.stages.end() ? -1 : stage - report.stages.begin();
}

// What sweeps leave is taken up by an interior path and convex surrogates, unless there is no friction. Most contacts of
// the wall are bad after the first 25 sweeps.
TEST(PileStage, FrictionalPilesAreEndedFromAnInteriorPath) {
  const Report with = solve_from_near(scene("wall", 80), 1e-15);  // not to be had
  const Index sweeps = place_of(with, "nsgs");
  ASSERT_GE(sweeps, 0);
  EXPECT_EQ(with.stages[sweeps].iterations, 25);
  ASSERT_EQ(place_of(with, "ipm"), sweeps + 1);
  EXPECT_GT(with.stages[sweeps + 1].factorizations, 0);
  EXPECT_EQ(place_of(with, "canal"), sweeps + 2);
  EXPECT_LT(with.certificate.error.value, 1e-8);

  const Report without = solve_from_near(scene("wall", 80, 0.0), 1e-15);
  EXPECT_EQ(without.stages[place_of(without, "nsgs")].iterations, 100);
  EXPECT_EQ(place_of(without, "canal"), -1);
}

// A step of a simulation that cannot be solved ends after one last attempt, with what was found; from zero all methods
// have their turns again and again.
TEST(PileStage, AStepThatCannotBeSolvedEnds) {
  // Cheap factors, where surrogates have had their turn; expensive ones; and no friction.
  struct Case {
    Index bodies;
    double friction;
  };
  for (const Case& c : {Case{60, 0.5}, Case{300, 0.5}, Case{60, 0.0}}) {
    const ContactProblem problem = scene("pile", c.bodies, c.friction);
    Settings settings;
    settings.explain = true;
    Solution solution;
    const auto solver = make_solver("auto");
    ASSERT_EQ(solver->solve(problem, settings, solution).status, Status::converged);
    const Vector start = 1.01 * solution.impulse;
    settings.tolerance = 1e-18;  // below rounding
    const Report report = solver->solve(problem, settings, solution, &start);
    EXPECT_EQ(report.status, Status::stalled);
    EXPECT_LE(certify(problem, solution, Law::exact).error.value, 1e-6);
    EXPECT_EQ(report.stages.back().name, "alnewton") << c.bodies << " bodies, friction " << c.friction;
    const auto points = std::count_if(report.stages.begin(), report.stages.end(),
                                      [](const Stage& stage) { return stage.name == "ipm"; });
    EXPECT_LE(points, 2);
  }
}

// Few are bad where less is asked for, and contacts of spheres share no pairs: no reason to leave the sweeps.
TEST(PileStage, SweepsGoOnWhereTheyGetAhead) {
  const Report wall = solve_from_near(scene("wall", 80), 2e-3);
  const Index first = place_of(wall, "nsgs");
  ASSERT_GE(first, 0);
  EXPECT_EQ(wall.stages[first].iterations, 25);
  ASSERT_GT(wall.stages.size(), static_cast<std::size_t>(first) + 1);
  EXPECT_EQ(wall.stages[first + 1].name, "nsgs");

  const Report spheres = solve_from_near(scene("pile", 120), 1e-12);
  EXPECT_EQ(spheres.stages[place_of(spheres, "nsgs")].iterations, 100);
}

// Whether Newton may work on a whole pile is a matter of what one factorisation costs, known before it is made.
TEST(PileStage, NewtonGivesUpBeforeAnExpensiveFactorisation) {
  const ContactProblem problem = scene("pile", 120);
  AlNewton newton;
  Budget budget{.factor_flops = 1.0};
  LoopSolver solver("alnewton", [&](const ContactProblem&, Monitor& monitor) {
    monitor.run(newton, budget);
    return Status::stalled;
  });
  Settings settings;
  Solution solution;
  const Report refused = solver.solve(problem, settings, solution);
  EXPECT_EQ(refused.factorizations, 0);
  EXPECT_NE(refused.status, Status::converged);
  budget.factor_flops = newton.factor_flops();
  EXPECT_GT(budget.factor_flops, 0.0);
  EXPECT_EQ(solver.solve(problem, settings, solution).status, Status::converged);
}

// The stage itself, without what `auto` tries before it.
TEST(PileStage, EndsWhereTheCertificateSaysSo) {
  const ContactProblem problem = scene("pile", 300);
  const auto sweeps = make_solver("auto:large=1");
  Settings settings;
  settings.explain = true;
  Solution solution;
  const Report report = sweeps->solve(problem, settings, solution);
  EXPECT_EQ(report.status, Status::converged);
  for (const Stage& stage : report.stages)
    EXPECT_NE(stage.name, "admm") << "what follows a stage that failed";
}

// A solution spoilt at one contact: the patch around it is found and solved.
TEST(PatchSolver, RepairsWhereItIsBad) {
  const ContactProblem problem = scene("pile", 120);
  Settings settings;
  settings.tolerance = 1e-9;
  Solution solution;
  ASSERT_EQ(make_solver("auto")->solve(problem, settings, solution).status, Status::converged);
  const double size = solution.impulse.lpNorm<Eigen::Infinity>();
  const double allowed = 1e-7 * size;
  PatchSolver patches;
  patches.prepare(problem);
  ASSERT_EQ(patches.inspect(problem, Law::exact, solution.impulse, allowed), 0);

  Vector impulse = solution.impulse;
  Index spoilt = 0;
  while (problem.kind(spoilt) != ConstraintKind::contact || impulse[problem.row(spoilt) + 2] < 0.05 * size)
    ++spoilt;
  impulse[problem.row(spoilt) + 2] *= 1.001;
  const Index bad = patches.inspect(problem, Law::exact, impulse, allowed);
  ASSERT_GT(bad, 0);
  ASSERT_LT(bad, problem.constraint_count() / 2);
  const double before = patches.worst();
  const PatchSolver::Outcome outcome = patches.solve(
      problem, settings, {.allowed = allowed, .overlap = 2, .factorizations = 200}, 0.1 * allowed, impulse);
  EXPECT_GT(outcome.patches, 0);
  patches.inspect(problem, Law::exact, impulse, allowed);
  EXPECT_LT(patches.worst(), 0.01 * before);
}

// What is swept after patches: the bad ones, all that share a body with them, and nothing twice.
TEST(PatchSolver, SurroundingsOfWhatIsBad) {
  const ContactProblem problem = scene("pile", 120);
  const Vector impulse = Vector::Zero(problem.row_count());
  PatchSolver patches;
  patches.prepare(problem);
  patches.inspect(problem, Law::exact, impulse, 0.0);
  const double allowed = 0.9 * patches.worst();
  const Index bad = patches.inspect(problem, Law::exact, impulse, allowed);
  const auto alone = patches.around_bad(problem, allowed, 0);
  ASSERT_EQ(static_cast<Index>(alone.size()), bad);
  const std::vector<Index> core(alone.begin(), alone.end());
  const auto near = patches.around_bad(problem, allowed, 1);
  std::vector<bool> inside(problem.constraint_count(), false), expected(problem.constraint_count(), false);
  for (const Index i : near) inside[i] = true;
  const BlockJacobian& jacobian = problem.jacobian();
  const auto share_a_body = [&jacobian](Index a, Index b) {
    for (Index p = jacobian.piece_begin(a); p < jacobian.piece_end(a); ++p) {
      for (Index q = jacobian.piece_begin(b); q < jacobian.piece_end(b); ++q) {
        if (jacobian.piece_tree(p) == jacobian.piece_tree(q)) return true;
      }
    }
    return false;
  };
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (const Index k : core) expected[i] = expected[i] || share_a_body(i, k);
  }
  EXPECT_EQ(inside, expected);
  EXPECT_TRUE(std::is_sorted(near.begin(), near.end()));
  EXPECT_EQ(std::adjacent_find(near.begin(), near.end()), near.end());
}

// Sweeps over a part leave the impulses outside as they are and solve what is inside.
TEST(PileStage, SweepsOverAPart) {
  const ContactProblem problem = scene("pile", 60);
  const Index count = problem.constraint_count();
  std::vector<Index> part;
  for (Index i = count / 3; i < count / 2; ++i) part.push_back(i);
  Settings settings;
  settings.islands = false;
  settings.max_iterations = 3000;
  Vector start = Vector::Zero(problem.row_count());  // in the cones, or it would be moved there
  for (Index i = 0; i < count; ++i) start[problem.row(i) + problem.rows(i) - 1] = 1e-3;
  Nsgs nsgs({.accelerate = NsgsOptions::Acceleration::cg});
  LoopSolver solver("part", [&](const ContactProblem&, Monitor& monitor) {
    return nsgs.iterate(problem, monitor, {.only = part});
  });
  Solution solution;
  solver.solve(problem, settings, solution, &start);
  const Vector& impulse = nsgs.last_impulse();
  PatchSolver patches;
  patches.prepare(problem);
  const double allowed = 1e-9 * impulse.lpNorm<Eigen::Infinity>();
  patches.inspect(problem, Law::exact, impulse, allowed);
  const auto bad = patches.around_bad(problem, allowed, 0);
  for (Index i = 0; i < count; ++i) {
    const Index row = problem.row(i), rows = problem.rows(i);
    if (std::binary_search(part.begin(), part.end(), i)) {
      EXPECT_FALSE(std::binary_search(bad.begin(), bad.end(), i)) << i;
    } else {
      EXPECT_EQ(impulse.segment(row, rows), start.segment(row, rows)) << i;
    }
  }
}

// One constraint among others stands still after its first visit: nothing to divide by, and nothing that moves away.
TEST(PileStage, SweepsOfAPartThatStandsStill) {
  const ContactProblem problem = scene("pile", 60);
  Settings settings;
  settings.islands = false;
  settings.max_iterations = 40;
  Nsgs nsgs({.accelerate = NsgsOptions::Acceleration::cg});
  const Vector start = Vector::Zero(problem.row_count());
  for (Index i = 0; i < problem.constraint_count(); i += 7) {
    const std::vector<Index> part = {i};
    LoopSolver solver("part", [&](const ContactProblem&, Monitor& monitor) {
      return nsgs.iterate(problem, monitor, {.only = part});
    });
    Solution solution;
    solver.solve(problem, settings, solution, &start);
    EXPECT_TRUE(nsgs.last_impulse().allFinite()) << i;
  }
}

}  // namespace
}  // namespace tribo
