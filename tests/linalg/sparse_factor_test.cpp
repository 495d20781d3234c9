#include "tribo/linalg/sparse_factor.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>

#include "tests/support/random.h"
#include "tests/support/sparse_samples.h"

namespace tribo {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

bool factorize(SparseFactor& factor, const Sparse& matrix) {
  Sparse lower = matrix.triangularView<Eigen::Lower>();
  lower.makeCompressed();
  const auto n = static_cast<std::size_t>(lower.cols()), entries = static_cast<std::size_t>(lower.nonZeros());
  return factor.factorize({static_cast<Index>(n),
                           {lower.outerIndexPtr(), n + 1},
                           {lower.innerIndexPtr(), entries},
                           {lower.valuePtr(), entries}});
}

std::vector<Sparse> matrices() {
  test::Random random(5);
  std::vector<Sparse> out;
  out.push_back(test::random_sparse_spd(random, 1, 0.0));
  out.push_back(test::random_sparse_spd(random, 40, 0.0));  // diagonal: forty roots
  for (const double entries : {0.7, 2.0, 5.0, 60.0})
    out.push_back(test::random_sparse_spd(random, 120, entries));
  out.push_back(test::lattice_mass(random, 40, 1, 1, 10.0));
  out.push_back(test::lattice_mass(random, 5, 6, 4, 1e4));
  out.push_back(test::lattice_mass(random, 8, 7, 6, 50.0));
  return out;
}

TEST(SparseFactor, SolvesAndMultipliesAsTheDenseMatrix) {
  test::Random random(1);
  SparseFactor::Scratch scratch;
  for (const Sparse& matrix : matrices()) {
    SparseFactor factor;
    ASSERT_TRUE(factorize(factor, matrix));
    const Matrix dense(matrix);
    const Eigen::LLT<Matrix> llt(dense);
    const Vector x = random.vector(factor.size());
    Vector product(x.size()), solved = x;
    factor.multiply(x.data(), product.data());
    EXPECT_LT((product - dense * x).norm(), 1e-14 * dense.norm() * x.norm());
    factor.solve_in_place(solved.data(), scratch);
    const double condition = dense.norm() * llt.solve(Matrix::Identity(x.size(), x.size())).norm();
    EXPECT_LT((solved - llt.solve(x)).norm(), 1e-15 * condition * solved.norm());
    EXPECT_GE(factor.growth(), 1.0);
    EXPECT_LE(factor.growth(), 1.001 * condition);
  }
}

TEST(SparseFactor, BlockOfTheInverse) {
  test::Random random(2);
  SparseFactor::Scratch scratch;
  Matrix block;
  for (const Sparse& matrix : matrices()) {
    SparseFactor factor;
    ASSERT_TRUE(factorize(factor, matrix));
    const Matrix inverse = Matrix(matrix).llt().solve(Matrix::Identity(factor.size(), factor.size()));
    for (const double share : {0.02, 0.3, 1.0}) {
      std::vector<Index> dofs;
      for (Index d = 0; d < factor.size(); ++d) {
        if (random.uniform(0.0, 1.0) < share) dofs.push_back(d);
      }
      factor.inverse_block(dofs, block, scratch);
      EXPECT_LT((block - inverse(dofs, dofs)).norm(), 1e-11 * (1.0 + inverse.norm()));
      EXPECT_EQ(block, block.transpose());
    }
  }
}

TEST(SparseFactor, KeepsWhatStaysTheSame) {
  test::Random random(3);
  SparseFactor factor;
  SparseFactor::Scratch scratch;
  Sparse matrix = test::lattice_mass(random, 4, 4, 3, 20.0);
  ASSERT_TRUE(factorize(factor, matrix));
  const auto version = factor.version();
  ASSERT_TRUE(factorize(factor, matrix));
  EXPECT_EQ(factor.version(), version);
  const std::vector<Index> order = factor.plan().order;
  matrix *= 2.0;
  ASSERT_TRUE(factorize(factor, matrix));
  EXPECT_NE(factor.version(), version);
  EXPECT_EQ(factor.plan().order, order);
  // Bits do not depend on what was there before.
  SparseFactor fresh;
  ASSERT_TRUE(factorize(fresh, matrix));
  EXPECT_TRUE(fresh == factor);
  const Vector b = random.vector(factor.size());
  Vector x = b, y = b;
  factor.solve_in_place(x.data(), scratch);
  fresh.solve_in_place(y.data(), scratch);
  EXPECT_EQ(x, y);
}

TEST(SparseFactor, RefusesWhatIsNotPositiveDefinite) {
  test::Random random(4);
  SparseFactor factor;
  SparseFactor::Scratch scratch;
  const Sparse good = test::lattice_mass(random, 3, 3, 3, 5.0);
  for (const double shift : {-1e3, -1.5}) {  // all negative; one direction only
    Sparse bad = good;
    for (Index k = 0; k < bad.rows(); ++k) bad.coeffRef(k, k) += shift;
    const bool definite = Eigen::LLT<Matrix>(Matrix(bad)).info() == Eigen::Success;
    EXPECT_EQ(factorize(factor, bad), definite);
    EXPECT_FALSE(definite);
  }
  ASSERT_TRUE(factorize(factor, good));
  Vector x = Vector::Ones(factor.size());
  const Vector b = good * x;
  Vector y = b;
  factor.solve_in_place(y.data(), scratch);
  EXPECT_LT((x - y).norm(), 1e-10);
}

}  // namespace
}  // namespace tribo
