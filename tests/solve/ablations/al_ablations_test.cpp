#include "tribo/solve/ablations/al_ablations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/dense_twin.h"
#include "tests/support/finite_difference.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tests/support/solver_checks.h"
#include "tribo/generate/generators.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/newton/surrogate_newton.h"

namespace tribo {
namespace {

using test::to;

class AlAblations : public testing::TestWithParam<const char*> {};

TEST_P(AlAblations, SolveEasyProblems) {
  for (const double angle : {0.2, 0.9}) {
    const double mu = 0.6, mass = 3.0;
    Solution solution;
    const Report report =
        make_solver(GetParam())->solve(test::cube_on_slope(angle, mu, mass), to(1e-9), solution);
    ASSERT_EQ(report.status, Status::converged) << angle;
    EXPECT_GE(report.factorizations, report.iterations - 1);
    test::expect_slope_impulses(solution.impulse, angle, mu, mass);
  }
}

TEST_P(AlAblations, AllKindsAgreeWithAdmm) {
  for (const Law law : {Law::exact, Law::convex}) {
    const ContactProblem problem = test::all_kinds(41, 1.0);
    Solution solution, by_admm;
    const std::string spec = std::string(GetParam()) + ":beta=10,beta_max=1e4";
    ASSERT_EQ(make_solver(spec)->solve(problem, to(1e-9, law), solution).status, Status::converged);
    ASSERT_EQ(make_solver("admm")->solve(problem, to(1e-11, law), by_admm).status, Status::converged);
    EXPECT_LT((solution.velocity - by_admm.velocity).lpNorm<Eigen::Infinity>(), 1e-7);
  }
}

// Settings::explain: loops whose surrogate was not solved; with one step per loop that is most of them.
TEST_P(AlAblations, CountInnerFailures) {
  GeneratorSettings scene;
  scene.slide = true;
  Settings settings = to(1e-300);
  settings.max_iterations = 10;
  settings.explain = true;
  settings.islands = false;
  Solution solution;
  const Report report = make_solver(std::string(GetParam()) + ":newton=1")
                            ->solve(generate("dishes", scene), settings, solution);
  Index failures = -1;
  for (const Stage& stage : report.stages) {
    if (stage.name == "inner failures") failures = stage.iterations;
  }
  EXPECT_GE(failures, 1);
  EXPECT_LE(failures, 10);
  EXPECT_EQ(report.iterations, 10);
  EXPECT_TRUE(solution.impulse.allFinite());
}

INSTANTIATE_TEST_SUITE_P(All, AlAblations, testing::Values("al-dogleg", "al-damped"),
                         [](const auto& test) { return std::string(test.param).substr(3); });

// A root found is a root: momentum is balanced by the strict law's impulses.
TEST(SurrogateNewton, FindsRootsFromTheFreeMotion) {
  for (const Globalisation method : {Globalisation::damped, Globalisation::dogleg}) {
    const ContactProblem problem = test::all_kinds(42, 0.3);
    ProximalLaw law;
    law.prepare(problem, 2.0);
    const Vector zero = Vector::Zero(problem.row_count());
    Vector v(problem.dof_count());
    problem.generalized_velocity_of(zero, v);
    SurrogateNewton newton;
    newton.prepare(problem);
    const auto result = newton.solve(problem, Law::exact, law, zero, zero, v, method, 1e-11, 100);
    ASSERT_TRUE(result.solved);
    EXPECT_LT(result.steps, 50);
    const test::DenseTwin twin(problem);
    Vector impulse(problem.row_count());
    law.impulse(problem, Law::exact, twin.j * newton.velocity() + twin.e, zero, impulse);
    EXPECT_LT((impulse - newton.impulse()).norm(), 1e-10);
    EXPECT_LT((twin.a * newton.velocity() - twin.b - twin.j.transpose() * impulse).norm(), 1e-9);
  }
}

}  // namespace
}  // namespace tribo
