#include "tribo/linalg/delassus.h"

#include <gtest/gtest.h>

#include "tests/support/dense_twin.h"

namespace tribo {
namespace {

TEST(Delassus, AgreesWithTheDenseProduct) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    for (const std::vector<Index>& sizes :
         {std::vector<Index>{6, 6, 6, 6}, std::vector<Index>{3, 9, 1, 6, 6}, std::vector<Index>{7}}) {
      const test::BlockSystem system = test::random_system(seed, sizes, 14);
      BlockDiagonalCholesky factor;
      factor.factorize(system.mass);
      const BlockMatrix w = build_delassus(factor, system.jacobian);
      const Matrix expected =
          test::dense_dual(test::dense(system.mass), test::dense(system.jacobian, system.mass.size()));
      EXPECT_LT((w.to_dense() - expected).norm(), 1e-12 * expected.norm());
      EXPECT_LT(w.asymmetry(), 1e-14);
    }
  }
}

TEST(Delassus, HasABlockForEveryPairThatSharesATree) {
  test::Random random(1);
  test::BlockSystem system;
  for (int t = 0; t < 4; ++t) system.mass.add_block(test::random_spd(random, 6));
  for (const std::vector<Index>& trees : {std::vector<Index>{0, 1}, {1}, {2, 3}, {0}, {}}) {
    test::add_random_group(system, random, 3, trees);
  }
  BlockDiagonalCholesky factor;
  factor.factorize(system.mass);
  const BlockMatrix w = build_delassus(factor, system.jacobian);
  // (0,0) (0,1) (0,3), (1,0) (1,1), (2,2), (3,0) (3,3), and the constraint that moves nothing (4,4).
  EXPECT_EQ(w.block_count(), 9);
  EXPECT_EQ(w.column(w.row_begin(0) + 2), 3);
  EXPECT_TRUE(Matrix(w.block(4, w.diagonal(4))).isZero(0.0));
}

TEST(DelassusAssembler, FollowsValuesAndStructure) {
  DelassusAssembler assembler;
  BlockDiagonalCholesky factor;
  const auto expect_right = [&](const test::BlockSystem& system) {
    factor.factorize(system.mass);
    const Matrix w = assembler.assemble(factor, system.jacobian).to_dense();
    const Matrix expected =
        test::dense_dual(test::dense(system.mass), test::dense(system.jacobian, system.mass.size()));
    ASSERT_EQ(w.rows(), expected.rows());
    EXPECT_LT((w - expected).norm(), 1e-12 * (1.0 + expected.norm()));
  };
  test::BlockSystem system = test::random_system(2, {6, 6, 6}, 9);
  expect_right(system);
  const double* data = assembler.assemble(factor, system.jacobian).data(0);
  BlockDiagonal heavier;
  for (Index t = 0; t < 3; ++t) heavier.add_block(3.0 * system.mass.block(t));
  system.mass = heavier;
  expect_right(system);
  EXPECT_EQ(assembler.assemble(factor, system.jacobian).data(0), data);  // the same storage
  expect_right(test::random_system(3, {6, 6, 6}, 9));
  expect_right(test::random_system(3, {6, 3, 6, 6}, 9));
  expect_right(test::random_system(3, {6, 3, 6, 6}, 0));
  expect_right(test::random_system(3, {6, 3, 6, 6}, 12));
}

}  // namespace
}  // namespace tribo
