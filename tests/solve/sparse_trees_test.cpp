// Every solver on problems with sparse trees, beside the same problems with all trees dense.
#include "tribo/problem/sparse_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/allocation_counter.h"
#include "tests/support/random.h"
#include "tests/support/sparse_samples.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/infeasibility.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

class SparseTreesEverySolver : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Solver> solver_ = make_solver(GetParam());
  Settings settings_;
  Solution solution_;
};

TEST_P(SparseTreesEverySolver, FindsTheSolutionOfTheDenseTwin) {
  settings_.max_iterations = 5000;
  for (const double compliance : {0.0, 0.05}) {
    const auto [sparse, dense] = test::soft_block(21, compliance);
    for (const Law law : {Law::exact, Law::convex}) {
      if (!solver_->supports(law)) continue;
      settings_.law = law;
      Solution twin;
      const Report report = solver_->solve(sparse, settings_, solution_);
      const Report other = solver_->solve(dense, settings_, twin);
      EXPECT_EQ(report.status, other.status);
      ASSERT_EQ(solution_.generalized_velocity.size(), dense.dof_count());
      // Both judges, on both impulses.
      const double error = certify(sparse, solution_, law).error.value;
      EXPECT_EQ(report.status == Status::converged, error <= settings_.tolerance);
      EXPECT_NEAR(error, certify(dense, solution_, law).error.value, 1e-9);
      EXPECT_NEAR(error, report.certificate.error.value, 1e-9);
      EXPECT_LT(report.certificate.momentum, 1e-12);
      if (report.status != Status::converged || other.status != Status::converged) continue;
      const double speed = dense.free_speed();
      EXPECT_LT((solution_.generalized_velocity - twin.generalized_velocity).norm(), 2e-3 * speed);
      if (compliance > 0.0 && law == Law::convex) {  // the solution is unique
        EXPECT_LT((solution_.impulse - twin.impulse).norm(), 1e-3 * twin.impulse.norm());
      }
      Vector v;
      SparseScratch scratch;
      dense.full_velocity_of(solution_.impulse, v, scratch);
      EXPECT_LT((v - solution_.generalized_velocity).norm(), 1e-11 * speed);
    }
  }
}

TEST_P(SparseTreesEverySolver, WarmStartAndThreads) {
  const ContactProblem problem = test::soft_block(22, 0.02).sparse;
  settings_.max_iterations = 5000;
  if (!solver_->supports(settings_.law)) settings_.law = Law::convex;
  const Report cold = solver_->solve(problem, settings_, solution_);
  Solution two;
  settings_.threads = 2;
  make_solver(GetParam())->solve(problem, settings_, two);
  EXPECT_EQ(two.impulse, solution_.impulse);
  EXPECT_EQ(two.generalized_velocity, solution_.generalized_velocity);
  if (cold.status != Status::converged) return;
  const Vector start = solution_.impulse;
  const Report warm = solver_->solve(problem, settings_, solution_, &start);
  EXPECT_EQ(warm.status, Status::converged);
  EXPECT_LE(warm.iterations, cold.iterations);
}

INSTANTIATE_TEST_SUITE_P(All, SparseTreesEverySolver, testing::ValuesIn([] {
                           std::vector<const char*> names;
                           for (const SolverInfo& solver : solver_catalogue())
                             names.push_back(solver.name.data());
                           return names;
                         }()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(SparseTreesSolve, Converges) {
  const ContactProblem problem = test::soft_block(23).sparse;
  for (const SolverInfo& info : main_solvers()) {
    if (info.name == "sap") continue;  // which solves a rigid problem with compliance
    Settings settings;
    settings.tolerance = 1e-8;
    settings.max_iterations = 20000;
    Solution solution;
    const Report report = info.make()->solve(problem, settings, solution);
    EXPECT_EQ(report.status, Status::converged) << info.name << ' ' << report.certificate.error.value;
  }
}

// A node between two jaws that close: no velocity meets both.
ContactProblem jaws(bool dense_twin) {
  test::Random random(24);
  test::TwinBuilder builder;
  const auto mass = test::lattice_mass(random, 3, 2, 2, 10.0);
  const Index tree = builder.add_sparse_tree(mass, random.vector(mass.rows()));
  const Index other = builder.add_tree(Mat3::Identity(), Vec3(0.0, 0.0, -1.0));
  builder.add_contact(0.3, {{tree, Mat3::Identity(), {}, 6}}, Vec3(0.0, 0.0, -0.5));
  Mat3 down = Mat3::Identity();
  down(2, 2) = -1.0;
  builder.add_contact(0.3, {{tree, down, {}, 6}}, Vec3(0.0, 0.0, -0.5));
  builder.add_contact(0.3, {{tree, Mat3::Identity(), {}, 15}});
  builder.add_contact(0.3, {{other, Mat3::Identity()}});
  auto problems = builder.build();
  return dense_twin ? problems.dense : problems.sparse;
}

TEST(SparseTreesSolve, ProvesThatThereIsNoSolution) {
  const ContactProblem sparse = jaws(false), dense = jaws(true);
  for (const char* name : {"auto", "alnewton", "nsgs"}) {
    Solution solution, twin;
    const Report report = make_solver(name)->solve(sparse, {}, solution);
    const Report other = make_solver(name)->solve(dense, {}, twin);
    ASSERT_EQ(report.status, Status::infeasible) << name;
    ASSERT_EQ(other.status, Status::infeasible) << name;
    ASSERT_EQ(report.contradictions.size(), 1u);
    EXPECT_EQ(report.contradictions[0].constraints, (std::vector<Index>{0, 1}));
    EXPECT_TRUE(prove_contradiction(dense, report.contradictions[0].ray, Law::exact));
    EXPECT_NEAR(report.contradictions[0].violation, 0.5, 1e-6);
    ASSERT_EQ(solution.generalized_velocity.size(), dense.dof_count());
    EXPECT_LT((solution.generalized_velocity - twin.generalized_velocity).norm(),
              1e-3 * twin.generalized_velocity.norm());
  }
}

// As for problems without sparse trees.
TEST(SparseTreesSolve, WarmedUpAllocatesNothing) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  for (const char* name : {"auto", "alnewton", "ipm", "admm", "nsgs", "pgs"}) {
    const ContactProblem problem = test::soft_block(25).sparse;
    const auto solver = make_solver(name);
    Settings settings;
    settings.max_iterations = 300;
    Solution solution;
    for (int k = 0; k < 2; ++k) solver->solve(problem, settings, solution);
    const std::size_t before = test::allocation_count();
    solver->solve(problem, settings, solution);
    EXPECT_EQ(test::allocation_count() - before, 0u) << name;
  }
}

}  // namespace
}  // namespace tribo
