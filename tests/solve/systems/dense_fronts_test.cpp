#include "tribo/solve/systems/dense_fronts.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <vector>

#include "tests/support/random.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo {
namespace {

constexpr Index kBase = 6, kLimbs = 4, kJoints = 6, kDofs = kBase + kLimbs * kJoints;

// A base with four limbs: a row with bounds per joint, which touches the base and the joints before it, and two contacts
// at the end of each limb; `bridge` adds a contact of two limbs.
ContactProblem robot(bool bridge) {
  ContactProblemBuilder builder;
  test::Random random(7);
  builder.add_tree(Matrix::Identity(kDofs, kDofs), random.vector(kDofs));
  const auto fill = [&](Matrix& j, Index limb, Index joints) {
    j.leftCols(kBase) = random.matrix(static_cast<Index>(j.rows()), kBase);
    j.middleCols(kBase + limb * kJoints, joints) = random.matrix(static_cast<Index>(j.rows()), joints);
  };
  for (Index limb = 0; limb < kLimbs; ++limb) {
    for (Index k = 1; k <= kJoints; ++k) {
      Matrix j = Matrix::Zero(1, kDofs);
      fill(j, limb, k);
      const JacobianPiece piece{0, j};
      builder.add_box(-1.0, 1.0, {&piece, 1});
    }
    for (int c = 0; c < 2; ++c) {
      Matrix j = Matrix::Zero(3, kDofs);
      fill(j, limb, kJoints);
      builder.add_contact(0.5, {{0, j}});
    }
  }
  if (bridge) {
    Matrix j = Matrix::Zero(3, kDofs);
    fill(j, 0, kJoints);
    fill(j, 2, kJoints);
    builder.add_contact(0.5, {{0, j}});
  }
  return builder.build();
}

// Positive definite but not symmetric; every fifth constraint open.
GroupBlocks derivatives(const ContactProblem& problem, test::Random& random) {
  GroupBlocks all(problem.constraint_count());
  for (Index i = 0; i < all.size(); ++i) all[i].setZero();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (i % 5 == 4) continue;
    Mat3 a;
    for (int c = 0; c < 3; ++c) a.col(c) = random.vec3();
    all[i] = a * a.transpose() + Mat3::Identity();
    all[i](0, 2) += 0.5;
  }
  return all;
}

Matrix dense_matrix(const ContactProblem& problem, const DenseWhitenedJacobian& whitened,
                    const GroupBlocks& d) {
  Matrix h = Matrix::Identity(whitened.dofs(), whitened.dofs());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index rows = problem.rows(i);
    const Matrix x = whitened.matrix().middleCols(problem.row(i), rows);
    h += x * d[i].topLeftCorner(rows, rows) * x.transpose();
  }
  return h;
}

TEST(DenseFronts, MultiplyAsTheWholeMatrix) {
  for (const bool bridge : {false, true}) {
    const ContactProblem problem = robot(bridge);
    DenseWhitenedJacobian whitened;
    whitened.assemble(problem);
    DenseFronts fronts;
    ASSERT_TRUE(fronts.assemble(problem, whitened));
    test::Random random(1);
    const Vector impulse = random.vector(problem.row_count()), y = random.vector(kDofs);
    Vector target = y, u;
    fronts.add_impulses(impulse, -1.0, target);
    EXPECT_LE((target - (y - whitened.matrix() * impulse)).norm(), 1e-13 * target.norm());
    fronts.multiply_transposed(y, u);
    EXPECT_LE((u - whitened.matrix().transpose() * y).norm(), 1e-13 * u.norm());
  }
}

TEST(DenseFronts, SolveAsTheWholeMatrix) {
  for (const bool bridge : {false, true}) {
    const ContactProblem problem = robot(bridge);
    DenseWhitenedJacobian whitened;
    whitened.assemble(problem);
    DenseFronts fronts;
    ASSERT_TRUE(fronts.assemble(problem, whitened));
    test::Random random(2);
    GroupBlocks d = derivatives(problem, random);
    const Vector r = random.vector(kDofs);
    Vector x = r;
    ASSERT_TRUE(fronts.factorize(d));
    fronts.solve_in_place(x.data());
    const Vector expected = dense_matrix(problem, whitened, d).lu().solve(r);
    EXPECT_LE((x - expected).norm(), 1e-11 * expected.norm());

    const std::vector<Index> changed{1, 4, 7};  // one opens, one closes, a contact slides
    d[1].setZero();
    d[4] = 3.0 * Mat3::Identity();
    d[7].col(0).setZero();
    Vector again = r;
    ASSERT_TRUE(fronts.factorize_again(d, changed));
    fronts.solve_in_place(again.data());
    const Vector other = dense_matrix(problem, whitened, d).lu().solve(r);
    EXPECT_LE((again - other).norm(), 1e-11 * other.norm());
    EXPECT_GT((other - expected).norm(), 1e-3 * other.norm());
  }
}

// What was assembled before leaves no trace, and neither does a problem that is not worth it.
TEST(DenseFronts, ForgetTheLastProblem) {
  const ContactProblem with = robot(true), without = robot(false);
  DenseWhitenedJacobian whitened, other;
  whitened.assemble(without);
  other.assemble(with);
  DenseFronts fresh, used;
  ASSERT_TRUE(used.assemble(with, other));
  ASSERT_TRUE(used.assemble(without, whitened));
  ASSERT_TRUE(used.assemble(without, whitened));
  ASSERT_TRUE(fresh.assemble(without, whitened));
  test::Random random(3);
  const GroupBlocks d = derivatives(without, random);
  Vector a = random.vector(kDofs), b = a;
  ASSERT_TRUE(used.factorize(d));
  ASSERT_TRUE(fresh.factorize(d));
  used.solve_in_place(a.data());
  fresh.solve_in_place(b.data());
  EXPECT_EQ(a, b);

  ContactProblemBuilder builder;  // every constraint touches everything
  builder.add_tree(Matrix::Identity(kDofs, kDofs), random.vector(kDofs));
  for (int c = 0; c < 8; ++c) builder.add_contact(0.5, {{0, random.matrix(3, kDofs)}});
  const ContactProblem full = builder.build();
  DenseWhitenedJacobian whole;
  whole.assemble(full);
  EXPECT_FALSE(used.assemble(full, whole));
}

}  // namespace
}  // namespace tribo
