#include "tribo/solve/systems/dense_whitened_jacobian.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tests/support/small_problems.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo {
namespace {

TEST(DenseWhitenedJacobian, IsAHalfOfTheDelassusMatrix) {
  const ContactProblem problem = test::all_kinds(4, 0.0, 4);
  DenseWhitenedJacobian half;
  half.assemble(problem);
  const Matrix w = test::dense_delassus(problem);
  EXPECT_LE((half.matrix().transpose() * half.matrix() - w).norm(), 1e-12 * w.norm());
}

TEST(DenseWhitenedJacobian, GivesTheVelocitiesOfTheProblem) {
  const ContactProblem problem = test::all_kinds(5, 0.2, 4);
  test::Random random(1);
  const Vector impulse = random.vector(problem.row_count());
  DenseWhitenedJacobian half;
  half.assemble(problem);
  Vector y = half.free(), u, v, expected;
  half.add_impulses(impulse, 1.0, y);
  half.velocity_of(y, u);
  problem.velocity_of(impulse, v, expected);
  EXPECT_LE((u - expected).norm(), 1e-11 * expected.norm());
}

// An arm of nine joints that is touched at the third and the fifth.
TEST(DenseWhitenedJacobian, LeavesOutWhatNothingTouches) {
  ContactProblemBuilder builder;
  test::Random random(2);
  const Vector momentum = random.vector(9);
  builder.add_tree(Matrix::Identity(9, 9), momentum);
  Matrix j = Matrix::Zero(3, 9);
  j.col(2) = random.vec3();
  j.col(4) = random.vec3();
  builder.add_contact(0.5, {{0, j}});
  const ContactProblem problem = builder.build();
  DenseWhitenedJacobian half;
  half.assemble(problem);
  ASSERT_EQ(half.dofs(), 2);
  EXPECT_EQ(half.free(), Vector(Eigen::Vector2d(momentum[2], momentum[4])));
  EXPECT_EQ(Matrix(half.matrix().row(1)), Matrix(j.col(4).transpose()));
}

}  // namespace
}  // namespace tribo
