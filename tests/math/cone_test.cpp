#include "tribo/math/cone.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/support/random.h"

namespace tribo {
namespace {

using test::Random;

const std::vector<double> frictions = {0.0, 1e-6, 0.1, 0.5, 1.0, 3.0, 1e6};

// A point of K_mu drawn through its generators, not through the projection under test.
Vec3 random_cone_point(Random& random, double mu) {
  const double normal = random.uniform(0.0, 2.0);
  const double angle = random.uniform(-3.2, 3.2);
  const double tangent = mu * normal * random.uniform(0.0, 1.0);
  return {tangent * std::cos(angle), tangent * std::sin(angle), normal};
}

TEST(Cone, HandComputedProjections) {
  // mu = 1: the generator through (1, 0, 1); (2, 0, 0) is nearest to (1, 0, 1).
  EXPECT_TRUE(project_cone(Vec3(2, 0, 0), 1.0).isApprox(Vec3(1, 0, 1), 1e-15));
  EXPECT_EQ(project_cone(Vec3(0.3, 0.1, 1), 0.5), Vec3(0.3, 0.1, 1));
  EXPECT_EQ(project_cone(Vec3(0.1, 0, -1), 0.5), Vec3(0, 0, 0));
  EXPECT_TRUE(project_dual_cone(Vec3(0, 5, 0), 0.5).isApprox(Vec3(0, 4, 2), 1e-15));
  EXPECT_TRUE(project_strict(Vec3(3, 4, 2), 0.5).isApprox(Vec3(0.6, 0.8, 2), 1e-15));
  EXPECT_EQ(project_strict(Vec3(3, 4, -2), 0.5), Vec3(0, 0, 0));
  EXPECT_EQ(project_cone(Vec3(1, 2, 3), 0.0), Vec3(0, 0, 3));
  EXPECT_EQ(project_cone(Vec3(0, 0, -3), 0.0), Vec3(0, 0, 0));
  EXPECT_FALSE(in_cone(Vec3(0, 0, -3), 0.0));
  EXPECT_EQ(project_dual_cone(Vec3(1, 2, -3), 0.0), Vec3(1, 2, 0));
}

TEST(Cone, ProjectionsLieInTheirSetsAndAreIdempotent) {
  Random random(1);
  for (const double mu : frictions) {
    for (int i = 0; i < 300; ++i) {
      const Vec3 z = random.log_uniform(1e-3, 1e3) * random.vec3();
      const double slack = 1e-14 * z.norm() * (1.0 + mu);
      const Vec3 p = project_cone(z, mu);
      const Vec3 q = project_dual_cone(z, mu);
      const Vec3 s = project_strict(z, mu);
      EXPECT_TRUE(in_cone(p, mu, slack));
      EXPECT_TRUE(in_dual_cone(q, mu, slack));
      EXPECT_TRUE(in_cone(s, mu, slack));
      EXPECT_EQ(s[2], std::max(z[2], 0.0));
      EXPECT_LE((project_cone(p, mu) - p).norm(), 1e-14 * z.norm());
      EXPECT_LE((project_dual_cone(q, mu) - q).norm(), 1e-14 * z.norm());
      EXPECT_LE((project_strict(s, mu) - s).norm(), 1e-14 * z.norm());
    }
  }
}

TEST(Cone, MoreauDecomposition) {
  Random random(2);
  for (const double mu : frictions) {
    for (int i = 0; i < 300; ++i) {
      const Vec3 z = random.vec3();
      const Vec3 p = project_cone(z, mu);
      const Vec3 q = project_dual_cone(-z, mu);
      EXPECT_LE((p - q - z).norm(), 1e-14);
      EXPECT_LE(std::abs(p.dot(q)), 1e-14);
    }
  }
}

TEST(Cone, FirmlyNonExpansive) {
  Random random(3);
  for (const double mu : frictions) {
    for (int i = 0; i < 300; ++i) {
      const Vec3 a = random.vec3();
      const Vec3 b = a + random.log_uniform(1e-3, 1.0) * random.vec3();
      for (const bool dual : {false, true}) {
        const Vec3 d = dual ? Vec3(project_dual_cone(a, mu) - project_dual_cone(b, mu))
                            : Vec3(project_cone(a, mu) - project_cone(b, mu));
        EXPECT_LE(d.squaredNorm(), d.dot(a - b) + 1e-14);
      }
    }
  }
}

// x = P(z) in the metric D exactly when (z - x)^T D (y - x) <= 0 for every y in the cone.
TEST(Cone, MetricProjectionSatisfiesItsVariationalInequality) {
  Random random(4);
  for (const double mu : {0.0, 0.1, 0.7, 3.0}) {
    for (int i = 0; i < 100; ++i) {
      const Vec3 z = random.vec3();
      const double d_t = random.log_uniform(1e-3, 1e3);
      const double d_n = random.log_uniform(1e-3, 1e3);
      const Vec3 weight(d_t, d_t, d_n);
      const Vec3 x = project_cone_metric(z, mu, d_t, d_n);
      EXPECT_TRUE(in_cone(x, mu, 1e-13));
      const Vec3 gap = weight.cwiseProduct(z - x);
      for (int j = 0; j < 50; ++j) {
        EXPECT_LE(gap.dot(random_cone_point(random, mu) - x), 1e-12 * weight.maxCoeff());
      }
      EXPECT_LE((project_cone_metric(x, mu, d_t, d_n) - x).norm(), 1e-13);
    }
  }
}

TEST(Cone, MetricProjectionWithEqualWeightsIsEuclidean) {
  Random random(5);
  for (const double mu : frictions) {
    for (int i = 0; i < 100; ++i) {
      const Vec3 z = random.vec3();
      EXPECT_LE((project_cone_metric(z, mu, 3.0, 3.0) - project_cone(z, mu)).norm(), 1e-15);
    }
  }
}

TEST(Cone, StrictOperatorKeepsTheDirectionOfTheTangent) {
  Random random(6);
  for (int i = 0; i < 200; ++i) {
    const Vec3 z = random.vec3();
    const Vec3 s = project_strict(z, 0.4);
    EXPECT_NEAR(z[0] * s[1] - z[1] * s[0], 0.0, 1e-15);
    EXPECT_GE(z.head<2>().dot(s.head<2>()), 0.0);
    // Sliding or separating: the friction is the largest the normal allows.
    if (!in_cone(z, 0.4)) {
      EXPECT_NEAR(s.head<2>().norm(), 0.4 * s[2], 1e-15);
    }
  }
}

TEST(Cone, DeSaxceShiftTurnsNonPenetrationIntoDualMembership) {
  Random random(7);
  for (const double mu : frictions) {
    for (int i = 0; i < 200; ++i) {
      const Vec3 u = random.vec3();
      const Vec3 shifted = u + de_saxce(u, mu);
      EXPECT_EQ(shifted.head<2>(), u.head<2>());
      if (std::abs(u[2]) < 1e-9 * (1.0 + mu)) continue;  // undecidable after rounding mu |u_t| away
      EXPECT_EQ(in_dual_cone(shifted, mu), u[2] >= 0.0) << "mu " << mu << " u " << u.transpose();
    }
  }
}

TEST(Cone, NaturalMapVanishesAtSignoriniCoulombSolutions) {
  const double mu = 0.5;
  struct Case {
    Vec3 impulse, velocity;
  };
  const Case solutions[] = {
      {Vec3(0, 0, 0), Vec3(1, -2, 0.3)},            // separating
      {Vec3(0.2, -0.3, 1), Vec3(0, 0, 0)},          // sticking
      {Vec3(-0.3, -0.4, 1), Vec3(0.6, 0.8, 0) * 7}  // sliding against the friction
  };
  for (const Case& c : solutions) {
    const Vec3 step = c.impulse - c.velocity - de_saxce(c.velocity, mu);
    EXPECT_LE((c.impulse - project_cone(step, mu)).norm(), 1e-14);
    EXPECT_LE((c.impulse - project_strict(c.impulse - c.velocity, mu)).norm(), 1e-14);
  }
  const Vec3 oblique(0.5, 0, 1);  // on the cone, but friction not opposed to the slip
  const Vec3 slip(0.6, 0.8, 0);
  EXPECT_GT((oblique - project_cone(oblique - slip - de_saxce(slip, mu), mu)).norm(), 0.1);
}

TEST(Disk, ProjectsOnTheNearestPoint) {
  EXPECT_TRUE(project_disk(Vec2(3, 4), 2.0).isApprox(Vec2(1.2, 1.6), 1e-15));
  EXPECT_EQ(project_disk(Vec2(0.3, 0.4), 2.0), Vec2(0.3, 0.4));
  EXPECT_EQ(project_disk(Vec2(3, 4), 0.0), Vec2(0, 0));
  EXPECT_EQ(project_disk(Vec2(3, 4), -1.0), Vec2(0, 0));
  EXPECT_EQ(project_disk(Vec2(3, 4), std::numeric_limits<double>::infinity()), Vec2(3, 4));
}

TEST(Intervals, OrthantAndBox) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(project_orthant(-2.0), 0.0);
  EXPECT_EQ(project_orthant(2.0), 2.0);
  EXPECT_EQ(project_box(5.0, -1.0, 2.0), 2.0);
  EXPECT_EQ(project_box(-5.0, -1.0, 2.0), -1.0);
  EXPECT_EQ(project_box(0.5, -1.0, 2.0), 0.5);
  EXPECT_EQ(project_box(-5.0, -inf, inf), -5.0);
  EXPECT_EQ(project_box(-5.0, 0.0, inf), 0.0);
  EXPECT_EQ(project_box(7.0, 1.0, 1.0), 1.0);
}

TEST(Cone, ExtremeInputsStayFinite) {
  const double sizes[] = {0.0, 1e-310, 1e-300, 1e-160, 1.0, 1e160, 1e300};
  std::vector<double> values;
  for (const double size : sizes) {
    values.push_back(size);
    values.push_back(-size);
  }
  for (const double mu : {0.0, 1e-300, 1e-6, 0.5, 1e6}) {
    for (const double a : values) {
      for (const double b : values) {
        for (const double n : values) {
          const Vec3 z(a, b, n);
          const auto where = [&] { return ::testing::Message() << "mu " << mu << " z " << z.transpose(); };
          ASSERT_TRUE(project_cone(z, mu).allFinite()) << where();
          ASSERT_TRUE(project_dual_cone(z, mu).allFinite()) << where();
          ASSERT_TRUE(project_strict(z, mu).allFinite()) << where();
          ASSERT_TRUE(project_cone_metric(z, mu, 1e-3, 1e3).allFinite()) << where();
          ASSERT_TRUE(project_cone_jacobian(z, mu).allFinite()) << where();
          ASSERT_TRUE(project_dual_cone_jacobian(z, mu).allFinite()) << where();
          ASSERT_TRUE(project_strict_jacobian(z, mu).allFinite()) << where();
          ASSERT_TRUE(project_cone_metric_jacobian(z, mu, 1e-3, 1e3).allFinite()) << where();
          ASSERT_TRUE(de_saxce(z, mu).allFinite()) << where();
          ASSERT_TRUE(de_saxce_jacobian(z, mu).allFinite()) << where();
          ASSERT_TRUE(project_disk(Vec2(a, b), std::abs(n)).allFinite()) << where();
          ASSERT_TRUE(project_disk_jacobian(Vec2(a, b), std::abs(n)).allFinite()) << where();
        }
      }
    }
  }
}

// Cones are invariant under scaling: projections of huge and tiny points are those of ordinary ones, scaled.
TEST(Cone, ProjectionIsPositivelyHomogeneous) {
  Random random(8);
  for (const double mu : {0.3, 1e6}) {
    for (int i = 0; i < 100; ++i) {
      const Vec3 z = random.vec3();
      for (const double scale : {0x1p-900, 0x1p+900}) {
        EXPECT_LE((project_cone(scale * z, mu) / scale - project_cone(z, mu)).norm(), 1e-15);
        EXPECT_LE((project_dual_cone(scale * z, mu) / scale - project_dual_cone(z, mu)).norm(), 1e-15);
        EXPECT_LE((project_strict(scale * z, mu) / scale - project_strict(z, mu)).norm(), 1e-15);
      }
    }
  }
}

}  // namespace
}  // namespace tribo
