// Between two sweeps without friction the impulses go to the minimum over the ways they came; rows of balls on half of their
// degrees of freedom are the same rows.
#include "tribo/solve/sweeps/sweep_acceleration.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/exact_visit.h"
#include "tests/support/random.h"
#include "tests/support/small_problems.h"
#include "tests/support/solver_checks.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/problem/lift.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/sweeps/sweep_loop.h"

namespace tribo {
namespace {

using Mode = SweepOperator::Mode;

// Contacts and rows without friction on trees of 3, 6, 6 and 9 degrees of freedom; bilateral: rows without bounds only.
ContactProblem frictionless(unsigned seed, double compliance, bool bilateral) {
  test::Random random(seed);
  ContactProblemBuilder builder;
  const std::vector<Index> sizes = {3, 6, 6, 9};
  for (const Index size : sizes) builder.add_tree(test::random_spd(random, size), random.vector(size));
  const auto pieces = [&](Index rows, Index k) {
    const Index first = k % 4, second = (k + 1) % 4;
    return std::vector<JacobianPiece>{{first, random.matrix(rows, sizes[first])},
                                      {second, random.matrix(rows, sizes[second])}};
  };
  for (Index k = 0; k < 9; ++k) {
    if (bilateral) {
      builder.add_bilateral(pieces(1, k), random.uniform(), compliance);
    } else {
      builder.add_contact(0.0, pieces(3, k), random.vec3(), Vec3::Constant(compliance));
      builder.add_unilateral(pieces(1, k + 1), random.uniform(), compliance);
      builder.add_box(-0.01, 0.02, pieces(1, k + 2), random.uniform(), compliance);
    }
  }
  return builder.build();
}

// Impulses before and after each advance() of accelerated sweeps.
struct Way {
  std::vector<Vector> before, after;
  Vector state_error;  // of the last: what the sweeps keep less what belongs to the impulses
};

Way follow(const ContactProblem& problem, Mode mode, int sweeps_done) {
  Way way;
  SweepOperator sweeps;
  sweeps.setup(problem, mode);
  SweepSubspace subspace;
  subspace.setup(problem);
  SweepOrder order;
  order.reset(problem.constraint_count());
  test::ExactVisit visit(problem);
  Vector impulse = Vector::Zero(problem.row_count()), velocity, v, expected;
  for (int k = 0; k < sweeps_done; ++k) {
    way.before.push_back(impulse);
    subspace.advance(sweeps, impulse);
    way.after.push_back(impulse);
    sweeps.find_velocity(impulse, velocity);
    sweeps.sweep(order.visits(), impulse, visit);
  }
  problem.velocity_of(way.after.back(), v, expected);
  way.state_error = velocity - expected;
  return way;
}

// Without bounds the energy has no slope along any of the three ways.
TEST(SweepSubspace, GoesToTheMinimumOverTheWays) {
  for (const double compliance : {0.0, 0.3}) {
    const ContactProblem problem = frictionless(1, compliance, true);
    for (const Mode mode : {Mode::velocity, Mode::rows}) {
      const Way way = follow(problem, mode, 6);
      for (int k = 3; k < 6; ++k) {
        Vector v, slope;
        problem.velocity_of(way.after[k], v, slope);
        slope += problem.compliance().cwiseProduct(way.after[k]);
        const Vector ways[] = {way.before[k] - way.after[k - 1], way.after[k - 1] - way.after[k - 2],
                               way.after[k - 2] - way.after[k - 3]};
        for (const Vector& d : ways) {
          EXPECT_LT(std::abs(slope.dot(d)), 1e-9 * slope.norm() * d.norm()) << k;
        }
        EXPECT_GT((way.after[k] - way.before[k]).norm(), 1e-3 * (way.before[k] - way.after[k - 1]).norm());
      }
    }
  }
}

TEST(SweepSubspace, StaysInTheSetsAndKeepsTheState) {
  for (const double compliance : {0.0, 0.3}) {
    const ContactProblem problem = frictionless(2, compliance, false);
    for (const Mode mode : {Mode::velocity, Mode::rows}) {
      for (const int sweeps : {5, 40, 90}) {  // before, between and after the state is made afresh
        const Way way = follow(problem, mode, sweeps);
        Vector inside = way.after.back();
        test::project(problem, inside);
        EXPECT_EQ(inside, way.after.back());
        if (mode == Mode::rows) continue;  // keeps no state
        EXPECT_LT(way.state_error.cwiseAbs().maxCoeff(), 1e-12);
      }
    }
  }
}

TEST(SweepSubspace, BothModesGoTheSameWay) {
  const ContactProblem problem = frictionless(3, 0.1, false);
  const Way a = follow(problem, Mode::velocity, 8), b = follow(problem, Mode::rows, 8);
  for (int k = 0; k < 8; ++k) {
    EXPECT_LT((a.after[k] - b.after[k]).norm(), 1e-9 * (1.0 + a.after[k].norm())) << k;
  }
}

// Balls (linear and angular velocity) with rows between their centres, rounding on the angular side, and walls.
// The last one touches nothing.
ContactProblem balls(Index count, bool one_turns) {
  test::Random random(4);
  ContactProblemBuilder builder;
  for (Index b = 0; b < count; ++b) {
    Matrix mass = Matrix::Identity(6, 6) * (1.0 + 0.1 * b);
    mass.bottomRightCorner<3, 3>() *= 0.01;
    builder.add_tree(mass, random.vector(6));
  }
  for (Index b = 0; b < count; ++b) {
    for (Index other = b; other < std::min(b + 3, count); ++other) {
      const Vec3 normal = random.vec3().normalized();
      Matrix row = Matrix::Zero(1, 6);
      row.leftCols<3>() = normal.transpose();
      row.rightCols<3>() = 1e-18 * random.vec3().transpose();
      std::vector<JacobianPiece> pieces = {{b, row}};
      if (other != b) pieces.push_back({other, -row});
      builder.add_unilateral(pieces, random.uniform());
    }
  }
  builder.add_tree(Matrix::Identity(6, 6), random.vector(6));
  if (one_turns) builder.add_bilateral(std::vector<JacobianPiece>{{2, random.matrix(1, 6)}}, 0.1);
  return builder.build();
}

TEST(SweepOperator, BallsThatDoNotTurnHaveThreeDegreesOfFreedom) {
  for (const bool one_turns : {false, true}) {
    const ContactProblem problem = balls(7, one_turns);
    SweepOperator sweeps;
    sweeps.setup(problem, Mode::velocity);
    EXPECT_EQ(sweeps.state().size(), 7 * 3 + (one_turns ? 3 : 0));
    test::Random random(5);
    const Vector impulse = random.vector(problem.row_count());
    Vector v, expected, velocity;
    problem.velocity_of(impulse, v, expected);
    sweeps.refresh(impulse, velocity);
    EXPECT_LT((velocity - expected).cwiseAbs().maxCoeff(), 1e-13 * expected.cwiseAbs().maxCoeff());
    // Sweeps keep what belongs to the impulses, and both modes are the same.
    SweepOrder order;
    order.reset(problem.constraint_count());
    Vector swept[2];
    for (const Mode mode : {Mode::velocity, Mode::rows}) {
      sweeps.setup(problem, mode);
      test::ExactVisit visit(problem);
      Vector& x = swept[mode == Mode::rows] = Vector::Zero(problem.row_count());
      for (int k = 0; k < 20; ++k) sweeps.sweep(order.visits(), x, visit);
      sweeps.find_velocity(x, velocity);
      problem.velocity_of(x, v, expected);
      EXPECT_LT((velocity - expected).cwiseAbs().maxCoeff(), 1e-12);
    }
    EXPECT_GT(swept[0].norm(), 0.1);
    EXPECT_LT((swept[0] - swept[1]).norm(), 1e-11 * swept[0].norm());
  }
}

void expect_fewer_sweeps(const ContactProblem& problem, Index times, Solution& fast, Solution& plain) {
  Settings settings = test::to(1e-8);
  settings.max_iterations = 20000;
  const Report quick = make_solver("nsgs:accelerate=cg")->solve(problem, settings, fast);
  const Report slow = make_solver("nsgs")->solve(problem, settings, plain);
  EXPECT_EQ(quick.status, Status::converged);
  EXPECT_EQ(slow.status, Status::converged);
  EXPECT_LE(certify(problem, fast).error.value, 1e-8);
  EXPECT_LT(times * quick.iterations, slow.iterations);
}

// Several times fewer sweeps than without it, and the same impulses' velocities.
TEST(SweepSubspace, PilesWithoutFrictionTakeFewSweeps) {
  GeneratorSettings generator;
  generator.bodies = 400;
  generator.friction = 0.0;
  generator.seed = 2;
  const ContactProblem problem = generate("pile", generator);
  Solution fast, plain;
  expect_fewer_sweeps(problem, 4, fast, plain);
  EXPECT_LT((fast.velocity - plain.velocity).cwiseAbs().maxCoeff(),
            1e-5 * problem.free_velocity().cwiseAbs().maxCoeff());
}

// Masses on top of each other: what sweeps leave is smooth, and one step along it would have to be a hundred times as long.
TEST(SweepSubspace, SmoothErrorsAreFollowedFar) {
  constexpr Index kMasses = 40;
  const Eigen::Matrix<double, 1, 1> one = Eigen::Matrix<double, 1, 1>::Ones(), weight = -one;
  ContactProblemBuilder builder;
  for (Index k = 0; k < kMasses; ++k) builder.add_tree(one, weight);
  for (Index k = 0; k < kMasses; ++k) {
    std::vector<JacobianPiece> pieces = {{k, one}};
    if (k > 0) pieces.push_back({k - 1, weight});
    builder.add_unilateral(pieces);
  }
  const ContactProblem problem = builder.build();
  Solution fast, plain;
  expect_fewer_sweeps(problem, 8, fast, plain);
  for (Index k = 0; k < kMasses; ++k) EXPECT_NEAR(fast.impulse[k], kMasses - k, 1e-4) << k;
}

// Problems given by their W, without bodies; an unsymmetric one has no energy, and is solved all the same.
class SweepsOnMatrices : public testing::TestWithParam<double> {};

TEST_P(SweepsOnMatrices, AreSolved) {
  test::Random random(6);
  constexpr Index kRows = 30;
  Matrix w = test::random_spd(random, kRows);
  const Matrix skew = random.matrix(kRows, kRows);
  w += GetParam() * (skew - skew.transpose());
  std::vector<ScalarTriplet> entries;
  std::vector<Index> starts;
  for (Index c = 0; c <= kRows; ++c) starts.push_back(c);
  for (Index c = 0; c < kRows; ++c) {
    for (Index r = 0; r < kRows; ++r) entries.push_back({r, c, w(r, c)});
  }
  std::vector<ConstraintSpec> specs(kRows);
  for (ConstraintSpec& spec : specs) spec.kind = ConstraintKind::unilateral;
  const ContactProblem problem =
      lift(BlockMatrix::from_triplets(starts, entries), random.vector(kRows), specs);
  Settings settings = test::to(1e-10);
  settings.islands = false;
  Solution solution;
  const Report report = make_solver("nsgs:accelerate=cg")->solve(problem, settings, solution);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_LE(certify(problem, solution).error.value, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Skew, SweepsOnMatrices, testing::Values(0.0, 0.1));

}  // namespace
}  // namespace tribo
