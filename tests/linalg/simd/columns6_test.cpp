// Products of 6x6 blocks in registers against Eigen's.
#include "tribo/linalg/simd/columns6.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tribo/base/types.h"

namespace tribo {
namespace {

TEST(Columns6, ProductsOfBlocks) {
  test::Random random(3);
  constexpr Index kStride = 9;  // columns further apart than they are long
  const Matrix left = random.matrix(6, 6), right = random.matrix(6, 6), before = random.matrix(kStride, 6);
  const double* factors = right.data();
  Columns6 product;
  product.set<6>(left.data(), [&](int c, int k) { return factors[c + 6 * k]; });
  Matrix stored = before, added = before, subtracted = before;
  product.store(stored.data(), kStride);
  product.add_to(added.data(), kStride);
  product.subtract_from(subtracted.data(), kStride);
  const Matrix expected = left * right.transpose();
  EXPECT_LT((stored.topRows(6) - expected).norm(), 1e-14);
  EXPECT_LT((added.topRows(6) - (before.topRows(6) + expected)).norm(), 1e-14);
  EXPECT_LT((subtracted.topRows(6) - (before.topRows(6) - expected)).norm(), 1e-14);
  for (const Matrix* m : {&stored, &added, &subtracted}) {
    EXPECT_EQ(m->bottomRows(kStride - 6), before.bottomRows(kStride - 6));
  }
}

TEST(Columns6, FewerTermsThanColumns) {
  test::Random random(4);
  const Matrix left = random.matrix(6, 3), right = random.matrix(6, 3);
  Matrix out(6, 6);
  Columns6 product;
  product.set<3>(left.data(), [&](int c, int k) { return right(c, k); });
  product.store(out.data(), 6);
  EXPECT_LT((out - left * right.transpose()).norm(), 1e-14);
}

}  // namespace
}  // namespace tribo
