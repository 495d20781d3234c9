#include "tribo/solve/systems/row_system.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "tests/support/dense_twin.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"

namespace tribo {
namespace {

// Positive definite in the sense of the symmetric part, as the Newton blocks are.
RowBlocks random_blocks(const ContactProblem& problem, unsigned seed, bool symmetric) {
  test::Random random(seed);
  RowBlocks blocks;
  blocks.resize(problem);
  blocks.symmetric = symmetric;
  blocks.weight.setOnes();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    Mat3 q = test::random_spd(random, 3);
    Mat3 p = Mat3::Identity();
    if (!symmetric) {
      p.row(2).head<2>() = 0.3 * random.vec2().transpose();
      q += random.matrix(3, 3) * 0.5;
    }
    if (problem.rows(i) == 1) {
      q = Mat3::Constant(q(0, 0));
      blocks.q_inverse[i].setConstant(1.0 / q(0, 0));
      blocks.d[i].setConstant(p(0, 0) / q(0, 0));
    } else {
      blocks.q_inverse[i] = q.inverse();
      blocks.d[i] = blocks.q_inverse[i] * p;
    }
    blocks.p[i] = p;
    blocks.q[i] = q;
  }
  return blocks;
}

void expect_solves(const ContactProblem& problem, RowSystem::Route route, bool symmetric, Index refinements) {
  const RowBlocks blocks = random_blocks(problem, 7, symmetric);
  const Matrix w = test::dense_delassus(problem);
  const Matrix p = test::dense_weights(problem.jacobian(), blocks.p);
  const Matrix q = test::dense_weights(problem.jacobian(), blocks.q);
  RowSystem system;
  system.prepare(problem, route);
  ASSERT_TRUE(system.factorize(problem, blocks));
  test::Random random(8);
  for (int k = 0; k < 3; ++k) {
    const Vector r = random.vector(problem.row_count());
    Vector x(problem.row_count());
    system.solve(problem, blocks, r, x, refinements);
    EXPECT_LT(((p * w + q) * x - r).norm(), 1e-10 * r.norm());
  }
}

TEST(RowSystem, BothRoutesSolveTheSameSystem) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const ContactProblem problem = test::mixed_problem(seed);
    for (const RowSystem::Route route : {RowSystem::Route::dofs, RowSystem::Route::rows}) {
      for (const bool symmetric : {true, false}) {
        for (const Index refinements : {0, 2}) expect_solves(problem, route, symmetric, refinements);
      }
    }
  }
}

TEST(RowSystem, ExplicitMatrixGoesThroughTheRows) {
  for (const double skew : {0.0, 0.3}) {
    const ContactProblem problem = test::lifted_problem(4, skew);
    RowSystem system;
    system.prepare(problem, RowSystem::Route::dofs);
    EXPECT_EQ(system.route(), RowSystem::Route::rows);
    expect_solves(problem, RowSystem::Route::automatic, skew == 0.0, 0);
  }
}

// What a factorisation costs is known before one is made: a Cholesky factor takes half of what an LU takes.
TEST(RowSystem, TellsWhatAFactorisationCosts) {
  const ContactProblem problem = test::mixed_problem(4);
  for (const RowSystem::Route route : {RowSystem::Route::dofs, RowSystem::Route::rows}) {
    RowSystem system;
    system.prepare(problem, route);
    const double unsymmetric = system.analyze(problem, false);
    EXPECT_GT(unsymmetric, 0.0);
    EXPECT_EQ(2.0 * system.analyze(problem, true), unsymmetric);
  }
}

// Stiffnesses of late iterations: refinement against the rows gives back what the difference loses.
TEST(RowSystem, RefinementRestoresDigits) {
  const ContactProblem problem = test::cube_on_slope(0.3, 0.5);
  RowBlocks blocks;
  blocks.resize(problem);
  blocks.weight.setOnes();
  blocks.symmetric = true;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    blocks.p[i].setIdentity();
    blocks.q[i] = 1e-7 * Mat3::Identity();
    blocks.q_inverse[i] = blocks.d[i] = 1e7 * Mat3::Identity();
  }
  const Matrix w = test::dense_delassus(problem);
  const Vector r = w * test::Random(3).vector(problem.row_count());
  RowSystem system;
  system.prepare(problem, RowSystem::Route::dofs);
  ASSERT_TRUE(system.factorize(problem, blocks));
  const auto residual = [&](Index refinements) {
    Vector x(problem.row_count());
    system.solve(problem, blocks, r, x, refinements);
    return (w * x + 1e-7 * x - r).norm() / r.norm();
  };
  const double rough = residual(0);
  EXPECT_GT(rough, 1e-13);
  EXPECT_LT(residual(2), 1e-2 * rough);
}

}  // namespace
}  // namespace tribo
