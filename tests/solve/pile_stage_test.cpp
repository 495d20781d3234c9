// Piles in `auto`: which problems are some, that patches repair what is bad and nothing else, and that the stage ends
// where the certificate says so.
#include "tribo/solve/pile_stage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tribo/problem/certificate.h"
#include "tribo/problem/generators.h"
#include "tribo/solve/alnewton.h"
#include "tribo/solve/catalogue.h"

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
  PileStage stage;
  EXPECT_TRUE(stage.fits(scene("pile", 300), true));
  EXPECT_FALSE(stage.fits(scene("pile", 50), true));
  EXPECT_FALSE(stage.fits(scene("tower", 200), true));
}

TEST(PileStage, SolvesAPileOfHundreds) {
  const ContactProblem problem = scene("pile", 300);
  Settings settings;
  settings.explain = true;
  Solution solution;
  const Report report = make_solver("auto")->solve(problem, settings, solution);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_LE(certify(problem, solution, Law::exact).error.value, settings.tolerance);
  bool swept = false;
  for (const Stage& stage : report.stages) swept = swept || stage.name == "nsgs";
  EXPECT_TRUE(swept);
}

// Boxes touch at several points, balls at one.
TEST(PileStage, SharedPairsBoundTheWholeEarlier) {
  PileStage stage;
  ASSERT_TRUE(stage.fits(scene("pile", 300), true));
  EXPECT_EQ(stage.largest_shallow(), PileStage::kLargestWhole);
  ASSERT_TRUE(stage.fits(scene("wall", 200), false));
  EXPECT_LT(stage.largest_shallow(), PileStage::kLargestWhole);
}

// What sweeps and a short Newton leave is taken up by convex surrogates, unless there is no friction.
TEST(PileStage, ConvexSurrogatesFollowNewton) {
  for (const double friction : {0.5, 0.0}) {
    const ContactProblem problem = scene("wall", 80, friction);
    Settings settings;
    settings.explain = true;
    settings.tolerance = 1e-15;  // not to be had
    settings.max_iterations = 500;
    Solution solution;
    const Vector start = Vector::Constant(problem.row_count(), 1e-3);
    const Report report = make_solver("auto")->solve(problem, settings, solution, &start);
    const bool convex = std::any_of(report.stages.begin(), report.stages.end(),
                                    [](const Stage& stage) { return stage.name == "canal"; });
    EXPECT_EQ(convex, friction > 0.0);
    EXPECT_LT(value_of(report.certificate, settings.measure), 1e-8);
  }
}

// Whether Newton may work on a whole pile is a matter of what one factorisation costs, known before it is made.
TEST(PileStage, NewtonGivesUpBeforeADearFactorisation) {
  const ContactProblem problem = scene("pile", 120);
  const auto newton = make_alnewton();
  Settings settings;
  Solution solution;
  set_plan(*newton, {.most_flops = 1.0});
  const Report refused = newton->solve(problem, settings, solution);
  EXPECT_EQ(refused.factorizations, 0);
  EXPECT_NE(refused.status, Status::converged);
  const double flops = factor_flops(*newton);
  EXPECT_GT(flops, 0.0);
  set_plan(*newton, {.most_flops = flops});
  EXPECT_EQ(newton->solve(problem, settings, solution).status, Status::converged);
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

}  // namespace
}  // namespace tribo
