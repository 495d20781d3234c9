// Sparse node matrices against dense ones.
#include "tribo/flex/node_matrix.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "tests/support/random.h"
#include "tribo/flex/elastic_body.h"
#include "tribo/flex/ready_meshes.h"

namespace tribo {
namespace {

// M + K / 100 of a small box.
NodeMatrix sample(const ElasticBody& body) {
  NodeMatrix k(body.pattern()), a(body.pattern());
  body.stiffness(body.rest_positions(), Tangent::positive, k);
  a.add_scaled(1.0, body.mass_matrix());
  a.add_scaled(0.01, k);
  return a;
}

TEST(NodeMatrix, ProductAndFactorAreThoseOfTheDenseMatrix) {
  test::Random random(1);
  const ElasticBody body(box_mesh(Vec3(0.3, 0.2, 0.2), {3, 2, 1}),
                         {.young = 1e3, .poisson = 0.3, .density = 1e3});
  const NodeMatrix a = sample(body);
  const Matrix dense = a.to_dense();
  EXPECT_EQ((dense - dense.transpose()).norm(), 0.0);
  const Vector x = random.vector(body.dof_count());
  Vector product = Vector::Ones(body.dof_count());
  a.add_product(2.0, x, product);
  EXPECT_LT((product - Vector::Ones(body.dof_count()) - 2.0 * dense * x).norm(), 1e-12 * product.norm());

  const std::vector<Index> fixed{0, 5, 6};
  NodeFactor factor(*body.pattern(), fixed);
  ASSERT_TRUE(factor.factorize(a));
  Matrix held = dense;
  Vector right = x;
  for (const Index node : fixed) {
    held.middleRows(3 * node, 3).setZero();
    held.middleCols(3 * node, 3).setZero();
    held.diagonal().segment(3 * node, 3).setOnes();
    right.segment(3 * node, 3).setZero();
    EXPECT_TRUE(factor.is_fixed(node));
  }
  Vector solved = x;
  factor.solve(solved);
  EXPECT_LT((solved - held.llt().solve(right)).norm(), 1e-11 * solved.norm());
}

TEST(NodeMatrix, FactorThatSomebodyKeepsStaysAsItIs) {
  const ElasticBody body(box_mesh(Vec3::Ones(), {1, 1, 1}), {.young = 1e3, .poisson = 0.3, .density = 1e3});
  NodeMatrix a = sample(body);
  NodeFactor factor(*body.pattern(), {});
  ASSERT_TRUE(factor.factorize(a));
  const std::shared_ptr<const SparseFactor> kept = factor.factor();
  const std::uint64_t version = kept->version();
  a.add_scaled(1.0, body.mass_matrix());
  ASSERT_TRUE(factor.factorize(a));
  EXPECT_NE(factor.factor(), kept);
  EXPECT_EQ(kept->version(), version);
  NodeMatrix negative(body.pattern());
  negative.add_scaled(-1.0, a);
  EXPECT_FALSE(factor.factorize(negative));
}

}  // namespace
}  // namespace tribo
