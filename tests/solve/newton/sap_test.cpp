#include "tribo/solve/newton/sap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/base/errors.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

Settings convex(double tolerance) {
  Settings settings;
  settings.tolerance = tolerance;
  settings.law = Law::convex;
  settings.max_iterations = 5000;
  return settings;
}

ContactProblem scene(const char* kind, double compliance, bool slide = true, Index bodies = 8) {
  GeneratorSettings settings;
  settings.bodies = bodies;
  settings.slide = slide;
  settings.compliance = compliance;
  return generate(kind, settings);
}

TEST(Sap, SolvesTheConvexLawOnly) {
  Solution solution;
  Settings settings;
  try {
    make_sap()->solve(test::point_on_slope(0.3, 0.5), settings, solution);
    FAIL() << "the exact law was accepted";
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("--law convex"), std::string::npos) << error.what();
  }
}

// One compliant contact on a slope: sticking, R_n and R_t act as springs; sliding, Castro's sec. V-A.
TEST(Sap, CompliantPointOnASlope) {
  const double mass = 2.0, weight = 1.0, mu = 0.5, rt = 0.05, rn = 0.3;
  for (const double angle : {0.1, 0.3, 0.9, 1.3}) {
    ContactProblemBuilder builder;
    const Index body =
        builder.add_tree(mass * Mat3::Identity(), weight * Vec3(std::sin(angle), 0.0, -std::cos(angle)));
    builder.add_contact(mu, {{body, Mat3::Identity()}}, Vec3::Zero(), Vec3(rt, rt, rn));
    Solution solution;
    const Report report = make_sap()->solve(builder.build(), convex(1e-13), solution);
    ASSERT_EQ(report.status, Status::converged) << angle;
    EXPECT_EQ(report.regularized_count, 0);
    // w = u + R lambda with u = (b + lambda) / m: sticking w = 0.
    double normal = weight * std::cos(angle) / (1.0 + mass * rn);
    double friction = weight * std::sin(angle) / (1.0 + mass * rt);
    if (friction > mu * normal) {
      // Sliding, f = mu n: w_n = mu w_t (lambda is orthogonal to w), with w_t = down the slope.
      const double st = weight * std::sin(angle) / mass, sn = weight * std::cos(angle) / mass;
      normal = (sn + mu * st) / (1.0 / mass + rn + mu * mu * (1.0 / mass + rt));
      friction = mu * normal;
    }
    EXPECT_NEAR(solution.impulse[2], normal, 1e-11) << angle;
    EXPECT_NEAR(solution.impulse[0], -friction, 1e-11) << angle;
  }
}

TEST(Sap, ReachesTightTolerancesWhereThereIsCompliance) {
  for (const char* kind : {"tower", "bolt", "dishes", "pile", "wall"}) {
    for (const double compliance : {1e-6, 1e-3, 1.0}) {
      const ContactProblem problem = scene(kind, compliance);
      Solution solution, by_admm;
      const Report report = make_sap()->solve(problem, convex(1e-10), solution);
      EXPECT_EQ(report.status, Status::converged) << kind << " " << compliance;
      EXPECT_LE(certify(problem, solution, Law::convex).error.value, 1e-10);
    }
  }
}

TEST(Sap, AgreesWithAdmm) {
  std::vector<ContactProblem> problems{test::all_kinds(3, 0.5), test::mixed_problem(4),
                                       test::lifted_problem(5, 0.0), scene("arm", 0.1), scene("chain", 0.01)};
  for (const ContactProblem& problem : problems) {
    Solution solution, reference;
    ASSERT_EQ(make_solver("sap:near_rigid=off")->solve(problem, convex(1e-11), solution).status,
              Status::converged);
    ASSERT_EQ(make_solver("admm")->solve(problem, convex(1e-11), reference).status, Status::converged);
    const double size = 1.0 + reference.velocity.lpNorm<Eigen::Infinity>();
    EXPECT_LT((solution.velocity - reference.velocity).lpNorm<Eigen::Infinity>(), 1e-8 * size);
  }
}

TEST(Sap, ProximalLoopSolvesRigidProblems) {
  for (const char* kind : {"tower", "bolt", "dishes", "wall"}) {
    const ContactProblem problem = scene(kind, 0.0);
    Solution solution;
    const Report report = make_solver("sap:near_rigid=off")->solve(problem, convex(1e-8), solution);
    EXPECT_EQ(report.status, Status::converged) << kind;
    EXPECT_EQ(report.regularized_count, 0);
  }
}

TEST(Sap, NearRigidRule) {
  const ContactProblem problem = test::mixed_problem(6);
  const double beta = 0.7, sigma = 2e-3;
  const double normal = beta * beta / (4.0 * std::numbers::pi * std::numbers::pi);
  Vector r;
  Index expected = 0;
  const Index changed = near_rigid_compliance(problem, beta, sigma, r);
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i), rows = problem.rows(i);
    const auto own = problem.compliance().segment(row, rows);
    if (own.minCoeff() > 0.0) {
      EXPECT_EQ(r.segment(row, rows), own);
      continue;
    }
    ++expected;
    const double w = problem.scale(i);
    EXPECT_DOUBLE_EQ(r[row + rows - 1], std::max(own[rows - 1], normal * w));
    for (Index k = 0; k + 1 < rows; ++k) EXPECT_DOUBLE_EQ(r[row + k], std::max(own[k], sigma * w));
  }
  EXPECT_EQ(changed, expected);
  EXPECT_GT(changed, 0);
  EXPECT_LT(changed, problem.constraint_count());
}

// A rigid problem is solved with compliance, and the report says so; the solution is that of the compliant one.
TEST(Sap, RegularisedIsNotConverged) {
  const ContactProblem rigid = test::cube_on_slope(0.2, 0.6);
  Solution solution, same;
  const Report report = make_sap()->solve(rigid, convex(1e-10), solution);
  EXPECT_EQ(report.status, Status::regularized);
  EXPECT_EQ(report.regularized_count, 4);
  EXPECT_GT(report.certificate.error.value, 1e-10);

  ContactProblemBuilder builder;
  builder.add_tree(rigid.mass().block(0), rigid.momentum());
  Vector r;
  near_rigid_compliance(rigid, 1.0, 1e-3, r);
  for (Index i = 0; i < 4; ++i) {
    builder.add_contact(0.6, {{0, rigid.jacobian().piece(i, i)}}, Vec3::Zero(), r.segment<3>(3 * i));
  }
  const ContactProblem compliant = builder.build();
  ASSERT_EQ(make_sap()->solve(compliant, convex(1e-10), same).status, Status::converged);
  EXPECT_LT((same.impulse - solution.impulse).norm(), 1e-8 * solution.impulse.norm());
}

// The momentum rule (26) ends early, and the certificate has the last word.
TEST(Sap, MomentumRule) {
  const ContactProblem problem = scene("pile", 1e-3, true, 30);
  Solution loose, tight;
  const Report quick = make_solver("sap:rule=momentum,relative=1e-2")->solve(problem, convex(1e-10), loose);
  const Report full = make_sap()->solve(problem, convex(1e-10), tight);
  EXPECT_EQ(full.status, Status::converged);
  EXPECT_EQ(quick.status, Status::stalled);
  EXPECT_LT(quick.iterations, full.iterations);
}

TEST(Sap, WarmStartSavesIterations) {
  GeneratorSettings settings;
  settings.bodies = 30;
  settings.slide = true;
  settings.compliance = 1e-3;
  const ContactProblem problem = generate("pile", settings);
  settings.friction = 0.49;  // nearly the same problem
  const ContactProblem next = generate("pile", settings);
  Solution solution, again;
  const auto solver = make_sap();
  ASSERT_EQ(solver->solve(problem, convex(1e-9), solution).status, Status::converged);
  const Report cold = solver->solve(next, convex(1e-9), again);
  const Report warm = solver->solve(next, convex(1e-9), again, &solution.impulse);
  EXPECT_EQ(warm.status, Status::converged);
  EXPECT_LT(warm.iterations, cold.iterations);
  EXPECT_EQ(solver->solve(problem, convex(1e-9), again, &solution.impulse).iterations, 0);
}

TEST(Sap, EveryLineSearchReachesTheSameSolution) {
  const ContactProblem problem = scene("dishes", 1e-2);
  Solution exact, armijo;
  ASSERT_EQ(make_sap()->solve(problem, convex(1e-11), exact).status, Status::converged);
  ASSERT_EQ(make_solver("sap:line_search=armijo")->solve(problem, convex(1e-11), armijo).status,
            Status::converged);
  EXPECT_LT((exact.impulse - armijo.impulse).norm(), 1e-7 * exact.impulse.norm());
}

// W is unsymmetric: the symmetric part is solved, and that is not called converged.
TEST(Sap, UnsymmetricProblemsAreNotClaimed) {
  const ContactProblem problem = test::lifted_problem(7, 0.3);
  ASSERT_FALSE(problem.is_symmetric());
  Solution solution;
  const Report report = make_solver("sap:near_rigid=off")->solve(problem, convex(1e-8), solution);
  EXPECT_EQ(report.status == Status::converged, certify(problem, solution, Law::convex).error.value <= 1e-8);
  EXPECT_TRUE(solution.impulse.allFinite());
}

}  // namespace
}  // namespace tribo
