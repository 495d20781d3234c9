#include "tribo/linalg/block_matrix.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/random.h"

namespace tribo {
namespace {

struct Sample {
  BlockMatrix matrix;
  Matrix dense;
};

// Scalar triplets in random order, about a third of them at places already taken.
Sample random_sample(unsigned seed, const std::vector<Index>& starts, Index count) {
  test::Random random(seed);
  const Index n = starts.back();
  Sample sample;
  sample.dense = Matrix::Zero(n, n);
  std::vector<ScalarTriplet> triplets;
  for (Index k = 0; k < count; ++k) {
    ScalarTriplet t{static_cast<Index>(random.uniform(0.0, n - 1e-9)),
                    static_cast<Index>(random.uniform(0.0, n - 1e-9)), random.uniform()};
    if (k % 3 == 2) {
      const std::size_t old = triplets.size() / 2;
      t.row = triplets[old].row;
      t.col = triplets[old].col;
    }
    triplets.push_back(t);
    sample.dense(t.row, t.col) += t.value;
  }
  sample.matrix = BlockMatrix::from_triplets(starts, triplets);
  return sample;
}

TEST(BlockMatrix, TripletsAddUp) {
  const std::vector<Index> starts{0, 3, 4};
  const std::vector<ScalarTriplet> triplets{{3, 0, 2.0}, {0, 0, 1.0}, {3, 0, 0.5}, {1, 2, -1.0}, {0, 0, 4.0}};
  const BlockMatrix matrix = BlockMatrix::from_triplets(starts, triplets);
  Matrix expected = Matrix::Zero(4, 4);
  expected(0, 0) = 5.0;
  expected(1, 2) = -1.0;
  expected(3, 0) = 2.5;
  EXPECT_EQ(matrix.to_dense(), expected);
  EXPECT_EQ(matrix.block_count(), 3);  // both diagonal blocks and (1, 0); nothing at (0, 1)
}

TEST(BlockMatrix, RandomMatricesMultiplyLikeDenseOnes) {
  const std::vector<std::vector<Index>> layouts{
      {0, 3, 6, 9, 12, 15}, {0, 1, 2, 3}, {0, 3, 4, 7, 8, 9, 12, 15, 16}};
  for (const std::vector<Index>& starts : layouts) {
    for (unsigned seed = 0; seed < 8; ++seed) {
      const Sample sample = random_sample(seed, starts, 4 * starts.back());
      const BlockMatrix& w = sample.matrix;
      ASSERT_EQ(w.size(), starts.back());
      EXPECT_LT((w.to_dense() - sample.dense).cwiseAbs().maxCoeff(), 1e-15);
      test::Random random(50 + seed);
      const Vector x = random.vector(w.size());
      Vector y = Vector::Constant(w.size(), 1e30);
      w.multiply(x, y);
      EXPECT_LT((y - sample.dense * x).norm(), 1e-13);
      for (Index g = 0; g < w.group_count(); ++g) {
        EXPECT_EQ(w.column(w.diagonal(g)), g);
        for (Index k = w.row_begin(g) + 1; k < w.row_end(g); ++k) EXPECT_LT(w.column(k - 1), w.column(k));
        Vector row(w.rows(g));
        w.multiply_row(g, x.data(), row.data());
        EXPECT_LT((row - y.segment(w.start(g), w.rows(g))).norm(), 1e-15);
      }
    }
  }
}

TEST(BlockMatrix, AsymmetryIsTheLargestDifference) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const Sample sample = random_sample(seed, {0, 3, 4, 7, 10}, 60);
    const double expected =
        (sample.dense - sample.dense.transpose()).cwiseAbs().maxCoeff() / sample.dense.cwiseAbs().maxCoeff();
    EXPECT_NEAR(sample.matrix.asymmetry(), expected, 1e-14);
  }
  // A block without a partner counts in full.
  const std::vector<ScalarTriplet> lone{{0, 0, 4.0}, {0, 1, 1.0}};
  EXPECT_DOUBLE_EQ(BlockMatrix::from_triplets({0, 1, 2}, lone).asymmetry(), 0.25);
  const std::vector<ScalarTriplet> pair{{0, 0, 4.0}, {0, 1, 1.0}, {1, 0, 1.0}};
  EXPECT_EQ(BlockMatrix::from_triplets({0, 1, 2}, pair).asymmetry(), 0.0);
  EXPECT_EQ(BlockMatrix::from_triplets({0, 3}, {}).asymmetry(), 0.0);
}

TEST(BlockMatrix, FindsValuesThatAreNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const std::vector<ScalarTriplet> triplets{{0, 0, 1.0}, {2, 3, bad}};
    EXPECT_FALSE(BlockMatrix::from_triplets({0, 3, 4}, triplets).all_finite());
  }
  EXPECT_TRUE(random_sample(1, {0, 3, 6}, 20).matrix.all_finite());
}

TEST(BlockMatrix, Empty) {
  EXPECT_EQ(BlockMatrix().size(), 0);
  EXPECT_EQ(BlockMatrix().group_count(), 0);
  const BlockMatrix none = BlockMatrix::from_triplets({0}, {});
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.block_count(), 0);
  Vector nothing;
  none.multiply(Vector(), nothing);
}

TEST(BlockMatrix, PatternIsZeroUntilWritten) {
  BlockMatrix matrix = BlockMatrix::from_pattern({0, 3, 4}, {{0, 1}, {1}});
  EXPECT_TRUE(matrix.to_dense().isZero(0.0));
  matrix.mutable_block(0, 1) << 1.0, 2.0, 3.0;
  EXPECT_EQ(matrix.to_dense()(2, 3), 3.0);
  EXPECT_EQ(matrix.to_dense()(3, 2), 0.0);
}

}  // namespace
}  // namespace tribo
