#include "tribo/solve/newton/convex_newton.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/dense_twin.h"
#include "tests/support/finite_difference.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo {
namespace {

// A problem with its penalised law, multipliers and shift drawn at random.
struct Case {
  ContactProblem problem;
  ProximalLaw law;
  ConvexPotential potential;
  Vector multiplier, shift;

  Case(ContactProblem p, double beta, unsigned seed) : problem(std::move(p)) {
    test::Random random(seed);
    multiplier = random.vector(problem.row_count());
    shift = 0.1 * random.vector(problem.row_count());
    law.prepare(problem, beta);
    potential.prepare(problem, law);
    potential.set_offset(law, multiplier, shift);
  }
};

TEST(ConvexPotential, IsTheProximalLaw) {
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    for (const double beta : {0.5, 10.0, 1e4}) {
      Case c(test::mixed_problem(seed), beta, seed);
      test::Random random(seed + 50);
      Vector by_law(c.problem.row_count()), by_potential(c.problem.row_count());
      GroupBlocks d_law, d_potential;
      for (int k = 0; k < 20; ++k) {
        const Vector u = random.vector(c.problem.row_count());
        const Vector shifted = u + c.shift;
        c.law.impulse(c.problem, Law::convex, shifted, c.multiplier, by_law);
        c.law.derivative(c.problem, Law::convex, shifted, c.multiplier, d_law);
        c.potential.impulse(u, by_potential);
        EXPECT_LT((by_law - by_potential).norm(), 1e-12 * (1.0 + by_law.norm()));
        c.potential.evaluate(u, by_potential, d_potential);
        EXPECT_LT((by_law - by_potential).norm(), 1e-12 * (1.0 + by_law.norm()));
        for (Index i = 0; i < c.problem.constraint_count(); ++i) {
          const Index n = c.problem.rows(i);
          const Matrix expected = d_law[i].topLeftCorner(n, n);
          const Matrix found = d_potential[i].topLeftCorner(n, n);
          EXPECT_LT((expected - found).norm(), 1e-10 * (1.0 + expected.norm())) << "constraint " << i;
          EXPECT_EQ(found, found.transpose().eval());
        }
      }
    }
  }
}

TEST(ConvexPotential, ImpulseIsMinusItsGradientAndDerivativeItsHessian) {
  for (const unsigned seed : {5u, 6u}) {
    Case c(test::mixed_problem(seed), 2.0, seed);
    const Index rows = c.problem.row_count();
    const auto value = [&](const Vector& u) -> Vector { return Vector::Constant(1, c.potential.value(u)); };
    const auto impulse = [&](const Vector& u) -> Vector {
      Vector out(rows);
      c.potential.impulse(u, out);
      return out;
    };
    const auto gradient = [&](const Vector& u) -> Matrix { return -impulse(u).transpose(); };
    const auto hessian = [&](const Vector& u) -> Matrix {
      GroupBlocks d;
      Vector scratch(rows);
      c.potential.evaluate(u, scratch, d);
      return -test::dense_weights(c.problem.jacobian(), d);
    };
    test::Random random(seed + 7);
    int smooth = 0;
    for (int k = 0; k < 100; ++k) {
      const Vector u = 2.0 * random.vector(rows);
      test::expect_jacobian(value, gradient, u, 1e-6);
      if (!test::is_smooth_at(impulse, u)) continue;
      test::expect_jacobian(impulse, hessian, u, 1e-6);
      ++smooth;
    }
    EXPECT_GT(smooth, 60);
  }
}

// Castro et al. (37) with R_t, R_n of one sliding contact and p = 0.
TEST(ConvexPotential, HessianBlockOfASlidingContact) {
  const double mu = 0.5, rt = 0.2, rn = 0.7;
  ContactProblemBuilder builder;
  const Index body = builder.add_tree(Mat3::Identity(), Vec3::Zero());
  builder.add_contact(mu, {{body, Mat3::Identity()}}, Vec3::Zero(), Vec3(rt, rt, rn));
  Case c(builder.build(), std::numeric_limits<double>::infinity(), 8);
  c.potential.set_offset(c.law, Vec3::Zero(), Vec3::Zero());
  const Vec3 u(0.3, -0.4, -0.1);
  const Vec3 y(-u[0] / rt, -u[1] / rt, -u[2] / rn);
  const double yr = y.head<2>().norm();
  ASSERT_GT(yr, mu * y[2]);
  const double mu_hat = mu * rt / rn, mu_tilde_squared = mu * mu * rt / rn;
  const Vec2 t = y.head<2>() / yr;
  const double s = mu_hat * yr + y[2];
  Mat3 expected;
  expected.topLeftCorner<2, 2>() =
      mu_hat * (mu_hat * t * t.transpose() + s * (Mat2::Identity() - t * t.transpose()) / yr);
  expected.topRightCorner<2, 1>() = mu_hat * t;
  expected.bottomLeftCorner<1, 2>() = mu_hat * t.transpose();
  expected(2, 2) = 1.0;
  expected *= rn / (1.0 + mu_tilde_squared);
  const Vec3 inverse(1.0 / rt, 1.0 / rt, 1.0 / rn);
  expected = inverse.asDiagonal() * expected * inverse.asDiagonal();
  Vector impulse(3);
  GroupBlocks d;
  c.potential.evaluate(u, impulse, d);
  EXPECT_LT((d[0] - expected).norm(), 1e-13);
  const double normal = s / (1.0 + mu_tilde_squared);  // (27), with gamma_t = mu gamma_n t
  EXPECT_LT((impulse - Vec3(mu * normal * t[0], mu * normal * t[1], normal)).norm(), 1e-14);
}

TEST(ConvexPotential, SlopeAlongALine) {
  Case c(test::mixed_problem(9), 3.0, 9);
  test::Random random(9);
  const double step = 1e-6;
  for (int k = 0; k < 50; ++k) {
    const Vector u = random.vector(c.problem.row_count()), d = random.vector(c.problem.row_count());
    for (const double alpha : {0.0, 0.7, 2.0}) {
      const ValueAndDerivative at = c.potential.along(u, d, alpha);
      const double rise =
          c.potential.value(u + (alpha + step) * d) - c.potential.value(u + (alpha - step) * d);
      EXPECT_NEAR(at.value, rise / (2.0 * step), 1e-6 * (1.0 + std::abs(at.value)));
      GroupBlocks blocks;
      Vector impulse(u.size());
      c.potential.evaluate(u + alpha * d, impulse, blocks);
      const double curvature = d.dot(test::dense_weights(c.problem.jacobian(), blocks) * d);
      EXPECT_NEAR(at.derivative, curvature, 1e-9 * (1.0 + curvature));
      EXPECT_NEAR(at.value, -impulse.dot(d), 1e-10 * (1.0 + std::abs(at.value)));
    }
  }
}

TEST(ConvexNewton, GradientOfTheCost) {
  Case c(test::mixed_problem(10), 5.0, 10);
  ConvexNewton newton;
  newton.prepare(c.problem);
  const auto cost = [&](const Vector& v) -> Vector {
    newton.start(c.problem, v);
    return Vector::Constant(1, newton.cost(c.problem, c.potential));
  };
  const auto gradient = [&](const Vector& v) -> Matrix {
    newton.start(c.problem, v);
    newton.linearize(c.problem, c.potential);
    return newton.gradient().transpose();
  };
  test::Random random(10);
  for (int k = 0; k < 20; ++k) {
    test::expect_jacobian(cost, gradient, random.vector(c.problem.dof_count()), 1e-6);
  }
}

class ConvexNewtonSearches : public testing::TestWithParam<LineSearch> {};

// Every step lowers the cost; the end is the minimum, whatever the start.
TEST_P(ConvexNewtonSearches, DescendToTheMinimum) {
  GeneratorSettings settings;
  settings.bodies = 6;
  settings.slide = true;
  for (const double beta : {1.0, 100.0}) {
    for (const ContactProblem& problem : {generate("tower", settings), test::mixed_problem(11)}) {
      Case c(problem, beta, 11);
      ConvexNewton newton;
      newton.set_line_search(GetParam(), 1e-8);
      newton.prepare(problem);
      test::Random random(12);
      Vector minimiser;
      for (int start = 0; start < 3; ++start) {
        newton.start(problem, random.vector(problem.dof_count()));
        newton.linearize(problem, c.potential);
        const double first = newton.gradient_norm(problem);
        double before = newton.cost(problem, c.potential);
        int steps = 0;
        while (newton.gradient_norm(problem) > 1e-11 * first && steps < 100) {
          const ConvexNewton::Step step = newton.step(problem, c.potential);
          ASSERT_TRUE(step.factorized);
          newton.linearize(problem, c.potential);
          const double after = newton.cost(problem, c.potential);
          EXPECT_LE(after, before + 1e-11 * std::abs(before));
          before = after;
          ++steps;
        }
        EXPECT_LT(steps, 60);
        if (start == 0) minimiser = newton.velocity();
        EXPECT_LT((newton.velocity() - minimiser).norm(), 1e-8 * (1.0 + minimiser.norm()));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConvexNewtonSearches, testing::Values(LineSearch::exact, LineSearch::armijo),
                         [](const auto& test) {
                           return test.param == LineSearch::exact ? std::string("exact")
                                                                  : std::string("armijo");
                         });

// At the end of an exact search the new gradient is orthogonal to the step just made.
TEST(ConvexNewton, ExactLineSearch) {
  Case c(test::mixed_problem(13), 50.0, 13);
  ConvexNewton newton;
  newton.set_line_search(LineSearch::exact, 1e-10);
  newton.prepare(c.problem);
  test::Random random(13);
  newton.start(c.problem, 3.0 * random.vector(c.problem.dof_count()));
  newton.linearize(c.problem, c.potential);
  const Vector before = newton.velocity();
  const ConvexNewton::Step step = newton.step(c.problem, c.potential);
  ASSERT_TRUE(step.progress);
  const Vector direction = (newton.velocity() - before) / step.length;
  newton.linearize(c.problem, c.potential);
  EXPECT_LT(std::abs(newton.gradient().dot(direction)), 1e-9 * std::abs(step.slope));
}

}  // namespace
}  // namespace tribo
