#include "tribo/solve/newton/canal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tests/support/solver_checks.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/driver/loop_solver.h"
#include "tribo/solve/driver/monitor.h"

namespace tribo {
namespace {

using test::to;

ContactProblem scene(const char* kind, std::uint64_t seed, bool slide, double mass_ratio = 1.0,
                     double compliance = 0.0) {
  GeneratorSettings settings;
  settings.bodies = 8;
  settings.seed = seed;
  settings.slide = slide;
  settings.mass_ratio = mass_ratio;
  settings.compliance = compliance;
  return generate(kind, settings);
}

ContactProblem pile(Index bodies, double friction = 0.5) {
  GeneratorSettings settings;
  settings.bodies = bodies;
  settings.friction = friction;
  return generate("pile", settings);
}

TEST(Canal, PointOnSlope) { test::expect_points_on_slopes(*make_canal()); }

TEST(Canal, PrintedVariantOnEasyProblems) {
  for (const ContactProblem& problem :
       {test::cube_on_slope(0.2, 0.6), test::cube_on_slope(0.9, 0.6), scene("bolt", 1, true)}) {
    Solution solution, reference;
    const Report report = make_solver("canal:variant=printed")->solve(problem, to(1e-6), solution);
    ASSERT_EQ(report.status, Status::converged);
    EXPECT_LE(report.iterations, 30);
    ASSERT_EQ(make_canal()->solve(problem, to(1e-10), reference).status, Status::converged);
    EXPECT_LT((solution.velocity - reference.velocity).lpNorm<Eigen::Infinity>(), 1e-4);
  }
}

TEST(Canal, BoltAndDishesToLeesResidual) {
  for (const char* kind : {"bolt", "dishes"}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Solution solution;
      const ContactProblem problem = scene(kind, seed, seed % 2 == 1);
      const Report report = make_canal()->solve(problem, to(1e-8), solution);
      EXPECT_EQ(report.status, Status::converged) << kind << " " << seed;
      EXPECT_LE(certify(problem, solution).lee_residual, 1e-8) << kind << " " << seed;
    }
  }
}

TEST(Canal, TowersWithMassRatios) {
  for (const double ratio : {1.0, 1e4}) {
    for (const bool slide : {false, true}) {
      Solution solution;
      EXPECT_EQ(make_canal()->solve(scene("tower", 0, slide, ratio), to(1e-7), solution).status,
                Status::converged)
          << ratio << " " << slide;
    }
  }
}

// The lag alone, without corrector, has the same fixed points.
TEST(Canal, CascadeAloneReachesTheSameVelocities) {
  for (const ContactProblem& problem : {test::all_kinds(3, 0.5), scene("bolt", 3, true)}) {
    Solution with, without;
    ASSERT_EQ(make_canal()->solve(problem, to(1e-10), with).status, Status::converged);
    ASSERT_EQ(make_solver("canal:corrector=off,beta=1e5")->solve(problem, to(1e-10), without).status,
              Status::converged);
    EXPECT_LT((with.velocity - without.velocity).lpNorm<Eigen::Infinity>(), 1e-7);
  }
}

TEST(Canal, AllKindsAgreeWithADenseReferenceAndAdmm) { test::expect_all_kinds(*make_canal(), "admm"); }

// Infinite bounds, frictionless contacts, unequal tangential compliance, rigid and soft rows together.
TEST(Canal, MixedProblems) {
  for (const unsigned seed : {1u, 2u, 3u, 4u, 5u}) {
    const ContactProblem problem = test::mixed_problem(seed);
    for (const Law law : {Law::exact, Law::convex}) {
      Solution solution, by_admm;
      ASSERT_EQ(make_canal()->solve(problem, to(1e-10, law), solution).status, Status::converged) << seed;
      ASSERT_EQ(make_solver("admm")->solve(problem, to(1e-10, law), by_admm).status, Status::converged);
      EXPECT_LT((solution.velocity - by_admm.velocity).lpNorm<Eigen::Infinity>(), 1e-7) << seed;
    }
  }
}

TEST(Canal, ConvexLawAgreesWithSap) {
  for (const char* kind : {"tower", "dishes", "bolt"}) {
    const ContactProblem problem = scene(kind, 2, true, 1.0, 1e-3);
    Solution solution, by_sap;
    ASSERT_EQ(make_canal()->solve(problem, to(1e-11, Law::convex), solution).status, Status::converged)
        << kind;
    ASSERT_EQ(make_solver("sap")->solve(problem, to(1e-11, Law::convex), by_sap).status, Status::converged);
    EXPECT_LT((solution.velocity - by_sap.velocity).lpNorm<Eigen::Infinity>(), 1e-8) << kind;
  }
}

TEST(Canal, UnsymmetricMatrix) {
  for (const unsigned seed : {36u, 37u}) {
    const ContactProblem problem = test::lifted_problem(seed, 0.05);
    ASSERT_FALSE(problem.is_symmetric());
    for (const Law law : {Law::exact, Law::convex}) {
      Solution solution, by_nsgs;
      ASSERT_EQ(make_canal()->solve(problem, to(1e-10, law), solution).status, Status::converged);
      ASSERT_EQ(make_solver("nsgs")->solve(problem, to(1e-10, law), by_nsgs).status, Status::converged);
      EXPECT_LT((solution.impulse - by_nsgs.impulse).norm(), 1e-7);
    }
  }
}

TEST(Canal, WarmStartSavesNewtonSteps) {
  const ContactProblem problem = scene("dishes", 4, true);
  GeneratorSettings settings;
  settings.seed = 4;
  settings.slide = true;
  settings.friction = 0.299;  // nearly the same problem
  const ContactProblem next = generate("dishes", settings);
  const auto solver = make_canal();
  Solution solution, again;
  ASSERT_EQ(solver->solve(problem, to(1e-8), solution).status, Status::converged);
  const Report cold = solver->solve(next, to(1e-8), again);
  const Report warm = solver->solve(next, to(1e-8), again, &solution.impulse);
  EXPECT_EQ(warm.status, Status::converged);
  EXPECT_LT(warm.factorizations, cold.factorizations);
}

// Next to a solution it does not go back to the convex minimiser, which is far from where bodies slide; and the skew
// part of W is in its first shifts. Without: 17 and 5 factorisations.
TEST(Canal, TrustsAStartThatIsKnown) {
  struct Case {
    ContactProblem problem;
    Index most;
  };
  for (const Case& c : {Case{scene("dishes", 4, true), 8}, Case{test::lifted_problem(31, 0.2), 3}}) {
    const auto solver = make_canal();
    Solution solution, again;
    ASSERT_EQ(solver->solve(c.problem, to(1e-11), solution).status, Status::converged);
    const Vector start = (1.0 + 1e-6) * solution.impulse;
    const Report report = solver->solve(c.problem, to(1e-9), again, &start);
    EXPECT_EQ(report.status, Status::converged);
    EXPECT_LE(report.factorizations, c.most);
  }
}

// Two opposing walls that approach each other: no impulse stops the body.
TEST(Canal, ContradictionsAreNotSolved) {
  ContactProblemBuilder builder;
  const Index body = builder.add_tree(Matrix::Identity(1, 1), Vector::Zero(1));
  builder.add_unilateral(std::vector<JacobianPiece>{{body, Matrix::Constant(1, 1, 1.0)}}, -1.0);
  builder.add_unilateral(std::vector<JacobianPiece>{{body, Matrix::Constant(1, 1, -1.0)}}, -1.0);
  const ContactProblem problem = builder.build();
  for (const char* spec : {"canal", "canal:variant=printed", "canal:corrector=off", "canal:growth=2"}) {
    Solution solution;
    const Report report = make_solver(spec)->solve(problem, to(1e-6), solution);
    EXPECT_NE(report.status, Status::converged) << spec;
    EXPECT_TRUE(solution.impulse.allFinite());
  }
}

// Older factors save factorisations of a pile, and lead to a solution as good.
TEST(Canal, FactorsServeSeveralSteps) {
  const ContactProblem problem = pile(150);
  Solution solution;
  const Report fresh = make_solver("canal:reuse=off")->solve(problem, to(1e-8), solution);
  const Report reused = make_solver("canal")->solve(problem, to(1e-8), solution);
  ASSERT_EQ(fresh.status, Status::converged);
  ASSERT_EQ(reused.status, Status::converged);
  EXPECT_LT(reused.factorizations, 0.8 * fresh.factorizations);
  EXPECT_LE(certify(problem, solution).error.value, 1e-8);
}

// ... but never those of another problem: islands meet solvers in an order that depends on the threads.
TEST(Canal, WhatWasSolvedBeforeLeavesNoTrace) {
  // The same structure, nearly the same matrices.
  const ContactProblem other = pile(150, 0.5), problem = pile(150, 0.50005);
  constexpr const char* kSpec = "canal:growth=1";
  const auto used = make_solver(kSpec);
  Solution before, expected, solution;
  ASSERT_EQ(used->solve(other, to(1e-6), before).status, Status::converged);
  const Vector start = before.impulse;
  ASSERT_EQ(make_solver(kSpec)->solve(problem, to(1e-8), expected, &start).status, Status::converged);
  ASSERT_EQ(used->solve(problem, to(1e-8), solution, &start).status, Status::converged);
  EXPECT_EQ(solution.impulse, expected.impulse);
}

TEST(Canal, GivesUpWhenItsBudgetIsSpent) {
  const ContactProblem problem = pile(60);
  Solution solution;
  const Report free = make_solver("canal")->solve(problem, to(1e-8), solution);
  ASSERT_EQ(free.status, Status::converged);
  ASSERT_GT(free.factorizations, 20);
  LoopSolver five("canal", [](const ContactProblem&, Monitor& monitor) {
    monitor.run(*make_canal(), {.factorizations = 5});
    return Status::iteration_limit;
  });
  const Report cut = five.solve(problem, to(1e-8), solution);
  EXPECT_EQ(cut.status, Status::iteration_limit);
  EXPECT_LT(cut.factorizations, 25);  // the last strict Newton may take a few more
  EXPECT_TRUE(solution.impulse.allFinite());
}

}  // namespace
}  // namespace tribo
