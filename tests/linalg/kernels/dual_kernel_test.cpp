#include "tribo/linalg/kernels/dual_kernel.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/support/dense_twin.h"
#include "tests/support/random.h"

namespace tribo {
namespace {

using Route = DualKernel::Route;

struct Prepared {
  test::BlockSystem system;
  BlockDiagonalCholesky factor;
  Matrix w;

  Prepared(unsigned seed, const std::vector<Index>& sizes, Index groups)
      : system(test::random_system(seed, sizes, groups)) {
    factor.factorize(system.mass);
    w = test::dense_dual(test::dense(system.mass), test::dense(system.jacobian, system.mass.size()));
  }
  DualKernel::Operator op(const BlockMatrix* explicit_w = nullptr) const {
    return {system.mass, factor, system.jacobian, explicit_w};
  }
};

void expect_solves(DualKernel& kernel, const DualKernel::Operator& op, const Matrix& w, test::Random& random,
                   double tolerance = 1e-11) {
  const Vector d = random.vector(w.rows()).cwiseAbs().array() + 0.1;
  ASSERT_TRUE(kernel.factorize(op, d));
  const Vector r = random.vector(w.rows());
  const Vector expected = (w + Matrix(d.asDiagonal())).partialPivLu().solve(r);
  Vector x;
  kernel.solve(op, r, x);
  EXPECT_LT((x - expected).norm(), tolerance * expected.norm());
  Vector in_place = r;
  kernel.solve(op, in_place, in_place);
  EXPECT_LT((in_place - expected).norm(), tolerance * expected.norm());
}

class DualKernelRoutes : public testing::TestWithParam<Route> {};

TEST_P(DualKernelRoutes, AgreeWithTheDenseMatrix) {
  test::Random random(1);
  DualKernel kernel;  // one object through all structures
  for (unsigned seed = 0; seed < 6; ++seed) {
    for (const std::vector<Index>& sizes :
         {std::vector<Index>{6, 6, 6, 6}, std::vector<Index>{3, 9, 1, 6, 6}, std::vector<Index>{6}}) {
      for (const Index groups : {1, 4, 20}) {
        const Prepared prepared(seed, sizes, groups);
        kernel.prepare(prepared.op(), GetParam());
        EXPECT_EQ(kernel.route(), GetParam());
        expect_solves(kernel, prepared.op(), prepared.w, random);
        expect_solves(kernel, prepared.op(), prepared.w, random);  // another D, the same structure
      }
    }
  }
}

TEST_P(DualKernelRoutes, FollowTheValuesOfTheSameStructure) {
  test::Random random(2);
  DualKernel kernel;
  const Prepared first(3, {6, 6, 6}, 10);
  kernel.prepare(first.op(), GetParam());
  expect_solves(kernel, first.op(), first.w, random);
  // Ten times the mass: a tenth of W.
  Prepared second(3, {6, 6, 6}, 10);
  BlockDiagonal heavier;
  for (Index t = 0; t < 3; ++t) heavier.add_block(10.0 * second.system.mass.block(t));
  second.system.mass = heavier;
  second.factor.factorize(heavier);
  kernel.prepare(second.op(), GetParam());
  expect_solves(kernel, second.op(), 0.1 * first.w, random);
}

INSTANTIATE_TEST_SUITE_P(Both, DualKernelRoutes, testing::Values(Route::through_dofs, Route::through_rows));

TEST(DualKernel, TakesTheSmallerSide) {
  DualKernel kernel;
  kernel.prepare(Prepared(1, {6}, 20).op());
  EXPECT_EQ(kernel.route(), Route::through_dofs);
  kernel.prepare(Prepared(1, {6, 6, 6}, 2).op());
  EXPECT_EQ(kernel.route(), Route::through_rows);
}

// Few rows on many degrees of freedom: W + D with D tiny is where the route through the degrees of freedom
// would lose its digits.
TEST(DualKernel, RowsRouteStandsSmallD) {
  const Prepared prepared(4, {6, 6, 6, 6, 6, 6}, 4);
  const Index rows = prepared.system.jacobian.row_count();
  DualKernel kernel;
  kernel.prepare(prepared.op());
  const Vector d = Vector::Constant(rows, 1e-12);
  ASSERT_TRUE(kernel.factorize(prepared.op(), d));
  const Vector expected = Vector::LinSpaced(rows, 1.0, 2.0);
  Vector x;
  kernel.solve(prepared.op(), prepared.w * expected + 1e-12 * expected, x);
  EXPECT_LT((x - expected).norm(), 1e-9);
}

TEST(DualKernel, ExplicitMatrixCountsByItsSymmetricPart) {
  test::Random random(5);
  const Prepared prepared(5, {6, 6, 6}, 8);
  const Index rows = prepared.system.jacobian.row_count();
  std::vector<Index> starts;
  for (Index g = 0; g <= prepared.system.jacobian.group_count(); ++g) {
    starts.push_back(prepared.system.jacobian.row_start(g));
  }
  const Matrix symmetric = test::random_spd(random, rows);
  const Matrix noise = random.matrix(rows, rows);
  const Matrix w = symmetric + noise - noise.transpose();
  std::vector<ScalarTriplet> full, upper;
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < rows; ++c) full.push_back({r, c, w(r, c)});
  }
  const BlockMatrix explicit_w = BlockMatrix::from_triplets(starts, full);
  DualKernel kernel;
  kernel.prepare(prepared.op(&explicit_w));
  EXPECT_EQ(kernel.route(), Route::through_rows);
  expect_solves(kernel, prepared.op(&explicit_w), symmetric, random);

  // Blocks on one side of the diagonal only: half of them counts on each side.
  for (const ScalarTriplet& t : full) {
    const auto group = [&](Index row) { return std::upper_bound(starts.begin(), starts.end(), row); };
    if (group(t.row) <= group(t.col)) upper.push_back(t);
  }
  const BlockMatrix one_sided = BlockMatrix::from_triplets(starts, upper);
  const Matrix dense = one_sided.to_dense();
  ASSERT_GT((dense - dense.transpose()).norm(), 0.1);
  kernel.prepare(prepared.op(&one_sided));
  expect_solves(kernel, prepared.op(&one_sided), 0.5 * (dense + dense.transpose()), random);
}

TEST(DualKernel, SaysWhenTheMatrixIsIndefinite) {
  for (const Route route : {Route::through_dofs, Route::through_rows}) {
    const Prepared prepared(6, {6, 6}, 6);
    DualKernel kernel;
    kernel.prepare(prepared.op(), route);
    const Index rows = prepared.system.jacobian.row_count();
    EXPECT_FALSE(kernel.factorize(prepared.op(), Vector::Constant(rows, -1e-3)));
    EXPECT_TRUE(kernel.factorize(prepared.op(), Vector::Constant(rows, 1e-3)));
  }
}

}  // namespace
}  // namespace tribo
