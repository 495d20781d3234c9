#include "tribo/solve/sweeps/nsgs.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <string>

#include "tests/support/random.h"
#include "tests/support/small_problems.h"
#include "tribo/base/errors.h"
#include "tribo/math/cone.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/problem/lift.h"

namespace tribo {
namespace {

std::unique_ptr<Solver> nsgs(std::string_view local = "exact") {
  auto solver = make_nsgs();
  solver->set_option("local", local);
  return solver;
}

Settings tight(double tolerance = 1e-10) {
  Settings settings;
  settings.tolerance = tolerance;
  settings.max_iterations = 200000;
  return settings;
}

class NsgsLocal : public testing::TestWithParam<const char*> {};

TEST_P(NsgsLocal, PointOnSlope) {
  const double mu = 0.5;
  Solution solution;
  for (const double angle : {0.1, 0.4, 0.46, 0.47, 0.8, 1.2}) {
    const ContactProblem problem = test::point_on_slope(angle, mu);
    const Report report = nsgs(GetParam())->solve(problem, tight(1e-12), solution);
    ASSERT_EQ(report.status, Status::converged) << angle;
    const double normal = std::cos(angle);
    const double friction = std::min(mu * normal, std::sin(angle));  // sticks below the friction angle
    EXPECT_NEAR(solution.impulse[2], normal, 1e-11);
    EXPECT_NEAR(solution.impulse[0], -friction, 1e-11);
    EXPECT_NEAR(solution.velocity[0], (std::sin(angle) - friction) / 2.0, 1e-11);
  }
}

TEST_P(NsgsLocal, AllKindsAgreeWithADenseReference) {
  const ContactProblem problem = test::all_kinds(11, 1.0);
  for (const Law law : {Law::exact, Law::convex}) {
    Settings settings = tight(1e-11);
    settings.law = law;
    Solution solution;
    const Report report = nsgs(GetParam())->solve(problem, settings, solution);
    ASSERT_EQ(report.status, Status::converged);
    const Vector expected = test::dense_reference(problem, law);
    EXPECT_LT((solution.impulse - expected).cwiseAbs().maxCoeff(), 1e-8 * expected.cwiseAbs().maxCoeff());
  }
}

INSTANTIATE_TEST_SUITE_P(All, NsgsLocal, testing::Values("exact", "newton", "projection", "quartic"));

TEST(Nsgs, CubeOnSlope) {
  Solution solution;
  for (const double angle : {0.2, 0.9}) {
    const double mu = 0.6, mass = 3.0;
    const ContactProblem problem = test::cube_on_slope(angle, mu, mass);
    const Report report = nsgs()->solve(problem, tight(), solution);
    ASSERT_EQ(report.status, Status::converged);
    test::expect_slope_impulses(solution.impulse, angle, mu, mass);
  }
}

TEST(Nsgs, RandomProblemsToTenDigits) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const ContactProblem problem = test::all_kinds(100 + seed, 0.05, 10);
    Solution solution;
    const Report report = nsgs()->solve(problem, tight(), solution);
    EXPECT_EQ(report.status, Status::converged) << "seed " << seed;
    EXPECT_LE(report.certificate.error.value, 1e-10);
  }
}

TEST(Nsgs, RelaxationAndShufflingReachTheSameSolution) {
  const ContactProblem problem = test::all_kinds(12, 1.0);
  Solution reference;
  nsgs()->solve(problem, tight(1e-12), reference);
  for (const char* omega : {"0.7", "1.3"}) {
    for (const char* shuffle : {"none", "once", "every"}) {
      auto solver = make_nsgs();
      solver->set_option("omega", omega);
      solver->set_option("shuffle", shuffle);
      Solution solution;
      ASSERT_EQ(solver->solve(problem, tight(1e-12), solution).status, Status::converged);
      EXPECT_LT((solution.impulse - reference.impulse).norm(), 1e-9 * reference.impulse.norm());
    }
  }
  EXPECT_THROW(make_nsgs()->set_option("omega", "2.5"), InvalidInput);
  EXPECT_THROW(make_nsgs()->set_option("local", "magic"), InvalidInput);
}

TEST(Nsgs, UnsymmetricMatrix) {
  test::Random random(13);
  const Index contacts = 6, rows = 3 * contacts;
  Matrix w = test::random_spd(random, rows) / rows;
  w += 0.02 * random.matrix(rows, rows);
  std::vector<ScalarTriplet> triplets;
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < rows; ++c) triplets.push_back({r, c, w(r, c)});
  }
  std::vector<Index> starts;
  for (Index i = 0; i <= contacts; ++i) starts.push_back(3 * i);
  std::vector<ConstraintSpec> specs(contacts);
  for (ConstraintSpec& spec : specs) spec.friction = 0.4;
  const Vector q = random.vector(rows);
  const ContactProblem problem = lift(BlockMatrix::from_triplets(starts, triplets), q, specs);
  ASSERT_FALSE(problem.is_symmetric());
  for (const Law law : {Law::exact, Law::convex}) {
    Settings settings = tight(1e-11);
    settings.law = law;
    Solution solution;
    ASSERT_EQ(nsgs()->solve(problem, settings, solution).status, Status::converged);
    for (Index i = 0; i < contacts; ++i) {
      const Vec3 u = (w * solution.impulse + q).segment<3>(3 * i);
      const Vec3 r = solution.impulse.segment<3>(3 * i);
      const Vec3 shifted = law == Law::exact ? Vec3(u + de_saxce(u, 0.4)) : u;
      EXPECT_LT((r - project_cone(r - shifted, 0.4)).norm(), 1e-9);
    }
  }
}

TEST(Nsgs, NothingToDo) {
  ContactProblemBuilder builder;
  builder.add_tree(Mat3::Identity(), Vec3(1.0, 2.0, 3.0));
  const ContactProblem problem = builder.build();
  Solution solution;
  EXPECT_EQ(nsgs()->solve(problem, tight(), solution).status, Status::converged);
  EXPECT_EQ(solution.impulse.size(), 0);
  const ContactProblem apart = test::point_on_slope(2.5, 0.5);  // gravity pulls away from the plane
  EXPECT_EQ(nsgs()->solve(apart, tight(), solution).iterations, 0);
  EXPECT_TRUE(solution.impulse.isZero(0.0));
}

TEST(Nsgs, SameBitsEveryTime) {
  const ContactProblem problem = test::all_kinds(14, 0.1, 20);
  Solution first, second, fresh;
  auto solver = make_nsgs();
  solver->set_option("shuffle", "every");
  solver->solve(problem, tight(), first);
  solver->solve(test::all_kinds(15, 0.0, 5), tight(), second);
  const Report again = solver->solve(problem, tight(), second);
  auto other = make_nsgs();
  other->set_option("shuffle", "every");
  const Report report = other->solve(problem, tight(), fresh);
  EXPECT_EQ(first.impulse, second.impulse);
  EXPECT_EQ(first.impulse, fresh.impulse);
  EXPECT_EQ(again.iterations, report.iterations);
}

TEST(Nsgs, WarmStartAtTheSolutionNeedsNoSweep) {
  const ContactProblem problem = test::all_kinds(16, 0.5);
  Solution solution, again;
  auto solver = make_nsgs();
  ASSERT_EQ(solver->solve(problem, tight(1e-9), solution).status, Status::converged);
  EXPECT_EQ(solver->solve(problem, tight(1e-9), again, &solution.impulse).iterations, 0);
  // A nearby start is used: fewer sweeps than from zero.
  const Index cold = solver->solve(problem, tight(1e-12), again).iterations;
  const Index warm = solver->solve(problem, tight(1e-12), again, &solution.impulse).iterations;
  EXPECT_LT(warm, cold);
}

// Two planes closing on a point from both sides at 1 m/s each: no velocity satisfies both.
TEST(Nsgs, SuspectsThatThereIsNoSolution) {
  ContactProblemBuilder builder;
  const Index body = builder.add_tree(Mat3::Identity(), Vec3::Zero());
  builder.add_contact(0.0, {{body, Mat3::Identity()}}, Vec3(0.0, 0.0, -1.0));
  builder.add_contact(0.0, {{body, -Mat3::Identity()}}, Vec3(0.0, 0.0, -1.0));
  const ContactProblem problem = builder.build();
  Solution solution;
  Settings settings = tight(1e-12);
  settings.prove_infeasible = false;
  EXPECT_EQ(nsgs()->solve(problem, settings, solution).status, Status::no_solution_suspected);
  settings.prove_infeasible = true;
  EXPECT_EQ(nsgs()->solve(problem, settings, solution).status, Status::infeasible);
}

TEST(Nsgs, ObeysLimits) {
  const ContactProblem problem = test::cube_on_slope(0.2, 0.6);
  Settings settings = tight(1e-14);
  settings.max_iterations = 7;
  Solution solution;
  const Report report = nsgs()->solve(problem, settings, solution);
  if (report.status != Status::converged) {
    EXPECT_EQ(report.status, Status::iteration_limit);
    EXPECT_EQ(report.iterations, 7);
  }
  settings.max_iterations = 1000000;
  settings.on_progress = [](const Progress& progress) { return progress.iteration < 3; };
  const Report cancelled = nsgs()->solve(problem, settings, solution);
  EXPECT_EQ(cancelled.status, Status::cancelled);
}

}  // namespace
}  // namespace tribo
