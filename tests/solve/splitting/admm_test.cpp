#include "tribo/solve/splitting/admm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "tests/support/dense_twin.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tests/support/solver_checks.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

using test::to;
using test::tower;

TEST(Admm, PointOnSlope) { test::expect_points_on_slopes(*make_admm()); }

TEST(Admm, CubeOnSlope) { test::expect_cubes_on_slopes(*make_admm()); }

// The ground carries the whole tower: its impulses add up to the weight times the time step.
TEST(Admm, TowersAtRest) {
  for (const Index cubes : {2, 5, 10}) {
    for (const double ratio : {1.0, 1e-4, 1e4}) {
      const ContactProblem problem = tower(cubes, ratio, false);
      Solution solution;
      const Report report = make_admm()->solve(problem, to(1e-8), solution);
      EXPECT_EQ(report.status, Status::converged) << cubes << " cubes, ratio " << ratio;
      EXPECT_LE(certify(problem, solution).error.value, 1e-8);
      EXPECT_LT(solution.generalized_velocity.lpNorm<Eigen::Infinity>(), 1e-6);  // it stands
      double carried = 0.0, weight = 0.0;
      for (Index i = 0; i < problem.contact_count(); ++i) {
        const BlockJacobian& jacobian = problem.jacobian();
        if (jacobian.piece_end(i) - jacobian.piece_begin(i) == 1) carried += solution.impulse[3 * i + 2];
      }
      // Up to the momentum that the tolerance leaves in the (heavy) cubes.
      for (Index t = 0; t < problem.tree_count(); ++t) {
        weight -= problem.momentum()[6 * t + 2];
        carried -= problem.mass().block(t)(2, 2) * solution.generalized_velocity[6 * t + 2];
      }
      EXPECT_NEAR(carried, weight, 1e-9 * weight);
    }
  }
}

TEST(Admm, SlidingTowersWithMassRatio) {
  for (const Index cubes : {5, 10}) {
    const ContactProblem problem = tower(cubes, 1e4, true);
    Solution solution;
    const Report report = make_admm()->solve(problem, to(1e-6), solution);
    EXPECT_EQ(report.status, Status::converged) << cubes << " cubes";
    EXPECT_LE(certify(problem, solution).error.value, 1e-6);
  }
}

TEST(Admm, AllKindsAgreeWithADenseReferenceAndNsgs) { test::expect_all_kinds(*make_admm(), "nsgs"); }

class AdmmVariants : public testing::TestWithParam<std::string> {};

TEST_P(AdmmVariants, ReachTheSameVelocities) {
  const ContactProblem compliant = test::all_kinds(34, 0.5);
  const ContactProblem slope = test::cube_on_slope(0.7, 0.5);
  for (const ContactProblem& problem : {compliant, slope}) {
    for (const Law law : {Law::exact, Law::convex}) {
      Solution reference, solution;
      ASSERT_EQ(make_solver("nsgs")->solve(problem, to(1e-11, law), reference).status, Status::converged);
      ASSERT_EQ(make_solver("admm:" + GetParam())->solve(problem, to(1e-9, law), solution).status,
                Status::converged);
      EXPECT_LT((solution.velocity - reference.velocity).lpNorm<Eigen::Infinity>(), 1e-7);
      EXPECT_LT((solution.generalized_velocity - reference.generalized_velocity).lpNorm<Eigen::Infinity>(),
                1e-7);
    }
  }
}

std::vector<std::string> variants() {
  std::vector<std::string> all;
  for (const char* penalty : {"balance", "linear", "spectral"}) {
    for (const char* cone : {"strict", "cone"}) {
      for (const char* memory : {"0", "8"}) {
        all.push_back(std::string("penalty=") + penalty + ",operator=" + cone + ",anderson=" + memory);
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, AdmmVariants, testing::ValuesIn(variants()), [](const auto& test) {
  std::string name = test.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

// Cone complementarity is the optimality of min 1/2 l^T (W + R) l + q^T l over the sets.
TEST(Admm, ConvexLawMinimises) {
  const ContactProblem problem = test::all_kinds(35, 0.0);
  const test::DenseTwin twin(problem);
  Solution solution;
  ASSERT_EQ(make_admm()->solve(problem, to(1e-10, Law::convex), solution).status, Status::converged);
  const auto objective = [&](const Vector& x) {
    return 0.5 * x.dot(twin.w * x + twin.r.cwiseProduct(x)) + twin.q.dot(x);
  };
  const Vector gradient = twin.w * solution.impulse + twin.q;
  Vector image = solution.impulse - gradient;
  test::project(problem, image);
  EXPECT_LT((solution.impulse - image).norm(), 1e-8);
  const double lowest = objective(solution.impulse);
  test::Random random(35);
  for (int k = 0; k < 200; ++k) {
    Vector other = solution.impulse + random.log_uniform(1e-4, 1.0) * random.vector(problem.row_count());
    test::project(problem, other);
    EXPECT_GE(objective(other), lowest - 1e-9);
  }
}

// m u_n = -2 + lambda, u_n + R lambda = 0: lambda = 2 / (1 + m R), and the ball sinks in at R lambda.
TEST(Admm, CompliantContact) {
  const double mass = 2.0;
  for (const double r : {1e-6, 0.1, 3.0}) {
    ContactProblemBuilder builder;
    const Index ball = builder.add_tree(mass * Mat3::Identity(), Vec3(0.0, 0.0, -2.0));
    builder.add_contact(0.4, {{ball, Mat3::Identity()}}, Vec3::Zero(), Vec3::Constant(r));
    const ContactProblem problem = builder.build();
    const double normal = 2.0 / (1.0 + mass * r);
    for (const Law law : {Law::exact, Law::convex}) {
      Solution solution;
      ASSERT_EQ(make_admm()->solve(problem, to(1e-11, law), solution).status, Status::converged);
      EXPECT_NEAR(solution.impulse[2], normal, 1e-9);
      EXPECT_NEAR(solution.velocity[2], -r * normal, 1e-9);
    }
  }
}

TEST(Admm, UnsymmetricMatrix) {
  for (const unsigned seed : {36u, 37u}) {
    const ContactProblem problem = test::lifted_problem(seed, 0.3);
    ASSERT_FALSE(problem.is_symmetric());
    const Matrix w = problem.delassus().to_dense();
    for (const Law law : {Law::exact, Law::convex}) {
      Solution solution, by_nsgs;
      ASSERT_EQ(make_admm()->solve(problem, to(1e-10, law), solution).status, Status::converged);
      ASSERT_EQ(make_solver("nsgs")->solve(problem, to(1e-10, law), by_nsgs).status, Status::converged);
      EXPECT_LT((solution.impulse - by_nsgs.impulse).norm(), 1e-7);
      EXPECT_LT((w * solution.impulse + problem.free_velocity() - solution.velocity).norm(), 1e-12);
    }
  }
}

TEST(Admm, WarmStartAtTheSolutionNeedsNoIteration) {
  const ContactProblem problem = tower(4, 10.0, true);
  Solution solution, again;
  auto solver = make_admm();
  ASSERT_EQ(solver->solve(problem, to(1e-8), solution).status, Status::converged);
  const Report report = solver->solve(problem, to(1e-8), again, &solution.impulse);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(report.factorizations, 0);
  EXPECT_LT((again.impulse - solution.impulse).norm(), 1e-14);
}

// Impulses that grow without bound make every error relative to them small; that must not pass for a
// solution.
void expect_no_solution(const ContactProblem& problem) {
  for (const std::string_view solver : {"admm", "admm:operator=cone,anderson=0", "nsgs", "pgs"}) {
    for (const Measure measure : {Measure::scaled, Measure::siconos, Measure::fclib}) {
      for (const double tolerance : {1e-3, 1e-6}) {
        Settings settings = to(tolerance);
        settings.measure = measure;
        Solution solution;
        const Report report = make_solver(solver)->solve(problem, settings, solution);
        EXPECT_NE(report.status, Status::converged)
            << solver << " " << to_string(measure) << " " << tolerance;
        EXPECT_GT(report.certificate.fclib_error, 0.1);
        EXPECT_GT(report.certificate.penetration_velocity.value, 0.1);
        EXPECT_TRUE(solution.impulse.allFinite());
        EXPECT_TRUE(solution.velocity.allFinite());
      }
    }
  }
}

TEST(Admm, EndsOnProblemsWithoutASolution) {
  const std::vector<JacobianPiece> up{{0, Matrix(Vec3::UnitZ().transpose())}};
  const std::vector<JacobianPiece> down{{0, Matrix(-Vec3::UnitZ().transpose())}};
  {  // One point held at two speeds.
    ContactProblemBuilder builder;
    builder.add_tree(Mat3::Identity(), Vec3::Zero());
    builder.add_bilateral(up, 1.0);
    builder.add_bilateral(up, -1.0);
    expect_no_solution(builder.build());
  }
  {  // Squeezed between two walls that close.
    ContactProblemBuilder builder;
    builder.add_tree(Mat3::Identity(), Vec3::Zero());
    builder.add_contact(0.3, {{0, Mat3::Identity()}}, Vec3(0, 0, -1));
    builder.add_contact(0.3, {{0, -Mat3::Identity()}}, Vec3(0, 0, -1));
    expect_no_solution(builder.build());
  }
  {  // The same with one-sided stops, on a compliant box row that cannot hold.
    ContactProblemBuilder builder;
    builder.add_tree(Mat3::Identity(), Vec3::Zero());
    builder.add_unilateral(up, -1.0);
    builder.add_unilateral(down, -1.0);
    builder.add_box(-0.1, 0.1, up, 0.5, 0.1);
    expect_no_solution(builder.build());
  }
}

}  // namespace
}  // namespace tribo
