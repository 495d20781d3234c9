// What problems are taken for: one example each.
#include "tribo/solve/auto/traits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/dense_twin.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tests/support/sparse_samples.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/problem/islands.h"
#include "tribo/problem/sparse_trees.h"
#include "tribo/solve/auto/schedule.h"
#include "tribo/solve/auto/tuning.h"
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

// A problem that is given by W has J and A by factorisation: what they say of bodies means nothing.
TEST(ProblemTraits, ExplicitW) {
  const ContactProblem problem = test::lifted_problem(5, 0.0);
  const ProblemTraits traits = classify(problem, Law::exact, true);
  EXPECT_TRUE(traits.explicit_w);
  EXPECT_EQ(traits.constraints, problem.constraint_count());
  EXPECT_FALSE(traits.pile || traits.chain || traits.redundant);
  EXPECT_TRUE(classify(test::lifted_problem(5, 0.2), Law::exact, true).explicit_w);  // unsymmetric, too
  EXPECT_FALSE(classify(test::mixed_problem(5), Law::exact, true).explicit_w);
  EXPECT_FALSE(classify(scene("pile", 60), Law::exact, true).explicit_w);
}

// A sweep visits every constraint once, whatever it acts on; known before the kind of problem is.
TEST(ProblemTraits, SweepFlopsAreThoseOfVisits) {
  for (const ContactProblem& problem :
       {scene("tower", 20), scene("pile", 300), robot(30, 10), test::lifted_problem(5, 0.0)}) {
    const ProblemTraits traits = classify(problem, Law::exact, true);
    EXPECT_GT(traits.constraints, 0);
    EXPECT_EQ(traits.sweep_flops, tuning::kVisitFlops * static_cast<double>(problem.constraint_count()));
  }
  // At least the multiply-adds of a contact between two free bodies: J v and J^T, 36 each.
  EXPECT_GT(tuning::kVisitFlops, 72.0);
}

// Bodies that bend are known by their sparse trees; the copy of an island has dense ones.
TEST(ProblemTraits, FlexibleIsAMajorityOfSparseTrees) {
  const auto [sparse, dense] = test::soft_block(31);
  EXPECT_TRUE(classify(sparse, Law::exact, true).flexible);
  EXPECT_FALSE(classify(dense, Law::exact, true).flexible);
  EXPECT_FALSE(classify(robot(90, 20), Law::exact, true).flexible);
  Islands islands;
  islands.find(sparse, 0);
  ASSERT_GT(islands.count(), 1);  // the block with its load, a rigid body alone
  ContactProblem part;
  islands.extract(sparse, 0, part);
  EXPECT_FALSE(classify(part, Law::exact, true).flexible);
}

// A soft ball beside many rigid bodies does not decide.
TEST(ProblemTraits, AMinorityOfSparseTreesIsNotFlexible) {
  ContactProblemBuilder builder;
  test::Random random(33);
  const auto mass = test::lattice_mass(random, 3, 3, 3, 10.0);
  const Index soft = builder.add_sparse_tree(mass, random.vector(mass.rows()));
  builder.add_contact(0.5, {{soft, Mat3::Identity(), {}, 0}});
  for (int k = 0; k < 8; ++k) {
    const Index body = builder.add_tree(test::random_spd(random, 6), -Vector::Ones(6));
    builder.add_contact(0.5, {{body, random.matrix(3, 6)}});
  }
  EXPECT_FALSE(classify(builder.build(), Law::exact, true).flexible);
}

// A visit on a sparse tree moves all of its coordinates: twice the entries of J_i, counted here one by one.
TEST(ProblemTraits, SweepsOfFlexibleBodiesCostTheEntriesOfJ) {
  const ContactProblem problem = test::soft_block(32, 0.0, 5).sparse;
  const ProblemTraits traits = classify(problem, Law::exact, true);
  ASSERT_TRUE(traits.flexible);
  double flops = 0.0;
  const Matrix j = test::dense(problem.jacobian(), problem.dof_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    double entries = 0.0;
    for (Index t = 0; t < problem.tree_count(); ++t) {
      const auto block = j.block(problem.row(i), problem.mass().block_start(t), problem.rows(i),
                                 problem.mass().block_size(t));
      if (!block.isZero(0.0)) entries += static_cast<double>(block.size());
    }
    flops += std::max(tuning::kVisitFlops, 2.0 * entries);
  }
  EXPECT_DOUBLE_EQ(traits.sweep_flops, flops);
  EXPECT_GT(flops, tuning::kVisitFlops * static_cast<double>(problem.constraint_count()));
  const double size = std::min(j.rows(), j.cols());
  EXPECT_NEAR(traits.factor_sweeps * flops, size * size * size / 3.0, 1e-6 * size * size * size);
  EXPECT_EQ(classify(robot(90, 20), Law::exact, true).factor_sweeps, 0.0);
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
