#include "tribo/linalg/block_jacobian.h"

#include <gtest/gtest.h>

#include "tests/support/dense_twin.h"

namespace tribo {
namespace {

class BlockJacobianProducts : public testing::TestWithParam<std::vector<Index>> {};

TEST_P(BlockJacobianProducts, AgreeWithTheDenseMatrix) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const test::BlockSystem system = test::random_system(seed, GetParam(), 12);
    const BlockJacobian& jacobian = system.jacobian;
    const Index dofs = system.mass.size(), rows = jacobian.row_count();
    const Matrix j = test::dense(jacobian, dofs);
    test::Random random(100 + seed);
    const Vector v = random.vector(dofs), lambda = random.vector(rows), weights = random.vector(rows);

    Vector u = Vector::Constant(rows, 1e30);  // must be overwritten
    jacobian.multiply(v, u);
    EXPECT_LT((u - j * v).norm(), 1e-13);

    const Vector f0 = random.vector(dofs);
    Vector f = f0;
    jacobian.add_transpose_product(lambda, f);
    EXPECT_LT((f - f0 - j.transpose() * lambda).norm(), 1e-13);

    Vector d = lambda;
    jacobian.subtract_weighted_product(v, weights, d);
    EXPECT_LT((d - (lambda - weights.cwiseProduct(j * v))).norm(), 1e-13);
    EXPECT_GT((d - lambda).norm(), 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, BlockJacobianProducts,
                         testing::Values(std::vector<Index>{6, 6, 6, 6}, std::vector<Index>{3, 6, 1, 9, 6},
                                         std::vector<Index>{7}));

TEST(BlockJacobian, KnowsItsStructure) {
  test::Random random(1);
  BlockJacobian jacobian;
  const Matrix a = random.matrix(3, 6), b = random.matrix(3, 2), c = random.matrix(1, 6);
  EXPECT_EQ(jacobian.add_group(3), 0);
  jacobian.add_piece(4, 10, a);
  jacobian.add_piece(1, 3, b);
  EXPECT_EQ(jacobian.add_group(3), 1);  // touches nothing: fixed against fixed
  EXPECT_EQ(jacobian.add_group(1), 2);
  jacobian.add_piece(4, 10, c);
  EXPECT_EQ(jacobian.group_count(), 3);
  EXPECT_EQ(jacobian.row_count(), 7);
  EXPECT_EQ(jacobian.row_start(2), 6);
  EXPECT_EQ(jacobian.rows(1), 3);
  EXPECT_EQ(jacobian.piece_count(), 3);
  EXPECT_EQ(jacobian.entry_count(), 18u + 6u + 6u);
  EXPECT_EQ(jacobian.piece_begin(1), jacobian.piece_end(1));
  EXPECT_EQ(jacobian.piece_tree(1), 1);
  EXPECT_EQ(jacobian.piece_dof(2), 10);
  EXPECT_EQ(Matrix(jacobian.piece(0, 0)), a);
  EXPECT_EQ(Matrix(jacobian.piece(0, 1)), b);
  EXPECT_EQ(Matrix(jacobian.piece(2, 2)), c);

  Vector u = Vector::Constant(7, 5.0);
  jacobian.multiply(random.vector(16), u);
  EXPECT_TRUE(u.segment<3>(3).isZero(0.0));  // a group without pieces gives zero, not what was there
}

}  // namespace
}  // namespace tribo
