#include "tribo/linalg/block_cholesky.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/support/random.h"

namespace tribo {
namespace {

using Pattern = std::vector<std::pair<Index, Index>>;

// A random positive definite matrix with blocks where the pattern has them.
struct Sample {
  std::vector<Index> sizes, start{0};
  Pattern pattern;
  Matrix dense;

  Sample(test::Random& random, std::vector<Index> block_sizes, Pattern edges)
      : sizes(std::move(block_sizes)), pattern(std::move(edges)) {
    for (const Index s : sizes) start.push_back(start.back() + s);
    dense = Matrix::Zero(start.back(), start.back());
    for (std::size_t b = 0; b < sizes.size(); ++b) {
      dense.block(start[b], start[b], sizes[b], sizes[b]) = test::random_spd(random, sizes[b]);
    }
    for (const auto& [i, j] : pattern) {
      if (dense.block(start[i], start[j], sizes[i], sizes[j]).norm() > 0.0) continue;  // repeated edge
      const Matrix block = random.matrix(sizes[i], sizes[j]);
      dense.block(start[i], start[j], sizes[i], sizes[j]) = block;
      dense.block(start[j], start[i], sizes[j], sizes[i]) = block.transpose();
    }
    const double shift = dense.rowwise().lpNorm<1>().maxCoeff();  // diagonally dominant
    dense.diagonal().array() += shift;
  }

  void fill(BlockCholesky& cholesky) const {
    cholesky.set_zero();
    for (std::size_t b = 0; b < sizes.size(); ++b) write(cholesky, b, b);
    for (const auto& [i, j] : pattern) write(cholesky, i, j);
  }

 private:
  using Target = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;

  void write(BlockCholesky& cholesky, Index i, Index j) const {
    const BlockCholesky::Slot slot = cholesky.find(i, j);
    const Matrix block = dense.block(start[i], start[j], sizes[i], sizes[j]);
    double* data = cholesky.data() + slot.offset;
    if (slot.transposed) {
      Target(data, sizes[j], sizes[i], Eigen::OuterStride<>(slot.stride)) = block.transpose();
    } else {
      Target(data, sizes[i], sizes[j], Eigen::OuterStride<>(slot.stride)) = block;
    }
  }
};

Pattern random_edges(test::Random& random, Index blocks, Index edges) {
  Pattern pattern;
  while (static_cast<Index>(pattern.size()) < edges) {
    const Index i = static_cast<Index>(random.uniform(0.0, blocks - 1e-9));
    const Index j = static_cast<Index>(random.uniform(0.0, blocks - 1e-9));
    if (i != j) pattern.emplace_back(i, j);  // in any order, some twice
  }
  return pattern;
}

void expect_solves(const Sample& sample, BlockCholesky& cholesky, test::Random& random) {
  sample.fill(cholesky);
  ASSERT_TRUE(cholesky.factorize());
  const Vector rhs = random.vector(sample.start.back());
  Vector x = rhs;
  cholesky.solve_in_place(x);
  EXPECT_LT((x - sample.dense.llt().solve(rhs)).norm(), 1e-12 * rhs.norm());
}

class BlockCholeskySizes : public testing::TestWithParam<std::vector<Index>> {};

TEST_P(BlockCholeskySizes, SolvesRandomSparseGraphs) {
  test::Random random(1);
  BlockCholesky cholesky;  // one object through all graphs
  for (const Index blocks : {1, 2, 5, 20, 60}) {
    for (const Index edges : {0, blocks - 1, 2 * blocks, 6 * blocks}) {
      if (blocks == 1 && edges > 0) continue;
      std::vector<Index> sizes;
      for (Index b = 0; b < blocks; ++b) sizes.push_back(GetParam()[b % GetParam().size()]);
      const Sample sample(random, sizes, random_edges(random, blocks, edges));
      cholesky.analyze(sample.sizes, sample.pattern);
      EXPECT_EQ(cholesky.block_count(), blocks);
      EXPECT_EQ(cholesky.size(), sample.start.back());
      expect_solves(sample, cholesky, random);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, BlockCholeskySizes,
                         testing::Values(std::vector<Index>{3}, std::vector<Index>{6}, std::vector<Index>{1},
                                         std::vector<Index>{3, 1, 3, 3, 1}, std::vector<Index>{6, 9, 1, 2}));

TEST(BlockCholesky, ChainHasNoFill) {
  test::Random random(2);
  const Index blocks = 50;
  Pattern chain;
  for (Index b = 0; b + 1 < blocks; ++b) chain.emplace_back(b, b + 1);
  BlockCholesky cholesky;
  const Sample sample(random, std::vector<Index>(blocks, 3), chain);
  cholesky.analyze(sample.sizes, sample.pattern);
  EXPECT_EQ(cholesky.factor_entries(), 9u * (blocks + chain.size()));
  EXPECT_GT(cholesky.factor_flops(), 0.0);
  expect_solves(sample, cholesky, random);
}

// In the given order the star's centre would fill everything; a minimum-degree order leaves no fill.
TEST(BlockCholesky, StarIsEliminatedFromItsLeaves) {
  test::Random random(3);
  Pattern star;
  for (Index b = 1; b < 30; ++b) star.emplace_back(0, b);
  BlockCholesky cholesky;
  const Sample sample(random, std::vector<Index>(30, 6), star);
  cholesky.analyze(sample.sizes, sample.pattern);
  EXPECT_EQ(cholesky.factor_entries(), 36u * (30 + star.size()));
  expect_solves(sample, cholesky, random);
}

TEST(BlockCholesky, SaysWhenTheMatrixIsIndefinite) {
  test::Random random(4);
  for (const std::vector<Index>& sizes :
       {std::vector<Index>(8, 3), std::vector<Index>(8, 6), std::vector<Index>{3, 6, 1, 2, 3, 1, 6, 6}}) {
    Sample sample(random, sizes, random_edges(random, 8, 14));
    BlockCholesky cholesky;
    cholesky.analyze(sample.sizes, sample.pattern);
    const Matrix good = sample.dense;
    for (Index row = 0; row < sample.start.back(); ++row) {
      sample.dense = good;
      sample.dense(row, row) = -1.0;
      sample.fill(cholesky);
      EXPECT_FALSE(cholesky.factorize()) << "row " << row;
    }
    // Indefinite as a whole although every diagonal block is positive definite.
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(good);
    sample.dense = good - 1.01 * eigen.eigenvalues()[0] * Matrix::Identity(good.rows(), good.cols());
    sample.fill(cholesky);
    EXPECT_FALSE(cholesky.factorize());
    sample.dense = good;  // and it recovers
    expect_solves(sample, cholesky, random);
  }
}

TEST(BlockCholesky, NewValuesOnTheSamePattern) {
  test::Random random(5);
  const Pattern pattern = random_edges(random, 12, 20);
  BlockCholesky cholesky;
  cholesky.analyze(std::vector<Index>(12, 6), pattern);
  for (int k = 0; k < 4; ++k)
    expect_solves(Sample(random, std::vector<Index>(12, 6), pattern), cholesky, random);
}

TEST(BlockCholesky, Empty) {
  BlockCholesky cholesky;
  EXPECT_FALSE(cholesky.is_analyzed());
  cholesky.analyze({}, {});
  EXPECT_TRUE(cholesky.is_analyzed());
  cholesky.set_zero();
  EXPECT_TRUE(cholesky.factorize());
  Vector nothing;
  cholesky.solve_in_place(nothing);
  EXPECT_EQ(cholesky.size(), 0);
}

TEST(BlockCholesky, CanBeInterrupted) {
  test::Random random(6);
  const Pattern pattern = random_edges(random, 12, 20);
  const Sample sample(random, std::vector<Index>(12, 6), pattern);
  BlockCholesky cholesky;
  cholesky.analyze(std::vector<Index>(12, 6), pattern);
  int columns = 0;
  const std::function<bool()> after_five = [&columns] { return ++columns > 5; };
  cholesky.set_interrupt(&after_five);
  sample.fill(cholesky);
  EXPECT_FALSE(cholesky.factorize());
  EXPECT_EQ(columns, 6);
  cholesky.set_interrupt(nullptr);
  expect_solves(sample, cholesky, random);
}

}  // namespace
}  // namespace tribo
