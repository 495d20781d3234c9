#include "tribo/linalg/block_diagonal.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/support/dense_twin.h"
#include "tests/support/random.h"

namespace tribo {
namespace {

BlockDiagonal sample(unsigned seed) {
  test::Random random(seed);
  BlockDiagonal matrix;
  for (const Index size : {6, 1, 3, 6, 9, 2}) matrix.add_block(test::random_spd(random, size));
  return matrix;
}

TEST(BlockDiagonal, BlocksStandOneAfterTheOther) {
  const BlockDiagonal matrix = sample(1);
  EXPECT_EQ(matrix.block_count(), 6);
  EXPECT_EQ(matrix.size(), 27);
  EXPECT_EQ(matrix.block_start(3), 10);
  EXPECT_EQ(matrix.block_size(4), 9);
  BlockDiagonal empty;
  EXPECT_EQ(empty.block_count(), 0);
  EXPECT_EQ(empty.size(), 0);
}

TEST(BlockDiagonal, KeepsEntriesThatAreNotSymmetric) {
  test::Random random(2);
  BlockDiagonal matrix;
  const Matrix first = random.matrix(6, 6), second = random.matrix(4, 4);
  matrix.add_block(first);
  EXPECT_EQ(matrix.add_block(second), 1);
  EXPECT_EQ(Matrix(matrix.block(0)), first);
  EXPECT_EQ(Matrix(matrix.block(1)), second);
  const Vector x = random.vector(10);
  Vector y(10);
  matrix.multiply(x, y);
  EXPECT_LT((y - test::dense(matrix) * x).norm(), 1e-14);
}

TEST(BlockDiagonal, MultiplyOverwrites) {
  const BlockDiagonal matrix = sample(3);
  test::Random random(3);
  const Vector x = random.vector(matrix.size());
  Vector y = Vector::Constant(matrix.size(), 1e30);
  matrix.multiply(x, y);
  EXPECT_LT((y - test::dense(matrix) * x).norm(), 1e-12);
}

TEST(BlockDiagonal, UnitBlocksAreOnesAndAreKnownToBe) {
  BlockDiagonal matrix;
  EXPECT_TRUE(matrix.is_identity());
  EXPECT_EQ(matrix.add_identity(3), 0);
  EXPECT_EQ(matrix.add_identity(6), 1);
  EXPECT_TRUE(matrix.is_identity());
  EXPECT_EQ(test::dense(matrix), Matrix(Matrix::Identity(9, 9)));
  test::Random random(7);
  const Vector x = random.vector(9);
  Vector y = Vector::Constant(9, 1e30);
  matrix.multiply(x, y);
  EXPECT_EQ(y, x);
  BlockDiagonalCholesky factor;
  ASSERT_EQ(factor.factorize(matrix), BlockDiagonalCholesky::kSuccess);
  factor.solve_in_place(y);
  EXPECT_EQ(y, x);
  factor.solve_lower_in_place(y);
  EXPECT_EQ(y, x);

  // One other block, and it is no identity any more.
  matrix.add_block(4.0 * Matrix::Identity(2, 2));
  EXPECT_FALSE(matrix.is_identity());
  const Vector longer = random.vector(11);
  Vector product(11);
  matrix.multiply(longer, product);
  EXPECT_LT((product - test::dense(matrix) * longer).norm(), 1e-14);
  ASSERT_EQ(factor.factorize(matrix), BlockDiagonalCholesky::kSuccess);
  factor.solve_in_place(product);
  EXPECT_LT((product - longer).norm(), 1e-14);

  matrix.clear();
  EXPECT_TRUE(matrix.is_identity());
  matrix.add_block(4.0 * Matrix::Identity(2, 2));
  matrix.add_identity(3);
  EXPECT_FALSE(matrix.is_identity());
  EXPECT_EQ(Matrix(matrix.block(1)), Matrix(Matrix::Identity(3, 3)));

  // What is kept of unit blocks serves others in any order, and copies.
  matrix.clear();
  for (const Index size : {6, 2, 3, 6}) matrix.add_identity(size);
  const BlockDiagonal copy = matrix;
  EXPECT_EQ(test::dense(copy), Matrix(Matrix::Identity(17, 17)));
  ASSERT_EQ(factor.factorize(copy), BlockDiagonalCholesky::kSuccess);
  for (Index b = 0; b < 4; ++b) {
    const Index n = copy.block_size(b);
    EXPECT_EQ(Matrix(factor.lower(b)), Matrix(Matrix::Identity(n, n)));
  }
}

TEST(BlockDiagonalCholesky, SolvesLikeADenseFactor) {
  const BlockDiagonal matrix = sample(4);
  const Matrix a = test::dense(matrix);
  BlockDiagonalCholesky factor;
  ASSERT_EQ(factor.factorize(matrix), BlockDiagonalCholesky::kSuccess);
  EXPECT_EQ(factor.block_count(), matrix.block_count());
  EXPECT_EQ(factor.size(), matrix.size());
  test::Random random(4);
  const Vector rhs = random.vector(matrix.size());
  Vector x = rhs;
  factor.solve_in_place(x);
  EXPECT_LT((x - a.llt().solve(rhs)).norm(), 1e-13);
  for (Index b = 0; b < matrix.block_count(); ++b) {
    const Matrix lower = Matrix(factor.lower(b)).triangularView<Eigen::Lower>();
    EXPECT_LT((lower * lower.transpose() - matrix.block(b)).norm(), 1e-12);
    const Matrix columns = random.matrix(matrix.block_size(b), 3);
    Matrix solved = columns;
    factor.solve_block_in_place(b, solved);
    EXPECT_LT((matrix.block(b) * solved - columns).norm(), 1e-12);
  }
}

TEST(BlockDiagonalCholesky, NamesTheFirstBlockThatIsNotPositiveDefinite) {
  test::Random random(5);
  for (const Index size : {3, 6}) {
    for (const Index bad : {0, 2}) {
      BlockDiagonal matrix;
      for (Index b = 0; b < 4; ++b) {
        Matrix block = test::random_spd(random, size);
        if (b == bad || b == 3) block(size - 1, size - 1) = -1.0;
        matrix.add_block(block);
      }
      BlockDiagonalCholesky factor;
      EXPECT_EQ(factor.factorize(matrix), bad) << "size " << size;
    }
  }
}

TEST(BlockDiagonalCholesky, CanBeUsedAgain) {
  BlockDiagonalCholesky factor;
  for (unsigned seed = 6; seed < 9; ++seed) {
    const BlockDiagonal matrix = sample(seed);
    ASSERT_EQ(factor.factorize(matrix), BlockDiagonalCholesky::kSuccess);
    Vector x = Vector::Ones(matrix.size());
    factor.solve_in_place(x);
    EXPECT_LT((test::dense(matrix) * x - Vector::Ones(matrix.size())).norm(), 1e-12);
  }
}

// |L^-1 x|^2 = x . A^-1 x, for blocks of every way the substitution goes.
TEST(BlockDiagonalCholesky, HalfSolvesGiveTheNormOfTheInverse) {
  test::Random random(6);
  for (const Index size : {1, 2, 6, 27, 64, 65, 100}) {
    BlockDiagonal matrix;
    matrix.add_block(test::random_spd(random, 3));
    matrix.add_block(test::random_spd(random, size));
    BlockDiagonalCholesky factor;
    ASSERT_EQ(factor.factorize(matrix), BlockDiagonalCholesky::kSuccess);
    const Matrix a = test::dense(matrix);
    const Vector x = random.vector(matrix.size());
    Vector half = x, whole = x;
    factor.solve_lower_in_place(half);
    factor.solve_in_place(whole);
    const Vector reference = a.llt().solve(x);
    EXPECT_NEAR(half.squaredNorm(), x.dot(reference), 1e-11 * x.dot(reference)) << size;
    EXPECT_LT((whole - reference).norm(), 1e-11 * reference.norm()) << size;

    for (const Index columns : {1, 3, 4}) {
      const Matrix rows = random.matrix(size, columns);
      Matrix solved = rows;
      factor.solve_lower_block_in_place(1, solved);
      const Matrix block = matrix.block(1);
      const Matrix product = rows.transpose() * block.llt().solve(rows);
      EXPECT_LT((solved.transpose() * solved - product).norm(), 1e-11 * product.norm()) << size;
    }
  }
}

}  // namespace
}  // namespace tribo
