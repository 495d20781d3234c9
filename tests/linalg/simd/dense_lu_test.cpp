#include "tribo/linalg/simd/dense_lu.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/random.h"

namespace tribo {
namespace {

// Sizes on both sides of the panels, within a larger matrix, and a first pivot of zero.
TEST(DenseLu, SolvesFromBothSides) {
  test::Random random(5);
  for (const Index n : {1, 2, 3, 4, 5, 6, 7, 8, 23, 27, 64, 65, 100}) {
    const Index stride = n + 3;
    Matrix whole = random.matrix(stride, n);
    whole(0, 0) = n > 1 ? 0.0 : 2.0;
    const Matrix m = whole.topRows(n);
    const Matrix below = whole.bottomRows(3);
    const Vector x = random.vector(n);
    const Matrix left = random.matrix(4, n);
    std::vector<int> exchanges(n);
    ASSERT_TRUE(factorize_lu(whole.data(), n, stride, exchanges.data())) << n;
    Vector solved = m * x;
    solve_lu(whole.data(), n, stride, exchanges.data(), solved.data());
    EXPECT_LE((m * (solved - x)).norm(), 1e-11 * (m * x).norm()) << n;
    Matrix divided = left * m;
    solve_lu_right(whole.data(), n, stride, exchanges.data(), divided.data(), 4);
    EXPECT_LE(((divided - left) * m).norm(), 1e-11 * (left * m).norm()) << n;
    EXPECT_EQ(whole.bottomRows(3), below) << "rows beyond the matrix";
  }
}

TEST(DenseLu, RefusesSingularAndNotFinite) {
  std::vector<int> exchanges(3);
  Matrix zero = Matrix::Zero(3, 3);
  EXPECT_FALSE(factorize_lu(zero.data(), 3, 3, exchanges.data()));
  Matrix infinite = Matrix::Identity(3, 3);
  infinite(1, 1) = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(factorize_lu(infinite.data(), 3, 3, exchanges.data()));
}

}  // namespace
}  // namespace tribo
