#include "tribo/solve/interior/ipm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
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

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Ipm, PointOnSlope) { test::expect_points_on_slopes(*make_ipm()); }

TEST(Ipm, CubeOnSlope) { test::expect_cubes_on_slopes(*make_ipm()); }

// Mass ratio 1e4 and sliding: few iterations whatever the height, in both measures.
TEST(Ipm, Towers) {
  for (const Index cubes : {5, 10, 20}) {
    for (const double ratio : {1.0, 1e4}) {
      for (const bool slide : {false, true}) {
        const ContactProblem problem = tower(cubes, ratio, slide);
        Solution solution;
        Report report = make_ipm()->solve(problem, to(1e-6), solution);
        EXPECT_EQ(report.status, Status::converged)
            << cubes << " cubes, ratio " << ratio << " slide " << slide;
        EXPECT_LE(certify(problem, solution).error.value, 1e-6);
        EXPECT_LE(report.iterations, 60);
        Settings settings = to(1e-8);
        settings.measure = Measure::siconos;
        report = make_ipm()->solve(problem, settings, solution);
        EXPECT_EQ(report.status, Status::converged)
            << cubes << " cubes, ratio " << ratio << " slide " << slide;
        EXPECT_LE(certify(problem, solution).siconos_error, 1e-8);
      }
    }
  }
}

TEST(Ipm, StacksAtRestBeginUnderTheirLoad) {
  for (const double ratio : {1.0, 1e4}) {
    for (const Index cubes : {10, 160}) {
      Settings settings = to(1e-8);
      settings.measure = Measure::siconos;
      Solution solution;
      const Report report = make_ipm()->solve(tower(cubes, ratio, false), settings, solution);
      EXPECT_EQ(report.status, Status::converged) << cubes << " " << ratio;
      EXPECT_LE(report.factorizations, 12) << cubes << " " << ratio;
    }
  }
}

TEST(Ipm, AllKindsAgreeWithADenseReferenceAndAdmm) {
  for (const unsigned seed : {31u, 32u, 33u}) {
    const ContactProblem problem = test::all_kinds(seed, 1.0);
    for (const Law law : {Law::exact, Law::convex}) {
      Solution by_ipm, by_admm;
      ASSERT_EQ(make_ipm()->solve(problem, to(1e-11, law), by_ipm).status, Status::converged);
      ASSERT_EQ(make_solver("admm")->solve(problem, to(1e-11, law), by_admm).status, Status::converged);
      const Vector expected = test::dense_reference(problem, law);
      const double size = expected.lpNorm<Eigen::Infinity>();
      EXPECT_LT((by_ipm.impulse - expected).lpNorm<Eigen::Infinity>(), 1e-8 * size);
      EXPECT_LT((by_ipm.velocity - by_admm.velocity).lpNorm<Eigen::Infinity>(), 1e-7);
    }
  }
}

class IpmVariants : public testing::TestWithParam<std::string> {};

// Both systems, all starts, other step rules: the same solution, rigid and compliant, both laws.
TEST_P(IpmVariants, ReachTheSameVelocities) {
  const ContactProblem compliant = test::all_kinds(34, 0.5);
  const ContactProblem rigid = test::mixed_problem(3);
  const ContactProblem slope = test::cube_on_slope(0.7, 0.5);
  for (const ContactProblem& problem : {compliant, rigid, slope}) {
    for (const Law law : {Law::exact, Law::convex}) {
      Solution reference, solution;
      ASSERT_EQ(make_solver("nsgs")->solve(problem, to(1e-11, law), reference).status, Status::converged);
      const Report report = make_solver("ipm:" + GetParam())->solve(problem, to(1e-9, law), solution);
      ASSERT_EQ(report.status, Status::converged);
      EXPECT_LE(report.iterations, 100);
      EXPECT_LT((solution.velocity - reference.velocity).lpNorm<Eigen::Infinity>(), 1e-7);
      EXPECT_LT((solution.generalized_velocity - reference.generalized_velocity).lpNorm<Eigen::Infinity>(),
                1e-7);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, IpmVariants,
                         testing::Values("system=dofs", "system=rows", "system=dofs,refinements=0",
                                         "start=clamped", "start=shifted", "step_back=0.9,patience=20",
                                         "switch=0", "equal_steps=off"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

// Cone complementarity is the optimality of min 1/2 l^T (W + R) l + q^T l over the sets.
TEST(Ipm, ConvexLawMinimises) {
  const ContactProblem problem = test::all_kinds(35, 0.0);
  const test::DenseTwin twin(problem);
  Solution solution;
  ASSERT_EQ(make_ipm()->solve(problem, to(1e-10, Law::convex), solution).status, Status::converged);
  const auto objective = [&](const Vector& x) {
    return 0.5 * x.dot(twin.w * x + twin.r.cwiseProduct(x)) + twin.q.dot(x);
  };
  const double lowest = objective(solution.impulse);
  test::Random random(35);
  for (int k = 0; k < 200; ++k) {
    Vector other = solution.impulse + random.log_uniform(1e-4, 1.0) * random.vector(problem.row_count());
    test::project(problem, other);
    EXPECT_GE(objective(other), lowest - 1e-9);
  }
}

// One tree, random rows: unilateral, bilateral and boxes of every sort; redundant equalities.
ContactProblem random_qp(unsigned seed) {
  test::Random random(seed);
  ContactProblemBuilder builder;
  const Index dofs = 12;
  builder.add_tree(test::random_spd(random, dofs), 3.0 * random.vector(dofs));
  const auto row = [&] { return std::vector<JacobianPiece>{{0, random.matrix(1, dofs)}}; };
  for (int k = 0; k < 8; ++k)
    builder.add_unilateral(row(), random.uniform(-1.0, 1.0), k % 3 == 0 ? 0.1 : 0.0);
  const std::vector<JacobianPiece> joint = row();
  builder.add_bilateral(joint, 0.3);
  builder.add_bilateral(joint, 0.3);  // the same joint twice
  builder.add_bilateral(row(), 0.0, 0.05);
  builder.add_box(-0.2, 0.1, row(), random.uniform());
  builder.add_box(-kInfinity, 0.05, row(), random.uniform());
  builder.add_box(0.02, kInfinity, row(), random.uniform());
  builder.add_box(-kInfinity, kInfinity, row(), random.uniform());
  builder.add_box(0.3, 0.3, row(), random.uniform());
  builder.add_contact(0.0, {{0, random.matrix(3, dofs)}}, random.vec3());
  return builder.build();
}

// Every condition of the optimality system, row by row, on the dense matrices.
void expect_optimal(const ContactProblem& problem, const Vector& impulse, double tolerance) {
  const test::DenseTwin twin(problem);
  const Vector w = twin.w * impulse + twin.r.cwiseProduct(impulse) + twin.q;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i);
    switch (problem.kind(i)) {
      case ConstraintKind::unilateral:
        EXPECT_GE(impulse[row], -tolerance);
        EXPECT_GE(w[row], -tolerance);
        EXPECT_NEAR(std::min(impulse[row], w[row]), 0.0, tolerance);
        break;
      case ConstraintKind::bilateral:
        EXPECT_NEAR(w[row], 0.0, tolerance);
        break;
      case ConstraintKind::box:
        EXPECT_GE(impulse[row], problem.lower(i) - tolerance);
        EXPECT_LE(impulse[row], problem.upper(i) + tolerance);
        if (impulse[row] > problem.lower(i) + tolerance) {
          EXPECT_LE(w[row], tolerance);
        }
        if (impulse[row] < problem.upper(i) - tolerance) {
          EXPECT_GE(w[row], -tolerance);
        }
        break;
      case ConstraintKind::contact:
        EXPECT_NEAR(impulse.segment<2>(row).norm(), 0.0, tolerance);
        EXPECT_NEAR(std::min(impulse[row + 2], w[row + 2]), 0.0, tolerance);
        break;
    }
  }
}

TEST(Ipm, RandomQuadraticProgrammes) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const ContactProblem problem = random_qp(seed);
    for (const char* options : {"ipm", "ipm:system=rows", "ipm:polish=off,equal_steps=off"}) {
      Solution solution;
      const Report report = make_solver(options)->solve(problem, to(1e-9), solution);
      ASSERT_EQ(report.status, Status::converged) << options << " seed " << seed;
      EXPECT_LE(report.iterations, 40) << options << " seed " << seed;
      expect_optimal(problem, solution.impulse, 1e-7);
    }
  }
}

TEST(Ipm, EqualitiesAloneTakeOneSolve) {
  test::Random random(5);
  ContactProblemBuilder builder;
  builder.add_tree(test::random_spd(random, 9), random.vector(9));
  for (int k = 0; k < 4; ++k) {
    builder.add_bilateral(std::vector<JacobianPiece>{{0, random.matrix(1, 9)}}, random.uniform());
  }
  Solution solution;
  const Report report = make_solver("ipm:system=rows,polish=off")->solve(builder.build(), to(1e-8), solution);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_EQ(report.iterations, 1);
}

// m u_n = -2 + lambda, u_n + R lambda = 0: lambda = 2 / (1 + m R), and the ball sinks in at R lambda.
TEST(Ipm, CompliantContact) {
  const double mass = 2.0;
  for (const double r : {1e-6, 0.1, 3.0}) {
    ContactProblemBuilder builder;
    const Index ball = builder.add_tree(mass * Mat3::Identity(), Vec3(0.0, 0.0, -2.0));
    builder.add_contact(0.4, {{ball, Mat3::Identity()}}, Vec3::Zero(), Vec3(r, 2.0 * r, r));
    const ContactProblem problem = builder.build();
    const double normal = 2.0 / (1.0 + mass * r);
    for (const Law law : {Law::exact, Law::convex}) {
      Solution solution;
      ASSERT_EQ(make_ipm()->solve(problem, to(1e-11, law), solution).status, Status::converged);
      EXPECT_NEAR(solution.impulse[2], normal, 1e-9);
      EXPECT_NEAR(solution.velocity[2], -r * normal, 1e-9);
    }
  }
}

TEST(Ipm, UnsymmetricMatrix) {
  for (const unsigned seed : {36u, 37u}) {
    const ContactProblem problem = test::lifted_problem(seed, 0.3);
    ASSERT_FALSE(problem.is_symmetric());
    for (const Law law : {Law::exact, Law::convex}) {
      Solution solution, by_nsgs;
      ASSERT_EQ(make_ipm()->solve(problem, to(1e-10, law), solution).status, Status::converged);
      ASSERT_EQ(make_solver("nsgs")->solve(problem, to(1e-10, law), by_nsgs).status, Status::converged);
      EXPECT_LT((solution.impulse - by_nsgs.impulse).norm(), 1e-7);
    }
  }
}

// Frictions from a millionth to a million: scaling keeps them apart from the numbers of the path.
TEST(Ipm, ExtremeFriction) {
  for (const double mu : {1e-6, 1e-3, 10.0, 1e3, 1e6}) {
    for (const Law law : {Law::exact, Law::convex}) {
      Solution solution;
      const ContactProblem problem = test::cube_on_slope(0.5, mu);
      EXPECT_EQ(make_ipm()->solve(problem, to(1e-8, law), solution).status, Status::converged) << mu;
      EXPECT_LE(certify(problem, solution, law).error.value, 1e-8);
    }
  }
}

TEST(Ipm, IterationLimitKeepsTheBest) {
  const ContactProblem problem = tower(10, 1e4, true);
  Settings settings = to(1e-12);
  settings.history = true;
  for (const Index limit : {0, 1, 5, 12}) {
    settings.max_iterations = limit;
    Solution solution;
    const Report report = make_ipm()->solve(problem, settings, solution);
    EXPECT_EQ(report.status, Status::iteration_limit);
    EXPECT_LE(report.iterations, limit);
    double best = kInfinity;
    for (const Progress& progress : report.history) best = std::min(best, progress.error);
    EXPECT_NEAR(report.certificate.error.value, best, 1e-6 * best);
  }
}

void expect_no_solution(const ContactProblem& problem) {
  for (const char* options : {"ipm", "ipm:system=rows"}) {
    for (const Law law : {Law::exact, Law::convex}) {
      for (const Measure measure : {Measure::scaled, Measure::siconos, Measure::fclib}) {
        Settings settings = to(1e-6, law);
        settings.measure = measure;
        Solution solution;
        const Report report = make_solver(options)->solve(problem, settings, solution);
        EXPECT_NE(report.status, Status::converged) << options << " " << to_string(measure);
        EXPECT_TRUE(solution.impulse.allFinite());
        EXPECT_TRUE(solution.velocity.allFinite());
        EXPECT_TRUE(report.certificate.is_finite());
      }
    }
  }
}

TEST(Ipm, EndsOnProblemsWithoutASolution) {
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

// Every start leads to the same velocities; tall sliding stacks block some paths, and another start goes on.
TEST(Ipm, StartsAgreeAndReplaceEachOther) {
  const ContactProblem problem = test::all_kinds(1, 1.0);
  Settings settings;
  settings.tolerance = 1e-9;
  Vector first;
  for (const char* start : {"automatic", "centre", "clamped", "shifted", "stick"}) {
    const std::unique_ptr<Solver> solver = make_ipm();
    solver->set_option("start", start);
    Solution solution;
    ASSERT_EQ(solver->solve(problem, settings, solution).status, Status::converged) << start;
    if (first.size() == 0) first = solution.velocity;
    EXPECT_LT((solution.velocity - first).lpNorm<Eigen::Infinity>(), 1e-6) << start;
  }
  settings.measure = Measure::siconos;
  settings.tolerance = 1e-8;
  for (const double ratio : {1.0, 1e4}) {
    GeneratorSettings scene;
    scene.bodies = 160;
    scene.slide = true;
    scene.mass_ratio = ratio;
    Solution solution;
    const Report report = make_ipm()->solve(generate("tower", scene), settings, solution);
    EXPECT_EQ(report.status, Status::converged) << ratio;
    EXPECT_LE(report.iterations, 150) << ratio;
  }
}

}  // namespace
}  // namespace tribo
