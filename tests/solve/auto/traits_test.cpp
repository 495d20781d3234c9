// What problems are taken for: one example each.
#include "tribo/solve/auto/traits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/small_problems.h"
#include "tribo/generate/generators.h"
#include "tribo/solve/auto/schedule.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

ContactProblem scene(const char* kind, Index bodies, double friction = 0.5) {
  GeneratorSettings settings;
  settings.bodies = bodies;
  settings.friction = friction;
  return generate(kind, settings);
}

// A robot of `dofs` degrees of freedom with contacts.
ContactProblem robot(Index dofs, Index contacts) {
  ContactProblemBuilder builder;
  const Index tree = builder.add_tree(Matrix::Identity(dofs, dofs), -Vector::Ones(dofs));
  for (Index k = 0; k < contacts; ++k) {
    Matrix block = Matrix::Zero(3, dofs);
    for (Index r = 0; r < 3; ++r) block(r, (3 * k + r) % dofs) = 1.0;
    builder.add_contact(0.5, {{tree, block}});
  }
  return builder.build();
}

TEST(ProblemTraits, Tiny) {
  EXPECT_TRUE(classify(test::cube_on_slope(0.3, 0.5), Law::exact, true).tiny);
  EXPECT_TRUE(classify(test::point_on_slope(0.3, 0.5), Law::exact, true).single);
  EXPECT_FALSE(classify(test::cube_on_slope(0.3, 0.5), Law::exact, true).single);
  EXPECT_FALSE(classify(scene("pile", 60), Law::exact, true).tiny);
}

TEST(ProblemTraits, DenseIsFewTrees) {
  const ProblemTraits traits = classify(robot(30, 10), Law::exact, false);
  EXPECT_TRUE(traits.dense);
  EXPECT_TRUE(traits.robots);
  EXPECT_FALSE(traits.pile);
  EXPECT_FALSE(classify(scene("pile", 60), Law::exact, true).dense);
}

TEST(ProblemTraits, FrictionCountsUnderTheExactLawOnly) {
  EXPECT_TRUE(classify(scene("pile", 60), Law::exact, true).frictional);
  EXPECT_FALSE(classify(scene("pile", 60), Law::convex, true).frictional);
  EXPECT_FALSE(classify(scene("pile", 60, 0.0), Law::exact, true).frictional);
}

TEST(ProblemTraits, TowersAreChainsAndPilesAreNot) {
  const ProblemTraits tower = classify(scene("tower", 20), Law::exact, true);
  EXPECT_TRUE(tower.chain);
  EXPECT_FALSE(tower.pile);
  EXPECT_TRUE(tower.redundant);  // four contacts between two boxes
  const ProblemTraits pile = classify(scene("pile", 300), Law::exact, true);
  EXPECT_FALSE(pile.chain);
  EXPECT_TRUE(pile.pile);
  EXPECT_FALSE(pile.redundant);  // spheres touch at one point
}

// Boxes touch at several points, balls at one; from zero Newton does better for longer.
TEST(ProblemTraits, SmallPilesOfBoxesAreNoneFromZero) {
  const ContactProblem wall = scene("wall", 80);
  EXPECT_TRUE(classify(wall, Law::exact, true).redundant);
  EXPECT_TRUE(classify(wall, Law::exact, false).pile);
  EXPECT_FALSE(classify(wall, Law::exact, true).pile);
}

TEST(ProblemTraits, SpreadOfScales) {
  GeneratorSettings settings;
  settings.bodies = 5;
  EXPECT_LT(scale_spread(generate("tower", settings)), 10.0);
  settings.mass_ratio = 1e4;
  EXPECT_GT(scale_spread(generate("tower", settings)), 1e2);
}

TEST(ProblemTraits, SlidingShare) {
  const ContactProblem problem = robot(12, 2);
  Vector impulse = Vector::Zero(6);
  EXPECT_EQ(sliding_share(problem, impulse), 0.0);
  impulse[0] = 0.5;
  impulse[2] = 1.0;  // on the cone of mu = 0.5
  impulse[5] = 1.0;  // inside
  EXPECT_EQ(sliding_share(problem, impulse), 0.5);
}

// Every row says what it is there for, and can be left out.
TEST(Schedule, EveryRowCanBeLeftOut) {
  const ContactProblem problem = scene("wall", 12);
  Index number = 0;
  for (const ScheduleRow& row : auto_schedule()) {
    EXPECT_FALSE(row.purpose.empty());
    Solution solution;
    const auto solver = make_auto({.skip = ++number});
    EXPECT_EQ(solver->solve(problem, {}, solution).status, Status::converged) << number;
  }
}

// What is left out does not run: without the stack's stage a tower takes another one.
TEST(Schedule, LeftOutIsLeftOut) {
  const ContactProblem problem = scene("tower", 30);
  Index number = 0, stack = 0;
  for (const ScheduleRow& row : auto_schedule()) {
    ++number;
    if (row.stage == StageId::stack) stack = number;
  }
  Settings settings;
  settings.explain = true;
  Solution solution;
  const Report with = make_auto()->solve(problem, settings, solution);
  ASSERT_EQ(with.stages.size(), 1u);
  EXPECT_EQ(with.stages.front().name, "alnewton");
  const Report without = make_auto({.skip = stack})->solve(problem, settings, solution);
  EXPECT_EQ(without.status, Status::converged);
  EXPECT_EQ(without.stages.front().name, "nsgs");
}

}  // namespace
}  // namespace tribo
