#include "tribo/linalg/tree_matrix.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <vector>

#include "tests/support/allocation_counter.h"
#include "tests/support/random.h"

namespace tribo {
namespace {

std::vector<Index> random_parents(test::Random& random, Index n) {
  std::vector<Index> parent(n);
  for (Index d = 0; d < n; ++d) parent[d] = static_cast<Index>(random.uniform(0.0, d + 1 - 1e-9)) - 1;
  return parent;
}

Matrix path_jacobian(const std::vector<Index>& parent, const Matrix& motion, Index dof) {
  Matrix j = Matrix::Zero(6, motion.cols());
  for (; dof >= 0; dof = parent[dof]) j.col(dof) = motion.col(dof);
  return j;
}

std::vector<std::vector<Index>> trees() {
  test::Random random(3);
  return {{-1},
          {-1, 0, 1, 2, 3, 4},
          {-1, 0, 1, 2, 3, 4, 5, 6, 7, 5, 9, 10, 5, 12, 13, 5, 15, 16},  // four-legged
          {-1, -1, -1, 0, 1, 2},                                         // three roots
          random_parents(random, 25),
          random_parents(random, 40),
          random_parents(random, 90)};
}

// The dense twin of a matrix of bodies: sum J_b^T I_b J_b, plus a little on the diagonal.
struct Sample {
  TreeMatrix packed;
  Matrix dense;
};

Sample sample_of(const std::vector<Index>& parent, unsigned seed) {
  test::Random random(seed);
  const Index n = static_cast<Index>(parent.size());
  const TreeMatrix::Motion motion = random.matrix(6, n);
  std::vector<TreeMatrix::Mat6> inertia;
  Sample sample{TreeMatrix(parent), Matrix::Zero(n, n)};
  sample.dense.diagonal() = random.vector(n).cwiseAbs().array() + 0.1;
  sample.packed.assign(sample.dense);
  for (Index d = 0; d < n; ++d) {
    inertia.push_back(test::random_spd(random, 6));
    const Matrix j = path_jacobian(parent, motion, d);
    sample.dense += j.transpose() * inertia[d] * j;
  }
  sample.packed.add_body_inertias(motion, inertia);
  return sample;
}

TEST(TreeMatrix, CompositeInertiasAreTheSumOverBodies) {
  for (const auto& parent : trees()) {
    const Sample s = sample_of(parent, 1);
    EXPECT_LT((s.packed.to_dense() - s.dense).norm(), 1e-12 * s.dense.norm());
  }
}

TEST(TreeMatrix, ProductAndSolveAgreeWithDense) {
  for (const auto& parent : trees()) {
    Sample s = sample_of(parent, 2);
    test::Random random(7);
    const Vector x = random.vector(s.packed.size());
    Vector y(x.size());
    s.packed.multiply(x.data(), y.data());
    EXPECT_LT((y - s.dense * x).norm(), 1e-12 * y.norm());
    EXPECT_NEAR(s.packed.energy(x.data()), 0.5 * x.dot(y), 1e-12 * y.norm() * x.norm());
    TreeMatrix heavier(parent);
    heavier.assign(s.packed, x.data());
    EXPECT_EQ(heavier.to_dense(), Matrix(s.packed.to_dense() + Matrix(x.asDiagonal())));
    const std::size_t entries = s.packed.entry_count();
    ASSERT_TRUE(s.packed.factorize());
    EXPECT_EQ(s.packed.entry_count(), entries) << "no fill";
    s.packed.solve_in_place(y.data());
    EXPECT_LT((y - x).norm(), 1e-9 * x.norm());
    const Vector b = random.vector(s.packed.size());
    y = b;
    s.packed.solve_in_place(y.data());
    EXPECT_LT((y - s.dense.llt().solve(b)).norm(), 1e-10 * y.norm());
  }
}

// B L^-1 (B L^-1)^T = B H^-1 B^T; blocks of three rows, alone or several at once, are the same as row by row.
TEST(TreeMatrix, TransformedRowsSeeTheInverse) {
  test::Random random(17);
  for (const auto& parent : trees()) {
    Sample sample = sample_of(parent, 6);
    const Index n = static_cast<Index>(parent.size());
    ASSERT_TRUE(sample.packed.factorize());
    for (Index count = 1; count <= TreeMatrix::kBlocks; ++count) {
      std::vector<Matrix> blocks, padded;  // with numbers behind them that must not count
      std::vector<const double*> data;
      for (Index k = 0; k < count; ++k) {
        blocks.push_back(random.matrix(3, n));
        if (n > 1) blocks.back().col(n / 2).setZero();
        if (n > 4) blocks.back().col(n - 1).setZero();  // of all of them
        padded.push_back(random.matrix(3, n + 1));
        padded.back().leftCols(n) = blocks.back();
      }
      for (const Matrix& block : padded) data.push_back(block.data());
      Matrix out(3, n * count + 1);
      sample.packed.transform_three_rows(data, out.data());
      for (Index k = 0; k < count; ++k) {
        const Matrix got = out.middleCols(n * k, n);
        const Matrix expected = blocks[k] * sample.dense.llt().solve(blocks[k].transpose());
        EXPECT_LT((got * got.transpose() - expected).norm(), 1e-10 * expected.norm()) << n << " dofs";
        for (Index r = 0; r < 3; ++r) {
          Vector single = blocks[k].row(r).transpose();
          sample.packed.transform_row(single.data());
          EXPECT_LT((got.row(r).transpose() - single).norm(), 1e-12 * single.norm()) << n << " dofs";
        }
      }
    }
  }
}

TEST(TreeMatrix, RowsOnAPathKeepThePattern) {
  const std::vector<Index> parent = {-1, 0, 1, 2, 3, 4, 5, 6, 7, 5, 9, 10, 5, 12, 13, 5, 15, 16};
  Sample s = sample_of(parent, 4);
  test::Random random(5);
  Matrix block = random.matrix(3, 8);  // dofs 4 .. 11 of the path 0 1 2 3 4 5 9 10 11
  for (const Index off_path : {2, 3, 4}) block.col(off_path).setZero();
  const Vector weights = random.vector(3).cwiseAbs();
  s.packed.add_rows(4, block, weights);
  s.dense.block(4, 4, 8, 8) += block.transpose() * weights.asDiagonal() * block;
  EXPECT_LT((s.packed.to_dense() - s.dense).norm(), 1e-12 * s.dense.norm());
  EXPECT_TRUE(s.packed.on_path(5, 11));
  EXPECT_FALSE(s.packed.on_path(8, 11));
  EXPECT_FALSE(s.packed.on_path(11, 5));
}

TEST(TreeMatrix, FourLegsCostLessThanDense) {
  const TreeMatrix legs(trees()[2]);
  EXPECT_EQ(legs.entry_count(), 21u + 4 * 24) << "dense: 171";
}

TEST(TreeMatrix, RefusesWhatIsNotPositiveDefinite) {
  const std::vector<Index> parent = {-1, 0, 0};
  TreeMatrix matrix(parent);
  matrix.assign(Matrix::Identity(3, 3) - 0.9 * Matrix::Ones(3, 3));
  EXPECT_FALSE(matrix.factorize());
  matrix.assign(Matrix::Constant(3, 3, std::nan("")));
  EXPECT_FALSE(matrix.factorize());
}

// Not with what is left of a matrix before.
TEST(TreeMatrix, SolvesNothingAfterAFailure) {
  const std::vector<Index> parent = {-1, 0, 0};
  TreeMatrix matrix(parent);
  matrix.assign(Matrix::Identity(3, 3));
  ASSERT_TRUE(matrix.factorize());
  matrix.assign(Matrix::Identity(3, 3) - 0.9 * Matrix::Ones(3, 3));
  ASSERT_FALSE(matrix.factorize());
  Vector x = Vector::Ones(3);
  matrix.solve_in_place(x.data());
  EXPECT_FALSE(x.allFinite());
}

TEST(TreeMatrix, TheSameTreeAgainAllocatesNothing) {
  const std::vector<Index> parent = trees()[2];
  Sample s = sample_of(parent, 1);
  TreeMatrix factor = s.packed;
  const std::size_t before = test::allocation_count();
  factor.analyze(parent);
  factor = s.packed;
  EXPECT_TRUE(factor.factorize());
  EXPECT_EQ(test::allocation_count(), before);
}

}  // namespace
}  // namespace tribo
