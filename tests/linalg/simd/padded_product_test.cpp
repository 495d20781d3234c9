#include "tribo/linalg/simd/padded_product.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"

namespace tribo {
namespace {

TEST(PaddedProduct, RowsAreFilledUpToRegisters) {
  EXPECT_EQ(padded_rows(0), 0);
  EXPECT_EQ(padded_rows(1), kPadding);
  EXPECT_EQ(padded_rows(kPadding), kPadding);
  EXPECT_EQ(padded_rows(kPadding + 1), 2 * kPadding);
}

// Every size of tiles and remainders, B as it is and transposed.
TEST(PaddedProduct, IsTheProduct) {
  test::Random random(3);
  for (const Index rows : {1, 6, 8, 13, 16, 27, 40}) {
    for (const Index inner : {1, 2, 7, 30}) {
      for (const Index columns : {1, 2, 3, 4, 5, 6, 8, 11, 20}) {
        const Index stride = padded_rows(rows);
        Matrix a = Matrix::Zero(stride, inner), c = Matrix::Constant(stride, columns, 7.0);
        a.topRows(rows) = random.matrix(rows, inner);
        const Matrix b = random.matrix(inner, columns), turned = b.transpose();
        const Matrix expected = a * b;
        multiply_padded(a.data(), stride, inner, b.data(), 1, inner, columns, c.data());
        ASSERT_LT((c - expected).cwiseAbs().maxCoeff(), 1e-13) << rows << " " << inner << " " << columns;
        c.setConstant(7.0);
        multiply_padded(a.data(), stride, inner, turned.data(), columns, 1, columns, c.data());
        ASSERT_LT((c - expected).cwiseAbs().maxCoeff(), 1e-13) << rows << " " << inner << " " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace tribo
