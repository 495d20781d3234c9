#include "tribo/math/jordan.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>

#include "tests/support/random.h"

namespace tribo {
namespace {

using test::Random;

constexpr double inf = std::numeric_limits<double>::infinity();

// A point strictly inside the cone whose smaller eigenvalue is `depth` times its scalar part.
Vec3 interior_point(Random& random, double depth) {
  const double angle = random.uniform(-3.2, 3.2);
  const double scalar = random.log_uniform(0.1, 10.0);
  return scalar * Vec3((1.0 - depth) * std::cos(angle), (1.0 - depth) * std::sin(angle), 1.0);
}

Vec3 interior_point(Random& random) { return interior_point(random, random.log_uniform(1e-3, 1.0)); }

bool in_self_dual_cone(const Vec3& x, double tolerance) { return jordan_eigenvalues(x)[0] >= -tolerance; }

TEST(Jordan, ProductIdentities) {
  Random random(31);
  for (int i = 0; i < 200; ++i) {
    const Vec3 x = random.vec3();
    const Vec3 y = random.vec3();
    const Vec3 xx = jordan_product(x, x);
    EXPECT_LE((jordan_product(x, y) - jordan_product(y, x)).norm(), 1e-15);
    EXPECT_LE((jordan_product(x, jordan_identity()) - x).norm(), 1e-15);
    EXPECT_LE((arrow_matrix(x) * y - jordan_product(x, y)).norm(), 1e-15);
    // The Jordan identity: x o (x^2 o y) = x^2 o (x o y).
    EXPECT_LE((jordan_product(x, jordan_product(xx, y)) - jordan_product(xx, jordan_product(x, y))).norm(),
              1e-14);
    // Cayley-Hamilton: x^2 - 2 x_n x + det(x) e = 0.
    EXPECT_LE((xx - 2.0 * x[2] * x + jordan_determinant(x) * jordan_identity()).norm(), 1e-14);
  }
  EXPECT_EQ(jordan_product(Vec3(1, 2, 3), Vec3(4, 5, 6)), Vec3(18, 27, 32));
}

TEST(Jordan, EigenvaluesDeterminantInverse) {
  Random random(32);
  EXPECT_EQ(jordan_eigenvalues(Vec3(3, 4, 6)), Vec2(1, 11));
  EXPECT_EQ(jordan_determinant(Vec3(3, 4, 6)), 11.0);
  for (int i = 0; i < 200; ++i) {
    const Vec3 x = interior_point(random);
    const double condition = jordan_eigenvalues(x)[1] / jordan_eigenvalues(x)[0];
    EXPECT_LE((jordan_product(x, jordan_inverse(x)) - jordan_identity()).norm(), 1e-15 * condition);
    EXPECT_NEAR(jordan_determinant(jordan_inverse(x)) * jordan_determinant(x), 1.0, 1e-13 * condition);
    const Vec3 y = random.vec3();
    EXPECT_LE((jordan_product(x, jordan_divide(y, x)) - y).norm(), 1e-14 * condition);
    EXPECT_LE((jordan_divide(y, x) - arrow_matrix(x).inverse() * y).norm(),
              1e-13 * condition * arrow_matrix(x).inverse().norm());
  }
}

TEST(Jordan, SquareRootAndPowers) {
  Random random(33);
  for (int i = 0; i < 200; ++i) {
    const Vec3 x = interior_point(random);
    const Vec3 root = jordan_sqrt(x);
    EXPECT_TRUE(in_self_dual_cone(root, 0.0));
    EXPECT_LE((jordan_product(root, root) - x).norm(), 1e-14 * x.norm());
    EXPECT_LE((jordan_power(x, 0.5) - root).norm(), 1e-14 * root.norm());
    EXPECT_LE((jordan_power(x, 2.0) - jordan_product(x, x)).norm(), 1e-13 * x.squaredNorm());
    EXPECT_LE((jordan_power(x, -1.0) - jordan_inverse(x)).norm(), 1e-12 * jordan_inverse(x).norm());
  }
  EXPECT_EQ(jordan_sqrt(Vec3(0, 0, 4)), Vec3(0, 0, 2));
  EXPECT_TRUE(jordan_sqrt(Vec3(0.6, 0.8, 1 - 1e-16)).allFinite());
  EXPECT_EQ(jordan_sqrt(Vec3::Zero()), Vec3::Zero());
}

TEST(Jordan, QuadraticRepresentation) {
  Random random(34);
  for (int i = 0; i < 200; ++i) {
    const Vec3 x = random.vec3();
    const Vec3 y = random.vec3();
    const Mat3 q = quadratic_representation(x);
    const Mat3 arrow = arrow_matrix(x);
    EXPECT_LE((q - (2.0 * arrow * arrow - arrow_matrix(jordan_product(x, x)))).norm(), 1e-14);
    // det(Q_x y) = det(x)^2 det(y) and Q_{Q_x y} = Q_x Q_y Q_x, the fundamental formula.
    EXPECT_NEAR(jordan_determinant(q * y), std::pow(jordan_determinant(x), 2) * jordan_determinant(y), 1e-13);
    EXPECT_LE((quadratic_representation(q * y) - q * quadratic_representation(y) * q).norm(), 1e-12);
    EXPECT_LE((q * jordan_identity() - jordan_product(x, x)).norm(), 1e-14);
  }
}

TEST(Jordan, NesterovToddScalesOneIntoTheOther) {
  Random random(35);
  for (int i = 0; i < 300; ++i) {
    const Vec3 x = interior_point(random);
    const Vec3 y = interior_point(random);
    const NesterovTodd scaling = nesterov_todd(x, y);
    ASSERT_TRUE(scaling.valid);
    const Mat3 n = scaling.matrix();
    const Mat3 n_inverse = scaling.inverse();
    const double condition = n.norm() * n_inverse.norm();
    const double tolerance = 1e-14 * condition * condition;
    EXPECT_GT(jordan_eigenvalues(scaling.point())[0], 0.0);
    EXPECT_LE((quadratic_representation(scaling.point()) * y - x).norm(), tolerance * x.norm());
    EXPECT_LE((scaling.squared() * y - x).norm(), tolerance * x.norm());
    EXPECT_LE((scaling.squared_inverse() * x - y).norm(), tolerance * y.norm());
    EXPECT_LE((n * y - n_inverse * x).norm(), tolerance * (n * y).norm());
    EXPECT_LE((n * n - scaling.squared()).norm(), 1e-14 * scaling.squared().norm());
    EXPECT_LE((n - quadratic_representation(jordan_sqrt(scaling.point()))).norm(), tolerance * n.norm());
    EXPECT_LE((n * n_inverse - Mat3::Identity()).norm(), tolerance);
    EXPECT_LE((scaling.squared() * scaling.squared_inverse() - Mat3::Identity()).norm(), 10 * tolerance);
  }
}

TEST(Jordan, NesterovToddAtEqualPointsAndAtTheBoundary) {
  const Vec3 x(0.3, -0.2, 1.5);
  EXPECT_LE((nesterov_todd(x, x).matrix() - Mat3::Identity()).norm(), 1e-15);
  EXPECT_FALSE(nesterov_todd(Vec3(3, 4, 5), x).valid);
  EXPECT_FALSE(nesterov_todd(x, Vec3(0, 0, -1)).valid);
  EXPECT_EQ(nesterov_todd(Vec3(3, 4, 5), x).matrix(), Mat3::Identity());
  Random random(36);
  for (int i = 0; i < 100; ++i) {
    // Nearly complementary points next to the boundary, as at the end of an interior-point run.
    const Vec3 a = interior_point(random, 1e-9);
    const Vec3 b = jordan_reflect(interior_point(random, 1e-9));
    const NesterovTodd scaling = nesterov_todd(a, b);
    ASSERT_TRUE(scaling.valid);
    ASSERT_TRUE(scaling.squared().allFinite() && scaling.squared_inverse().allFinite());
    EXPECT_LE((scaling.squared() * b - a).norm(),
              1e-15 * scaling.squared().norm() * b.norm() + 1e-6 * a.norm());
  }
  ASSERT_TRUE(nesterov_todd(Vec3(0, 0, 1e-300), Vec3(0, 0, 1e300)).squared().allFinite());
  EXPECT_NEAR(nesterov_todd(Vec3(0, 0, 1e150), Vec3(0, 0, 1e-150)).squared()(2, 2) / 1e300, 1.0, 1e-14);
}

TEST(Jordan, StepLengthEndsOnTheBoundary) {
  Random random(37);
  int bounded = 0;
  for (int i = 0; i < 1000; ++i) {
    const Vec3 x = interior_point(random, random.log_uniform(1e-8, 1.0));
    const Vec3 d = random.log_uniform(1e-2, 1e2) * random.vec3();
    const double alpha = step_length_to_cone(x, d, inf);
    ASSERT_GE(alpha, 0.0);
    if (alpha == inf) {
      EXPECT_TRUE(in_self_dual_cone(d, 1e-12 * d.norm()));
      continue;
    }
    ++bounded;
    const double size = (x.norm() + alpha * d.norm());
    EXPECT_NEAR(jordan_eigenvalues(x + alpha * d)[0], 0.0, 1e-13 * size);
    for (const double fraction : {0.1, 0.5, 0.9, 0.999}) {
      EXPECT_GT(jordan_eigenvalues(x + fraction * alpha * d)[0], -1e-15 * size);
    }
    EXPECT_EQ(step_length_to_cone(x, d, 0.5 * alpha), 0.5 * alpha);
  }
  EXPECT_GT(bounded, 600);
}

TEST(Jordan, StepLengthSpecialDirections) {
  const Vec3 x(0.3, 0.4, 1.0);
  EXPECT_DOUBLE_EQ(step_length_to_cone(x, -x, 10.0), 1.0);              // to the apex
  EXPECT_DOUBLE_EQ(step_length_to_cone(x, Vec3(0, 0, -1), 10.0), 0.5);  // down the axis
  EXPECT_DOUBLE_EQ(step_length_to_cone(x, Vec3(0.3, 0.4, 0), 10.0), 1.0);
  EXPECT_EQ(step_length_to_cone(x, Vec3::Zero(), 10.0), 10.0);
  EXPECT_EQ(step_length_to_cone(x, Vec3(3, 4, 5), inf), inf);  // along a generator
  EXPECT_NEAR(step_length_to_cone(x, Vec3(-3, -4, -5), inf), 0.15,
              1e-15);  // (0.3,0.4,1) - 0.15 (3,4,5) = (-.15,-.2,.25)
  const Vec3 boundary(3, 4, 5);
  EXPECT_EQ(step_length_to_cone(boundary, Vec3(1, 0, 0), 1.0), 0.0);
  EXPECT_EQ(step_length_to_cone(boundary, Vec3(0, 0, 1), 1.0), 1.0);
  EXPECT_NEAR(step_length_to_cone(boundary, Vec3(-3, -4, 0), inf), 2.0, 1e-14);  // across to the other side
  EXPECT_EQ(step_length_to_cone(Vec3::Zero(), Vec3(0, 0, 1), 1.0), 1.0);
  EXPECT_EQ(step_length_to_cone(Vec3::Zero(), Vec3(1, 0, 0), 1.0), 0.0);
  for (const double big : {1e-300, 1e300}) {
    EXPECT_NEAR(step_length_to_cone(big * x, -big * x, 10.0), 1.0, 1e-15);
    EXPECT_FALSE(std::isnan(step_length_to_cone(x, big * Vec3(1, 2, -1), inf)));
  }
}

// Nearly parallel to -x the textbook discriminant loses half of the digits.
TEST(Jordan, StepLengthIsAccurateTowardsTheApex) {
  Random random(38);
  for (int i = 0; i < 200; ++i) {
    const Vec3 x = interior_point(random);
    const Vec3 d = -x + 1e-9 * x.norm() * random.vec3();
    const double alpha = step_length_to_cone(x, d, inf);
    const double condition = x[2] / jordan_eigenvalues(x)[0];
    EXPECT_NEAR(alpha, 1.0, 1e-8 * condition);
    EXPECT_NEAR(jordan_eigenvalues(x + alpha * d)[0], 0.0, 1e-14 * condition * x.norm());
  }
}

TEST(Jordan, CoulombMapsMatchTheCones) {
  Random random(39);
  for (int i = 0; i < 500; ++i) {
    const double mu = random.log_uniform(1e-3, 1e3);
    const Vec3 x(mu * random.uniform(), mu * random.uniform(), random.uniform());
    const Vec3 y(random.uniform(), random.uniform(), mu * random.uniform());
    const Vec3 x_tilde = impulse_to_self_dual(x, mu);
    const Vec3 y_tilde = velocity_to_self_dual(y, mu);
    EXPECT_EQ(in_self_dual_cone(x_tilde, 0.0), in_cone(x, mu));
    EXPECT_EQ(in_self_dual_cone(y_tilde, 0.0), in_dual_cone(y, mu));
    EXPECT_NEAR(x_tilde.dot(y_tilde), x.dot(y), 1e-14 * (1.0 + mu * mu));
    EXPECT_LE((impulse_from_self_dual(x_tilde, mu) - x).norm(), 1e-15 * x.norm());
    EXPECT_LE((velocity_from_self_dual(y_tilde, mu) - y).norm(), 1e-15 * y.norm());
  }
}

}  // namespace
}  // namespace tribo
