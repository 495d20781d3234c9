#include "tribo/problem/certificate.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "tests/support/dense_twin.h"
#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/base/errors.h"
#include "tribo/math/cone.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo {
namespace {

using Kind = ConstraintKind;

Solution of(const Vector& impulse) {
  Solution solution;
  solution.impulse = impulse;
  return solution;
}

// One constraint on unit masses whose bias makes the velocity `w` under the impulse `lambda`, so that every
// combination of the two can be judged.
Certificate judge(Kind kind, const Vec3& lambda, const Vec3& w, Law law = Law::exact, double mu = 0.5) {
  ContactProblemBuilder builder;
  builder.add_tree(Mat3::Identity(), Vec3::Zero());
  const std::vector<JacobianPiece> row{{0, Matrix(Vec3::UnitX().transpose())}};
  const Vec3 bias = w - lambda;
  if (kind == Kind::contact) builder.add_contact(mu, {{0, Mat3::Identity()}}, bias);
  if (kind == Kind::unilateral) builder.add_unilateral(row, bias[0]);
  if (kind == Kind::bilateral) builder.add_bilateral(row, bias[0]);
  if (kind == Kind::box) builder.add_box(-1.0, 1.0, row, bias[0]);
  return certify(builder.build(), of(lambda.head(rows_of(kind))), law);
}

struct Fields {
  double primal = 0, dual = 0, complementarity = 0, penetration = 0, creep = 0, angle = 0;
};

void expect_fields(const Certificate& c, const Fields& expected) {
  EXPECT_NEAR(c.cone_primal.value, expected.primal, 1e-14);
  EXPECT_NEAR(c.cone_dual.value, expected.dual, 1e-14);
  EXPECT_NEAR(c.complementarity.value, expected.complementarity, 1e-14);
  EXPECT_NEAR(c.penetration_velocity.value, expected.penetration, 1e-14);
  EXPECT_NEAR(c.stick_slip_velocity.value, expected.creep, 1e-14);
  EXPECT_NEAR(c.slip_angle.value, expected.angle, 1e-14);
  EXPECT_LT(c.momentum, 1e-15);
  const bool broken = expected.primal + expected.dual + expected.complementarity > 0.0;
  if (broken) {
    EXPECT_GT(c.error.value, 1e-3);
    EXPECT_EQ(c.error.constraint, 0);
    EXPECT_GT(c.fclib_error, 1e-3);
    EXPECT_GT(c.siconos_error, 1e-3);
  } else {
    EXPECT_LT(c.error.value, 1e-15);
    EXPECT_LT(c.fclib_error, 1e-15);
    EXPECT_LT(c.siconos_error, 1e-15);
  }
}

// A ball of 2 kg with free velocity (0.5, 0, -1) m/s: q = (0.5, 0, -1), W = I / 2.
Certificate ball(double mu, const Vec3& momentum, const Vec3& lambda, Law law) {
  ContactProblemBuilder builder;
  const Index tree = builder.add_tree(2.0 * Mat3::Identity(), momentum);
  builder.add_contact(mu, {{tree, Mat3::Identity()}});
  return certify(builder.build(), of(lambda), law);
}

TEST(Certificate, BallThatLandsSticksSlidesOrLeaves) {
  const Vec3 landing(1.0, 0.0, -2.0), leaving(1.0, 0.0, 2.0);
  for (const Law law : {Law::exact, Law::convex}) {
    expect_fields(ball(0.6, landing, Vec3(-1.0, 0.0, 2.0), law), {});
    expect_fields(ball(0.6, leaving, Vec3::Zero(), law), {});
  }
  const double mu = 0.4;
  expect_fields(ball(mu, landing, Vec3(-mu * 2.0, 0.0, 2.0), Law::exact), {});
  // Without the De Saxce term u is orthogonal to the impulse: the ball lifts off at u_n = mu |u_t|.
  const double normal = (2.0 + mu) / (1.0 + mu * mu);
  expect_fields(ball(mu, landing, Vec3(-mu * normal, 0.0, normal), Law::convex), {});
  // Each law refuses the other's solution.
  EXPECT_GT(ball(mu, landing, Vec3(-mu * 2.0, 0.0, 2.0), Law::convex).error.value, 1e-2);
  EXPECT_GT(ball(mu, landing, Vec3(-mu * normal, 0.0, normal), Law::exact).error.value, 1e-2);
}

TEST(Certificate, EachBrokenConditionOfAContactShowsInItsField) {
  const double mu = 0.5, cosine = 1.0 / std::hypot(1.0, mu);
  // Impulse outside the cone.
  expect_fields(judge(Kind::contact, Vec3(1, 0, 1), Vec3::Zero()), {.primal = 0.5 * cosine});
  expect_fields(judge(Kind::contact, Vec3(0, 0, -1), Vec3::Zero()), {.primal = 1.0});
  // Penetration.
  expect_fields(judge(Kind::contact, Vec3::Zero(), Vec3(0, 0, -0.3)), {.dual = 0.3, .penetration = 0.3});
  // A loaded contact that separates.
  expect_fields(judge(Kind::contact, Vec3(0, 0, 1), Vec3(0, 0, 0.2)), {.complementarity = 0.2});
  // A contact inside its cone creeps.
  expect_fields(judge(Kind::contact, Vec3(0, 0, 1), Vec3(0.06, 0.08, 0)),
                {.complementarity = mu * 0.1, .creep = 0.1});
  // Friction at an angle to the slip.
  for (const double angle : {0.2, 1.0, 3.0}) {
    const Vec3 lambda(-mu * std::cos(angle), -mu * std::sin(angle), 1.0);
    expect_fields(judge(Kind::contact, lambda, Vec3(0.2, 0, 0)),
                  {.complementarity = mu * 0.2 * (1.0 - std::cos(angle)), .angle = angle});
  }
}

TEST(Certificate, EachBrokenConditionOfAScalarShowsInItsField) {
  const auto scalar = [](Kind kind, double lambda, double w) {
    return judge(kind, Vec3(lambda, 0, 0), Vec3(w, 0, 0));
  };
  expect_fields(scalar(Kind::unilateral, 2.0, 0.0), {});
  expect_fields(scalar(Kind::unilateral, 0.0, 2.0), {});
  expect_fields(scalar(Kind::unilateral, -1.0, 0.0), {.primal = 1.0});
  expect_fields(scalar(Kind::unilateral, 0.0, -0.3), {.dual = 0.3, .penetration = 0.3});
  expect_fields(scalar(Kind::unilateral, 2.0, 0.1), {.complementarity = 0.2});
  expect_fields(scalar(Kind::bilateral, -5.0, 0.0), {});
  expect_fields(scalar(Kind::bilateral, -5.0, 0.3), {.dual = 0.3, .penetration = 0.3});
  expect_fields(scalar(Kind::bilateral, 5.0, -0.3), {.dual = 0.3, .penetration = 0.3});
  expect_fields(scalar(Kind::box, 0.5, 0.0), {});
  expect_fields(scalar(Kind::box, -1.0, 0.7), {});
  expect_fields(scalar(Kind::box, 1.0, -0.7), {});
  expect_fields(scalar(Kind::box, 1.5, 0.0), {.primal = 0.5});
  expect_fields(scalar(Kind::box, -1.5, 0.0), {.primal = 0.5});
  EXPECT_GT(scalar(Kind::box, 0.5, 0.1).complementarity.value, 1e-2);
  EXPECT_GT(scalar(Kind::box, 1.0, 0.1).complementarity.value, 1e-2);
  EXPECT_GT(scalar(Kind::box, 1.0, 0.1).error.value, 1e-2);
}

TEST(Certificate, NamesTheConstraint) {
  ContactProblemBuilder builder;
  builder.add_tree(Matrix::Identity(9, 9), Vector::Zero(9));
  for (Index i = 0; i < 3; ++i) {
    Matrix block = Matrix::Zero(3, 9);
    block.middleCols<3>(3 * i).setIdentity();
    builder.add_contact(0.5, {{0, block}}, Vec3(0, 0, i == 1 ? -0.5 : -0.1));
  }
  Vector lambda = Vector::Zero(9);
  lambda[8] =
      0.1;  // the third is solved; without any impulse all errors are relative to their own demand and equal
  const Certificate c = certify(builder.build(), of(lambda));
  EXPECT_EQ(c.penetration_velocity.constraint, 1);
  EXPECT_EQ(c.error.constraint, 1);
  EXPECT_EQ(c.slip_angle.constraint, -1);
}

TEST(Certificate, MomentumOfTheGivenVelocity) {
  const ContactProblem problem = test::all_kinds(1, 0.5);
  const test::DenseTwin twin(problem);
  test::Random random(1);
  Solution solution = of(random.vector(problem.row_count()));
  EXPECT_LT(certify(problem, solution).momentum, 1e-14);  // recomputed where none is given
  problem.generalized_velocity_of(solution.impulse, solution.generalized_velocity);
  EXPECT_LT(certify(problem, solution).momentum, 1e-14);
  const Certificate before = certify(problem, solution);
  solution.generalized_velocity[4] += 0.01;
  const Certificate after = certify(problem, solution);
  const Vector inertia = twin.a * solution.generalized_velocity;
  const Vector reaction = twin.j.transpose() * solution.impulse;
  const auto norm = [&](const Vector& f) { return std::sqrt(f.dot(twin.a.llt().solve(f))); };
  const double expected = norm(inertia - twin.b - reaction) / std::max(norm(inertia), norm(twin.b));
  EXPECT_GT(expected, 1e-4);
  EXPECT_NEAR(after.momentum, expected, 1e-10 * expected);
  EXPECT_EQ(after.error.value, before.error.value);
  // Constraint velocities are always recomputed.
  solution.velocity = Vector::Constant(problem.row_count(), 1e30);
  EXPECT_EQ(certify(problem, solution).error.value, before.error.value);
}

// sqrt(max_t b_t . A_t^-1 b_t); problems in Delassus form have no momentum of their own.
double largest_root_energy(const ContactProblem& problem) {
  double largest = 0.0;
  for (Index t = 0; t < problem.tree_count(); ++t) {
    const Vector b = problem.momentum().segment(problem.mass().block_start(t), problem.mass().block_size(t));
    largest = std::max(largest, b.dot(Matrix(problem.mass().block(t)).llt().solve(b)));
  }
  return std::sqrt(largest);
}

TEST(Certificate, MeasuresFollowTheirFormulas) {
  for (const Law law : {Law::exact, Law::convex}) {
    for (const ContactProblem& problem :
         {test::all_kinds(2, 0.5), test::mixed_problem(3), test::lifted_problem(4, 0.2)}) {
      const test::DenseTwin twin(problem);
      test::Random random(5);
      const Vector lambda = random.vector(problem.row_count());
      const Vector w = twin.w * lambda + twin.q + twin.r.cwiseProduct(lambda);
      Vector hat = w;
      Vector scales(problem.row_count());
      for (Index i = 0; i < problem.constraint_count(); ++i) {
        const Index row = problem.row(i);
        scales.segment(row, problem.rows(i)).setConstant(problem.scale(i));
        if (problem.kind(i) != Kind::contact || law == Law::convex) continue;
        hat[row + 2] += problem.friction(i) * w.segment<2>(row).norm();
      }
      Vector plain = lambda - hat, scaled = lambda - hat.cwiseQuotient(scales), strict = lambda - w;
      test::project(problem, plain);
      test::project(problem, scaled);
      const Vector before = strict;
      test::project(problem, strict);
      for (Index i = 0; i < problem.constraint_count(); ++i) {
        const Index row = problem.row(i);
        if (problem.kind(i) != Kind::contact) continue;
        const double n = std::max(0.0, before[row + 2]);
        const double t = before.segment<2>(row).norm();
        strict[row + 2] = n;
        strict.segment<2>(row) = before.segment<2>(row) * std::min(1.0, problem.friction(i) * n / t);
      }
      // sqrt(J): impulses times, velocities over sqrt(w).
      const Vector root = scales.cwiseSqrt();
      const double demand = twin.q.cwiseQuotient(root).lpNorm<Eigen::Infinity>();
      const double impulses = lambda.cwiseProduct(root).lpNorm<Eigen::Infinity>();
      const double floor = std::ldexp(largest_root_energy(problem), -26);
      const double common = std::max(std::min(impulses, 1e2 * demand), floor);
      double error = 0.0;
      for (Index i = 0; i < problem.constraint_count(); ++i) {
        const auto part = [&](const Vector& x) { return x.segment(problem.row(i), problem.rows(i)); };
        const double own = 1e-3 * part(twin.q.cwiseQuotient(root)).lpNorm<Eigen::Infinity>();
        const double map = part((lambda - scaled).cwiseProduct(root)).lpNorm<Eigen::Infinity>();
        error = std::max(error, map / std::max(common, own));
      }
      const double fclib = (lambda - plain).norm() / twin.q.norm();
      const Vector u = twin.w * lambda + twin.q;
      const double siconos = (lambda - plain).norm() / std::max({twin.q.norm(), lambda.norm(), u.norm()});

      const Certificate c = certify(problem, of(lambda), law);
      EXPECT_NEAR(c.error.value, error, 1e-10 * error);
      EXPECT_NEAR(c.fclib_error, fclib, 1e-10 * fclib);
      EXPECT_NEAR(c.siconos_error, siconos, 1e-10 * siconos);
      EXPECT_NEAR(c.lee_residual, (lambda - strict).norm() / problem.contact_count(), 1e-10);
      EXPECT_EQ(value_of(c, Measure::scaled), c.error.value);
      EXPECT_EQ(value_of(c, Measure::fclib), c.fclib_error);
      EXPECT_EQ(value_of(c, Measure::siconos), c.siconos_error);
      // The stopping test is the same number.
      for (const Measure measure : {Measure::scaled, Measure::fclib, Measure::siconos}) {
        const double value = value_of(c, measure);
        EXPECT_NEAR(Certifier::error(problem, lambda, u, law, measure), value, 1e-10 * value);
      }
    }
  }
}

// Grams or tonnes: masses, momenta and impulses times 1e6, compliance and box bounds to match.
TEST(Certificate, ErrorDoesNotDependOnTheUnitOfMass) {
  const auto make = [](double unit) {
    test::Random random(6);
    ContactProblemBuilder builder;
    for (int t = 0; t < 3; ++t) {
      builder.add_tree(unit * test::random_spd(random, 6), unit * random.vector(6));
    }
    for (Index k = 0; k < 6; ++k) {
      builder.add_contact(0.4, {{k % 3, random.matrix(3, 6)}, {(k + 1) % 3, random.matrix(3, 6)}},
                          random.vec3(), Vec3::Constant(0.01 / unit));
    }
    builder.add_box(-0.1 * unit, 0.1 * unit, std::vector<JacobianPiece>{{0, random.matrix(1, 6)}});
    return builder.build();
  };
  test::Random random(7);
  const Vector lambda = random.vector(19);
  const double base = certify(make(1.0), of(lambda)).error.value;
  EXPECT_GT(base, 0.1);
  for (const double unit : {1e-6, 1e6}) {
    EXPECT_NEAR(certify(make(unit), of(unit * lambda)).error.value, base, 1e-9 * base);
  }
}

// Beside an impulse of 1e20 N s a velocity of 0.3 m/s is below rounding; it must not be lost.
TEST(Certificate, HugeImpulsesDoNotHideVelocities) {
  const double huge = 1e20;
  for (const Kind kind : {Kind::contact, Kind::unilateral, Kind::bilateral}) {
    ContactProblemBuilder builder;
    builder.add_tree(Mat3::Identity(), Vec3::Zero());
    for (const double sign : {1.0, -1.0}) {
      const std::vector<JacobianPiece> row{{0, Matrix(sign * Vec3::UnitZ().transpose())}};
      if (kind == Kind::contact) builder.add_contact(0.5, {{0, sign * Mat3::Identity()}}, Vec3(0, 0, -0.3));
      if (kind == Kind::unilateral) builder.add_unilateral(row, -0.3);
      if (kind == Kind::bilateral) builder.add_bilateral(row, -0.3);
    }
    const ContactProblem problem = builder.build();
    Vector lambda = Vector::Zero(problem.row_count());
    for (Index i = 0; i < 2; ++i) lambda[problem.row(i) + problem.rows(i) - 1] = huge;
    EXPECT_NEAR(certify(problem, of(lambda)).fclib_error, 1.0, 1e-12);
  }
}

TEST(Certificate, NanIsNeverSmall) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // Separate bodies, so that a NaN of one does not spread to the others through W.
  ContactProblemBuilder builder;
  for (int t = 0; t < 4; ++t) builder.add_tree(Mat3::Identity(), Vec3(0, 0, -1));
  const Matrix row = Vec3::UnitZ().transpose();
  builder.add_contact(0.5, {{0, Mat3::Identity()}});
  builder.add_unilateral(std::vector<JacobianPiece>{{1, row}});
  builder.add_box(-2.0, 2.0, std::vector<JacobianPiece>{{2, row}});
  builder.add_bilateral(std::vector<JacobianPiece>{{3, row}});
  const ContactProblem problem = builder.build();
  Vector solution(6);
  solution << 0, 0, 1, 1, 1, 1;
  ASSERT_LT(certify(problem, of(solution)).error.value, 1e-15);
  for (const double bad : {nan, std::numeric_limits<double>::infinity()}) {
    for (Index r = 0; r < 6; ++r) {
      Vector lambda = solution;
      lambda[r] = bad;
      const Certificate c = certify(problem, of(lambda));
      EXPECT_FALSE(c.is_finite()) << r;
      for (const Measure measure : {Measure::scaled, Measure::fclib, Measure::siconos}) {
        EXPECT_FALSE(value_of(c, measure) <= 1e3) << r << ' ' << to_string(measure);
        Vector u, scratch;
        problem.velocity_of(lambda, scratch, u);
        EXPECT_FALSE(Certifier::error(problem, lambda, u, Law::exact, measure) <= 1e3) << r;
      }
    }
  }
}

TEST(Certificate, NothingToCertify) {
  ContactProblemBuilder builder;
  builder.add_tree(Mat3::Identity(), Vec3::Ones());
  const Certificate c = certify(builder.build(), of(Vector()));
  EXPECT_EQ(c.error.value, 0.0);
  EXPECT_EQ(c.fclib_error, 0.0);
  EXPECT_TRUE(c.is_finite());
}

TEST(Certificate, RefusesVectorsOfTheWrongSize) {
  ContactProblemBuilder builder;
  const Index body = builder.add_tree(Mat3::Identity(), Vec3(0, 0, -1));
  builder.add_contact(0.5, {{body, Mat3::Identity()}});
  const ContactProblem problem = builder.build();
  Solution solution;
  EXPECT_THROW(certify(problem, solution), InvalidInput);
  solution.impulse = Vec3::Zero();
  EXPECT_NO_THROW(certify(problem, solution));
  solution.generalized_velocity = Vector::Zero(2);
  EXPECT_THROW(certify(problem, solution), InvalidInput);
}

// Nothing has a size to compare with: no momentum, no impulse that counts, no demand of the last row. What moves it is the
// bound of a box that is idle beside a row in other units. All of its error is error, but no infinity.
TEST(Certificate, ErrorsWithoutASizeAreFinite) {
  ContactProblemBuilder builder;
  const Index tree = builder.add_tree(Matrix::Identity(1, 1), Vector::Zero(1));
  const std::vector<JacobianPiece> row{{tree, Matrix::Constant(1, 1, 1.0)}};
  const std::vector<JacobianPiece> large{{tree, Matrix::Constant(1, 1, 1e30)}};
  builder.add_box(-1.0, -0.5, row, 0.4);
  builder.add_bilateral(large, 0.2);
  builder.add_unilateral(row, 0.0);
  const ContactProblem problem = builder.build();
  ASSERT_TRUE(problem.is_idle(0));
  Solution solution;
  solution.impulse = Vec3(-0.5, 0.0, 0.0);
  const Certificate certificate = certify(problem, solution, Law::exact);
  EXPECT_TRUE(certificate.is_finite());
  EXPECT_GE(certificate.error.value, 1.0);
}

}  // namespace
}  // namespace tribo
