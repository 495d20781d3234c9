#include "tribo/linalg/kernels/primal_kernel.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/support/dense_twin.h"
#include "tests/support/random.h"

namespace tribo {
namespace {

using test::BlockSystem;

void expect_solves(PrimalKernel& kernel, const BlockSystem& system, const Matrix& s, test::Random& random) {
  const Matrix a = test::dense(system.mass);
  const Matrix h = test::dense_primal(a, test::dense(system.jacobian, system.mass.size()), s);
  const Vector rhs = random.vector(system.mass.size());
  Vector x = rhs;
  kernel.solve_in_place(x);
  EXPECT_LT((h * x - rhs).norm(), 1e-12 * h.norm() * x.norm());
  EXPECT_LT((x - h.llt().solve(rhs)).norm(), 1e-11 * x.norm());
}

class PrimalKernelTrees : public testing::TestWithParam<std::vector<Index>> {};

TEST_P(PrimalKernelTrees, DiagonalWeights) {
  test::Random random(1);
  PrimalKernel kernel;
  for (unsigned seed = 0; seed < 10; ++seed) {
    const BlockSystem system = test::random_system(seed, GetParam(), 15);
    kernel.analyze(system.mass, system.jacobian);
    Vector weights = random.vector(system.jacobian.row_count()).cwiseAbs();
    weights[seed % weights.size()] = 0.0;
    ASSERT_TRUE(kernel.factorize(system.mass, system.jacobian, weights));
    expect_solves(kernel, system, weights.asDiagonal(), random);
  }
}

TEST_P(PrimalKernelTrees, MatrixWeights) {
  test::Random random(2);
  PrimalKernel kernel;
  for (unsigned seed = 0; seed < 10; ++seed) {
    const BlockSystem system = test::random_system(seed, GetParam(), 15);
    kernel.analyze(system.mass, system.jacobian);
    GroupBlocks weights(system.jacobian.group_count());
    for (Index g = 0; g < weights.size(); ++g) weights[g] = test::random_spd(random, 3);
    weights[0].setZero();
    ASSERT_TRUE(kernel.factorize(system.mass, system.jacobian, weights));
    expect_solves(kernel, system, test::dense_weights(system.jacobian, weights), random);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PrimalKernelTrees,
                         testing::Values(std::vector<Index>{6, 6, 6, 6, 6}, std::vector<Index>{3, 3, 3, 3},
                                         std::vector<Index>{6, 1, 9, 6, 3, 2}, std::vector<Index>{12}));

TEST(PrimalKernel, WithoutConstraintsIsTheMass) {
  const BlockSystem system = test::random_system(3, {6, 3, 6}, 0);
  PrimalKernel kernel;
  kernel.analyze(system.mass, system.jacobian);
  ASSERT_TRUE(kernel.factorize(system.mass, system.jacobian, Vector()));
  test::Random random(3);
  expect_solves(kernel, system, Matrix::Zero(0, 0), random);
}

TEST(PrimalKernel, RepeatedAndReversedPairsShareABlock) {
  test::Random random(4);
  BlockSystem system;
  for (int t = 0; t < 3; ++t) system.mass.add_block(test::random_spd(random, 6));
  for (const std::vector<Index>& trees : {std::vector<Index>{0, 2}, {2, 0}, {0, 2, 1}, {1}}) {
    test::add_random_group(system, random, 3, trees);
  }
  PrimalKernel kernel;
  kernel.analyze(system.mass, system.jacobian);
  const Vector weights = Vector::Constant(system.jacobian.row_count(), 100.0);
  ASSERT_TRUE(kernel.factorize(system.mass, system.jacobian, weights));
  expect_solves(kernel, system, weights.asDiagonal(), random);
}

TEST(PrimalKernel, KeepsTheSymbolicPartWhileTheStructureIsTheSame) {
  const BlockSystem system = test::random_system(5, {6, 6, 3, 6}, 10);
  BlockSystem same;  // the same graph, other values
  test::Random random(6);
  for (Index t = 0; t < 4; ++t) same.mass.add_block(test::random_spd(random, system.mass.block_size(t)));
  for (Index g = 0; g < system.jacobian.group_count(); ++g) {
    std::vector<Index> trees;
    for (Index p = system.jacobian.piece_begin(g); p < system.jacobian.piece_end(g); ++p) {
      trees.push_back(system.jacobian.piece_tree(p));
    }
    test::add_random_group(same, random, system.jacobian.rows(g), trees);
  }
  PrimalKernel kernel;
  EXPECT_TRUE(kernel.analyze(system.mass, system.jacobian));
  EXPECT_FALSE(kernel.analyze(system.mass, system.jacobian));
  EXPECT_FALSE(kernel.analyze(same.mass, same.jacobian));
  const Vector weights = Vector::Ones(same.jacobian.row_count());
  ASSERT_TRUE(kernel.factorize(same.mass, same.jacobian, weights));
  expect_solves(kernel, same, weights.asDiagonal(), random);
}

TEST(PrimalKernel, AnalysesAgainWhenAnythingOfTheStructureChanges) {
  test::Random random(7);
  const auto make = [&](const std::vector<Index>& sizes, const std::vector<std::vector<Index>>& groups,
                        Index rows) {
    BlockSystem system;
    for (const Index size : sizes) system.mass.add_block(test::random_spd(random, size));
    for (const std::vector<Index>& trees : groups) test::add_random_group(system, random, rows, trees);
    return system;
  };
  const std::vector<BlockSystem> systems{
      make({6, 6, 6}, {{0, 1}, {1, 2}}, 3),       make({6, 6, 6}, {{0, 1}, {0, 2}}, 3),
      make({6, 6, 6}, {{0, 1}, {0, 2}}, 1),       make({6, 6, 6}, {{0, 1, 2}, {0}}, 1),
      make({6, 6, 3}, {{0, 1, 2}, {0}}, 1),       make({6, 6, 3, 6}, {{0, 1, 2}, {0}}, 1),
      make({6, 6, 3, 6}, {{0, 1, 2}, {0}, {}}, 1)};
  PrimalKernel kernel;
  for (const BlockSystem& system : systems) {
    EXPECT_TRUE(kernel.analyze(system.mass, system.jacobian));
    EXPECT_FALSE(kernel.analyze(system.mass, system.jacobian));
    const Vector weights = random.vector(system.jacobian.row_count()).cwiseAbs();
    ASSERT_TRUE(kernel.factorize(system.mass, system.jacobian, weights));
    expect_solves(kernel, system, weights.asDiagonal(), random);
  }
}

TEST(PrimalKernel, SaysWhenTheMatrixIsIndefinite) {
  const BlockSystem system = test::random_system(8, {6, 6, 6}, 8);
  PrimalKernel kernel;
  kernel.analyze(system.mass, system.jacobian);
  EXPECT_FALSE(
      kernel.factorize(system.mass, system.jacobian, Vector::Constant(system.jacobian.row_count(), -1e3)));
  EXPECT_TRUE(kernel.factorize(system.mass, system.jacobian, Vector::Zero(system.jacobian.row_count())));
}

}  // namespace
}  // namespace tribo
