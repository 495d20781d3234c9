// What the scaled error must not depend on: the unit of a row, rounding of the data, the range of the numbers.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/problem/natural_map.h"
#include "tribo/problem/rounding.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

using Kind = ConstraintKind;

Solution of(const Vector& impulse) {
  Solution solution;
  solution.impulse = impulse;
  return solution;
}

// Two bodies, one constraint of every kind twice; the rows of constraint `chosen` in a unit `unit` times smaller, and
// nothing else changed. Impulses to match come with it.
struct Measured {
  ContactProblem problem;
  Vector impulse;
};

Measured measured(Index chosen, double unit, bool biased, double impulse_of_chosen = 1.0) {
  test::Random random(11);
  ContactProblemBuilder builder;
  for (int t = 0; t < 2; ++t) builder.add_tree(test::random_spd(random, 6), random.vector(6));
  Measured made;
  std::vector<double> impulse;
  for (Index i = 0; i < 8; ++i) {
    const Kind kind = static_cast<Kind>(i % 4);
    const Index rows = rows_of(kind);
    const double s = i == chosen ? unit : 1.0;
    std::vector<JacobianPiece> pieces{{0, s * random.matrix(rows, 6)}, {1, s * random.matrix(rows, 6)}};
    const Vec3 bias = s * random.vec3() * (biased || i != chosen ? 1.0 : 0.0);
    const double soft = 0.1 * s * s;
    if (kind == Kind::contact) builder.add_contact(0.4, pieces, bias, Vec3::Constant(soft));
    if (kind == Kind::unilateral) builder.add_unilateral(pieces, bias[0], soft);
    if (kind == Kind::bilateral) builder.add_bilateral(pieces, bias[0], soft);
    if (kind == Kind::box) builder.add_box(-0.3 / s, 0.2 / s, pieces, bias[0], soft);
    const Vector lambda = random.vector(rows);
    for (Index r = 0; r < rows; ++r) {
      impulse.push_back(lambda[r] / s * (i == chosen ? impulse_of_chosen : 1.0));
    }
  }
  made.problem = builder.build();
  made.impulse = Eigen::Map<const Vector>(impulse.data(), static_cast<Eigen::Index>(impulse.size()));
  return made;
}

std::vector<double> errors_of(const Measured& made, Law law) {
  Vector v, u;
  made.problem.velocity_of(made.impulse, v, u);
  const double common = common_reference(made.problem, made.impulse);
  std::vector<double> errors;
  for (Index i = 0; i < made.problem.constraint_count(); ++i) {
    errors.push_back(natural_map(made.problem, i, made.impulse, u, law) /
                     reference_of(made.problem, i, common));
  }
  return errors;
}

TEST(CertificateScale, UnitOfOneRowChangesNoError) {
  for (const Law law : {Law::exact, Law::convex}) {
    for (Index chosen = 0; chosen < 8; ++chosen) {
      const Measured plain = measured(chosen, 1.0, true);
      const std::vector<double> before = errors_of(plain, law);
      const double whole = certify(plain.problem, of(plain.impulse), law).error.value;
      ASSERT_GT(whole, 0.1);
      for (const double unit : {1e-30, 1e-3, 1e30}) {
        const Measured scaled = measured(chosen, unit, true);
        const std::vector<double> after = errors_of(scaled, law);
        for (std::size_t i = 0; i < before.size(); ++i) {
          EXPECT_NEAR(after[i], before[i], 1e-12 * before[i]) << chosen << ' ' << unit << ' ' << i;
        }
        const Certificate c = certify(scaled.problem, of(scaled.impulse), law);
        EXPECT_NEAR(c.error.value, whole, 1e-12 * whole);
      }
    }
  }
}

// A Jacobian that is scaled alone is another problem; as long as the row does not act, the others do not notice.
TEST(CertificateScale, JacobianOfAnIdleRowBuysNothing) {
  for (Index chosen = 0; chosen < 8; ++chosen) {
    const Measured plain = measured(chosen, 1.0, false, 0.0);
    const std::vector<double> before = errors_of(plain, Law::exact);
    for (const double unit : {1e-30, 1e30}) {
      const std::vector<double> after = errors_of(measured(chosen, unit, false, 0.0), Law::exact);
      for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-12 * before[i]);
    }
  }
}

// A ball that falls into the ground at 1.1 m/s and a row whose Jacobian is rounding, w = 1e-31: of a planar linkage
// closed by three equations. Dividing by q / w of that row once made every error vanish.
TEST(CertificateScale, RowOfRoundingHidesNoPenetration) {
  ContactProblemBuilder builder;
  builder.add_tree(Mat3::Identity(), Vec3(0.3, 0.0, -1.1));
  builder.add_contact(0.5, {{0, Mat3::Identity()}});
  builder.add_bilateral(std::vector<JacobianPiece>{{0, Matrix(Vec3(1e-16, 3e-16, 0.0).transpose())}});
  const ContactProblem problem = builder.build();
  ASSERT_NEAR(problem.scale(1), 1e-31, 1e-33);
  const Certificate c = certify(problem, of(Vector::Zero(4)));
  EXPECT_NEAR(c.penetration_velocity.value, 1.1, 1e-15);
  EXPECT_GT(c.error.value, 0.1);
  for (const SolverInfo& info : solver_catalogue()) {
    const auto solver = info.make();
    Settings settings;
    settings.law = solver->supports(Law::exact) ? Law::exact : Law::convex;
    settings.max_iterations = 500;
    Solution solution;
    const Report report = solver->solve(problem, settings, solution);
    if (report.status != Status::converged) continue;
    EXPECT_LT(certify(problem, solution, settings.law).penetration_velocity.value, 1e-4) << solver->name();
  }
}

// The same row asked for 0.1 m/s would take 1e14 times the motion there is: it counts as one that nothing can move. In
// another unit, Jacobian and velocity alike, it is a row like others.
TEST(CertificateScale, RowOfRoundingThatIsAskedForAVelocityIsIdle) {
  const auto make = [](double unit, double bias, double speed) {
    ContactProblemBuilder builder;
    builder.add_tree(Mat3::Identity(), Vec3(0.3, 0.0, -speed));
    builder.add_contact(0.5, {{0, Mat3::Identity()}});
    builder.add_bilateral(std::vector<JacobianPiece>{{0, Matrix(unit * Vec3::UnitX().transpose())}}, bias);
    return builder.build();
  };
  const ContactProblem hopeless = make(3e-16, 0.1, 1.1);
  EXPECT_TRUE(hopeless.is_idle(1));
  EXPECT_FALSE(hopeless.is_idle(0));
  EXPECT_NEAR(hopeless.largest_demand(), 1.1, 1e-12);
  Solution solution;
  Settings settings;
  for (const SolverInfo& info : solver_catalogue()) {
    const auto solver = info.make();
    settings.law = solver->supports(Law::exact) ? Law::exact : Law::convex;
    settings.max_iterations = 300;
    const Report report = solver->solve(hopeless, settings, solution);
    EXPECT_NE(report.status, Status::converged) << solver->name();
    EXPECT_TRUE(solution.impulse.allFinite()) << solver->name();
    EXPECT_EQ(solution.impulse[3], 0.0);
  }
  EXPECT_EQ(make(3e-16, 3e-17, 1.1).idle_count(), 0);
  EXPECT_EQ(make(1e-30, 1e-31, 1.1).idle_count(), 0);
  EXPECT_EQ(make(1e-3, 1e6, 1.1).idle_count(), 0);  // a lever, and much to ask
}

// A body in free fall whose drives are at their targets: what they are asked for is rounding of J v*.
TEST(CertificateScale, RoundingOfTheFreeMotionIsNoError) {
  test::Random random(5);
  int noisy = 0;
  for (int sample = 0; sample < 200; ++sample) {
    const Matrix mass = test::random_spd(random, 6);
    const Vector v = random.vector(6);
    ContactProblemBuilder builder;
    builder.add_tree(mass, mass * v);
    const Vector axis = random.vector(6);
    const double along = axis.dot(v);
    builder.add_bilateral(std::vector<JacobianPiece>{{0, Matrix(axis.transpose())}}, -along);
    const ContactProblem problem = builder.build();
    ASSERT_LT(std::abs(problem.free_velocity()[0]), 1e-13);
    noisy += problem.free_velocity()[0] != 0.0 ? 1 : 0;
    EXPECT_LT(certify(problem, of(Vector::Zero(1))).error.value, 1e-6);
  }
  EXPECT_GT(noisy, 50);
}

// The other side: an impulse of 1e-5 of the momentum is judged relative to itself.
TEST(CertificateScale, SmallImpulsesCount) {
  ContactProblemBuilder builder;
  builder.add_tree(2.0 * Mat3::Identity(), Vec3(0.0, 0.0, -2.0));
  builder.add_bilateral(std::vector<JacobianPiece>{{0, Matrix(Vec3::UnitX().transpose())}}, -1e-5);
  const ContactProblem problem = builder.build();
  const double exact = 2e-5;
  EXPECT_GT(certify(problem, of(Vector::Zero(1))).error.value, 1.0);
  EXPECT_NEAR(certify(problem, of(Vector::Constant(1, 0.9 * exact))).error.value, 1.0 / 9.0, 1e-9);
  EXPECT_NEAR(certify(problem, of(Vector::Constant(1, (1.0 - 1e-4) * exact))).error.value, 1e-4, 1e-7);
  EXPECT_LT(certify(problem, of(Vector::Constant(1, exact))).error.value, 1e-9);
}

// Rows that nothing can move: met or not, whatever their impulses are.
TEST(CertificateScale, IdleRowsAreJudgedByTheirVelocity) {
  const auto judge = [](Kind kind, double bias, double jacobian) {
    ContactProblemBuilder builder;
    builder.add_tree(Mat3::Identity(), Vec3(0, 0, 2.0));
    const std::vector<JacobianPiece> row{{0, Matrix::Constant(1, 3, jacobian)}};
    if (kind == Kind::contact) {
      builder.add_contact(0.5, {{0, Matrix::Constant(3, 3, jacobian)}}, Vec3(0.7, 0.0, bias));
    }
    if (kind == Kind::unilateral) builder.add_unilateral(row, bias);
    if (kind == Kind::bilateral) builder.add_bilateral(row, bias);
    if (kind == Kind::box) builder.add_box(-1.0, std::numeric_limits<double>::infinity(), row, bias);
    const ContactProblem problem = builder.build();
    EXPECT_TRUE(problem.is_idle(0));
    EXPECT_EQ(problem.idle_count(), 1);
    Vector lambda = Vector::Constant(problem.row_count(), 0.1);
    return certify(problem, of(lambda)).error.value;
  };
  for (const double jacobian : {0.0, 1e-160}) {
    EXPECT_EQ(judge(Kind::contact, 0.5, jacobian), 0.0);
    EXPECT_NEAR(judge(Kind::contact, -0.5, jacobian), 0.25, 1e-12);  // relative to the 2 m/s of the body
    EXPECT_NEAR(judge(Kind::contact, -8.0, jacobian), 1.0, 1e-12);
    EXPECT_EQ(judge(Kind::unilateral, 0.5, jacobian), 0.0);
    EXPECT_NEAR(judge(Kind::unilateral, -0.5, jacobian), 0.25, 1e-12);
    EXPECT_NEAR(judge(Kind::bilateral, 0.5, jacobian), 0.25, 1e-12);
    EXPECT_EQ(judge(Kind::box, 0.5, jacobian), 0.0);             // at its lower bound
    EXPECT_NEAR(judge(Kind::box, -0.5, jacobian), 0.25, 1e-12);  // towards a bound that is not there
  }
}

// Two rows push against each other with 1e9 N s; j (j (a - b)) + e is known, since a - b is exact.
TEST(CertificateScale, RoundingOfTheEvaluationIsSeen) {
  const double j = 0.1, a = 1e9, b = 1e9 + 0x1p-20;
  ContactProblemBuilder builder;
  builder.add_tree(Mat3::Identity(), Vec3::Zero());
  const auto row = [](double x) {
    return std::vector<JacobianPiece>{{0, Matrix(x * Vec3::UnitX().transpose())}};
  };
  builder.add_bilateral(row(j), 1.0);
  builder.add_bilateral(row(-j), 1.0);
  const double moved = j * (j * (a - b));
  const ContactProblem problem = builder.build();
  const Certificate c = certify(problem, of(Vec2(a, b)));
  // sqrt(w) |u / w| over 1e2 N, N = 1 / j.
  const double expected = (1.0 + std::abs(moved)) / j / (1e2 / j);
  EXPECT_NEAR(c.error.value, expected, 1e-9 * expected);
}

TEST(CertificateScale, ExtendedErrorsAreTheSameNumbers) {
  for (const Law law : {Law::exact, Law::convex}) {
    for (const ContactProblem& problem :
         {test::all_kinds(2, 0.5), test::mixed_problem(3), test::lifted_problem(4, 0.2)}) {
      test::Random random(5);
      const Vector lambda = random.vector(problem.row_count());
      const Certificate c = certify(problem, of(lambda), law);
      const ExtendedErrors e = ExtendedEvaluation().errors(problem, lambda, law);
      EXPECT_NEAR(e.scaled, c.error.value, 1e-12 * c.error.value);
      EXPECT_NEAR(e.fclib, c.fclib_error, 1e-12 * c.fclib_error);
      EXPECT_NEAR(e.siconos, c.siconos_error, 1e-12 * c.siconos_error);
      EXPECT_EQ(e.worst, c.error.constraint);
      EXPECT_LT(e.rounding, 1e-15);
    }
  }
}

// Velocities, momenta and impulses times 2^-530 and 2^490: squares of them leave the range of doubles.
TEST(CertificateScale, RangeOfTheNumbersDoesNotMatter) {
  const auto make = [](double size) {
    test::Random random(9);
    ContactProblemBuilder builder;
    for (int t = 0; t < 2; ++t) builder.add_tree(test::random_spd(random, 6), size * random.vector(6));
    for (Index k = 0; k < 3; ++k) {
      builder.add_contact(0.4, {{0, random.matrix(3, 6)}, {1, random.matrix(3, 6)}}, size * random.vec3());
    }
    builder.add_box(-0.1 * size, 0.1 * size, std::vector<JacobianPiece>{{0, random.matrix(1, 6)}});
    return builder.build();
  };
  test::Random random(10);
  Vector lambda = random.vector(10);
  for (Index k = 0; k < 3; ++k) lambda.segment<3>(3 * k) = Vec3(0.4, 0.0, 1.0) * (1.0 + k);
  Solution solution = of(lambda);
  solution.generalized_velocity = random.vector(12);
  for (const Law law : {Law::exact, Law::convex}) {
    const Certificate plain = certify(make(1.0), solution, law);
    for (const double size : {0x1p-530, 0x1p490}) {
      Solution scaled = of(size * lambda);
      scaled.generalized_velocity = size * solution.generalized_velocity;
      const Certificate c = certify(make(size), scaled, law);
      EXPECT_NEAR(c.error.value, plain.error.value, 1e-12 * plain.error.value);
      EXPECT_NEAR(c.fclib_error, plain.fclib_error, 1e-12 * plain.fclib_error);
      EXPECT_NEAR(c.siconos_error, plain.siconos_error, 1e-12 * plain.siconos_error);
      EXPECT_NEAR(c.momentum, plain.momentum, 1e-12 * plain.momentum);
      EXPECT_NEAR(c.lee_residual / size, plain.lee_residual, 1e-12 * plain.lee_residual);
      EXPECT_NEAR(c.cone_dual.value / size, plain.cone_dual.value, 1e-12 * plain.cone_dual.value);
      EXPECT_NEAR(c.slip_angle.value, plain.slip_angle.value, 1e-12);
      EXPECT_GT(plain.slip_angle.value, 0.0);
      for (const Measure measure : {Measure::scaled, Measure::fclib, Measure::siconos}) {
        Vector v, u;
        make(size).velocity_of(scaled.impulse, v, u);
        EXPECT_NEAR(Certifier::error(make(size), scaled.impulse, u, law, measure), value_of(plain, measure),
                    1e-12 * value_of(plain, measure));
      }
    }
  }
}

}  // namespace
}  // namespace tribo
