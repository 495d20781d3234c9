#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <limits>

#include "tests/support/finite_difference.h"
#include "tests/support/random.h"
#include "tribo/math/cone.h"

namespace tribo {
namespace {

using test::Random;

// The maps of cone.h as Vector -> Vector, for the shared check.
template <class F>
auto on_vec3(const F& f) {
  return [f](const Vector& x) { return Vector(f(Vec3(x))); };
}

template <class J>
auto matrix3(const J& jacobian) {
  return [jacobian](const Vector& x) { return Matrix(jacobian(Vec3(x))); };
}

template <class F, class J>
void check_everywhere(const F& f, const J& jacobian, unsigned seed) {
  Random random(seed);
  test::expect_jacobian_at_random_points(on_vec3(f), matrix3(jacobian),
                                         [&] { return Vector(3.0 * random.vec3()); });
}

TEST(ConeJacobian, Cone) {
  for (const double mu : {0.0, 0.2, 1.0, 2.5, 50.0}) {
    check_everywhere([mu](const Vec3& z) { return project_cone(z, mu); },
                     [mu](const Vec3& z) { return project_cone_jacobian(z, mu); }, 11);
  }
}

TEST(ConeJacobian, DualCone) {
  for (const double mu : {0.0, 0.2, 1.0, 2.5, 50.0}) {
    check_everywhere([mu](const Vec3& z) { return project_dual_cone(z, mu); },
                     [mu](const Vec3& z) { return project_dual_cone_jacobian(z, mu); }, 12);
  }
}

TEST(ConeJacobian, Strict) {
  for (const double mu : {0.0, 0.2, 1.0, 2.5}) {
    check_everywhere([mu](const Vec3& z) { return project_strict(z, mu); },
                     [mu](const Vec3& z) { return project_strict_jacobian(z, mu); }, 13);
  }
}

TEST(ConeJacobian, Metric) {
  for (const double mu : {0.0, 0.3, 1.5}) {
    for (const double ratio : {0.04, 1.0, 30.0}) {
      check_everywhere([=](const Vec3& z) { return project_cone_metric(z, mu, 2.0 * ratio, 2.0); },
                       [=](const Vec3& z) { return project_cone_metric_jacobian(z, mu, 2.0 * ratio, 2.0); },
                       14);
    }
  }
}

TEST(ConeJacobian, DeSaxce) {
  check_everywhere([](const Vec3& u) { return de_saxce(u, 0.7); },
                   [](const Vec3& u) { return de_saxce_jacobian(u, 0.7); }, 15);
  EXPECT_EQ(de_saxce_jacobian(Vec3(0, 0, 3), 0.7), Mat3::Zero());
}

TEST(ConeJacobian, Disk) {
  Random random(16);
  const auto f = [](const Vector& x) { return Vector(project_disk(Vec2(x), 1.2)); };
  const auto jacobian = [](const Vector& x) { return Matrix(project_disk_jacobian(Vec2(x), 1.2)); };
  test::expect_jacobian_at_random_points(f, jacobian, [&] { return Vector(3.0 * random.vec2()); });
  EXPECT_EQ(project_disk_jacobian(Vec2(0, 0), 0.0), Mat2::Zero());
}

TEST(ConeJacobian, OrthantAndBox) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  Random random(17);
  const auto draw = [&] { return Vector(4.0 * random.vector(1)); };
  const auto scalar = [](auto map) {
    return [map](const Vector& x) { return Vector::Constant(1, map(x[0])).eval(); };
  };
  const auto matrix = [](auto map) {
    return [map](const Vector& x) { return Matrix::Constant(1, 1, map(x[0])).eval(); };
  };
  test::expect_jacobian_at_random_points(scalar(project_orthant), matrix(project_orthant_derivative), draw);
  for (const auto& [lo, hi] : {std::pair{-1.0, 0.5}, {-inf, 1.0}, {-2.0, inf}, {-inf, inf}, {1.0, 1.0}}) {
    const double a = lo, b = hi;
    test::expect_jacobian_at_random_points(scalar([=](double x) { return project_box(x, a, b); }),
                                           matrix([=](double x) { return project_box_derivative(x, a, b); }),
                                           draw);
  }
  EXPECT_EQ(project_orthant_derivative(0.0), 1.0);
  EXPECT_EQ(project_box_derivative(2.0, -1.0, 2.0), 1.0);
  EXPECT_EQ(project_box_derivative(1.0, 1.0, 1.0), 0.0);
}

// The Jacobian of a projection on a convex set is symmetric with eigenvalues in [0, 1], kinks included.
TEST(ConeJacobian, ElementsAreFirmlyNonExpansive) {
  Random random(18);
  for (const double mu : {0.0, 0.4, 2.0, 1e6}) {
    for (int i = 0; i < 200; ++i) {
      Vec3 z = random.vec3();
      if (i % 5 == 1) z.head<2>() *= mu * std::abs(z[2]) / z.head<2>().norm();  // boundary of K or its mirror
      if (i % 5 == 2) z.head<2>() *= std::abs(z[2]) / ((1e-3 + mu) * z.head<2>().norm());
      if (i % 5 == 3) z.head<2>().setZero();
      if (i == 4) z.setZero();
      for (const Mat3& element : {project_cone_jacobian(z, mu), project_dual_cone_jacobian(z, mu)}) {
        EXPECT_LE((element - element.transpose()).norm(), 1e-15);
        const Vec3 eigenvalues = Eigen::SelfAdjointEigenSolver<Mat3>(element).eigenvalues();
        EXPECT_GE(eigenvalues.minCoeff(), -1e-14);
        EXPECT_LE(eigenvalues.maxCoeff(), 1.0 + 1e-14);
      }
    }
  }
}

TEST(ConeJacobian, KinksLieBetweenTheTwoSides) {
  Random random(19);
  const double mu = 0.75;
  for (int i = 0; i < 200; ++i) {
    const double angle = random.uniform(-3.2, 3.2);
    const Vec2 e(std::cos(angle), std::sin(angle));
    const Vec3 on_cone(mu * e[0], mu * e[1], 1.0);
    const Vec3 on_polar(e[0], e[1], -mu);
    const Vec3 d = random.vec3();
    const auto cone = on_vec3([mu](const Vec3& z) { return project_cone(z, mu); });
    const auto cone_j = matrix3([mu](const Vec3& z) { return project_cone_jacobian(z, mu); });
    const auto dual = on_vec3([mu](const Vec3& z) { return project_dual_cone(z, mu); });
    const auto dual_j = matrix3([mu](const Vec3& z) { return project_dual_cone_jacobian(z, mu); });
    const auto strict = on_vec3([mu](const Vec3& z) { return project_strict(z, mu); });
    const auto strict_j = matrix3([mu](const Vec3& z) { return project_strict_jacobian(z, mu); });
    test::expect_jacobian_between_sides(cone, cone_j, on_cone, d);
    test::expect_jacobian_between_sides(cone, cone_j, on_polar, d);
    test::expect_jacobian_between_sides(dual, dual_j, -on_cone, d);
    test::expect_jacobian_between_sides(dual, dual_j, -on_polar, d);
    test::expect_jacobian_between_sides(strict, strict_j, on_cone, d);
    test::expect_jacobian_between_sides(strict, strict_j, Vec3(e[0], e[1], 0.0), d);
  }
}

// A Jacobian of a map in a metric D is self-adjoint there: D J = J^T D.
TEST(ConeJacobian, MetricJacobianIsSelfAdjointInItsMetric) {
  Random random(20);
  for (int i = 0; i < 200; ++i) {
    const double d_t = random.log_uniform(0.1, 10.0);
    const double d_n = random.log_uniform(0.1, 10.0);
    const Mat3 jacobian = project_cone_metric_jacobian(random.vec3(), 0.6, d_t, d_n);
    const Mat3 weighted = Vec3(d_t, d_t, d_n).asDiagonal() * jacobian;
    EXPECT_LE((weighted - weighted.transpose()).norm(), 1e-13);
  }
}

}  // namespace
}  // namespace tribo
