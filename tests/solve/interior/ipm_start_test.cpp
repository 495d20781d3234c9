// `ipm` as a stage: what it makes of a start, and where it leaves its path.
#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/solver_checks.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/certificate.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/driver/loop_solver.h"
#include "tribo/solve/interior/ipm_solver.h"

namespace tribo {
namespace {

using test::to;
using test::tower;

// A sequence of slightly different problems: what is taken over saves iterations.
TEST(IpmStart, WarmStartSavesIterations) {
  Index cold = 0, full = 0;
  Solution last;
  for (Index step = 0; step < 8; ++step) {
    GeneratorSettings settings;
    settings.bodies = 6;
    settings.friction = 0.3 + 0.002 * static_cast<double>(step);
    settings.slide = true;
    const ContactProblem problem = generate("tower", settings);
    Solution solution;
    const Report without =
        make_solver("ipm:warm=none")->solve(problem, to(1e-8), solution, step > 0 ? &last.impulse : nullptr);
    EXPECT_EQ(without.status, Status::converged);
    const Report with =
        make_solver("ipm:warm=full")->solve(problem, to(1e-8), solution, step > 0 ? &last.impulse : nullptr);
    EXPECT_EQ(with.status, Status::converged);
    if (step > 0) {
      cold += without.iterations;
      full += with.iterations;
    }
    last = solution;
  }
  EXPECT_LT(full, cold);
}

// As a stage of others: the path alone, as far as it is wanted and where its factorisations are cheap.
TEST(IpmStart, APathIsLeftAtItsTarget) {
  GeneratorSettings scene;
  scene.bodies = 80;
  const ContactProblem problem = generate("wall", scene);
  Solution solution;
  Settings few = to(1e-8);
  few.max_iterations = 20;
  make_solver("nsgs")->solve(problem, few, solution);
  ASSERT_GT(certify(problem, solution).error.value, 1e-2);
  const Vector start = solution.impulse;
  Ipm ipm;
  const Report whole = ipm.solve(problem, to(1e-8), solution, &start);
  ASSERT_EQ(whole.status, Status::converged);

  double target = 1e-2;
  Budget budget;
  Status ended = Status::converged;
  LoopSolver path_only("path", [&](const ContactProblem&, Monitor& monitor) {
    monitor.run_stage("path", budget, Monitor::From::best,
                      [&] { ended = ipm.follow_path(problem, monitor, target); });
    return ended;
  });
  const Report path = path_only.solve(problem, to(1e-8), solution, &start);
  EXPECT_NE(path.status, Status::converged);
  EXPECT_LE(certify(problem, solution).error.value, 1e-2);
  EXPECT_GT(certify(problem, solution).error.value, 1e-8);
  EXPECT_GT(path.factorizations, 0);
  EXPECT_LT(path.factorizations, whole.factorizations);

  const double flops = ipm.factor_flops();
  EXPECT_GT(flops, 0.0);
  budget.factor_flops = 0.5 * flops;
  EXPECT_EQ(path_only.solve(problem, to(1e-8), solution, &start).factorizations, 0);

  // Nothing to do, or no time to do it in.
  budget = {};
  target = 10.0;
  EXPECT_EQ(path_only.solve(problem, to(1e-8), solution, &start).factorizations, 0);
  EXPECT_EQ(ipm.factor_flops(), flops);
  target = 1e-6;
  budget.iterations = 2;
  EXPECT_EQ(path_only.solve(problem, to(1e-8), solution, &start).factorizations, 2);
  EXPECT_EQ(ended, Status::iteration_limit);
  budget = {.factorizations = 3};
  EXPECT_EQ(path_only.solve(problem, to(1e-8), solution, &start).factorizations, 3);

  EXPECT_EQ(ipm.solve(problem, to(1e-8), solution, &start).status, Status::converged);
}

// From impulses far too large steps are short at once: two of them and it is left, where patience would take nine.
TEST(IpmStart, APathIsLeftWhereStepsAreShort) {
  GeneratorSettings scene;
  scene.bodies = 40;
  scene.slide = true;
  const ContactProblem problem = generate("wall", scene);
  const Vector start = Vector::Ones(problem.row_count());
  Ipm ipm;
  LoopSolver path_only("path", [&](const ContactProblem&, Monitor& monitor) {
    return ipm.follow_path(problem, monitor, 1e-4);
  });
  Solution solution;
  const Report report = path_only.solve(problem, to(1e-8), solution, &start);
  EXPECT_EQ(report.status, Status::stalled);
  EXPECT_EQ(report.factorizations, 2);
  EXPECT_TRUE(solution.impulse.allFinite());
}

TEST(IpmStart, WarmStartAtTheSolutionNeedsNoIteration) {
  const ContactProblem problem = tower(4, 10.0, true);
  Solution solution, again;
  auto solver = make_ipm();
  ASSERT_EQ(solver->solve(problem, to(1e-8), solution).status, Status::converged);
  const Report report = solver->solve(problem, to(1e-8), again, &solution.impulse);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_EQ(report.iterations, 0);
}

// A start far off must not be worse than none.
TEST(IpmStart, SurvivesAMisleadingStart) {
  const ContactProblem problem = tower(5, 1e4, true);
  test::Random random(9);
  for (const double size : {1e-6, 1.0, 1e6}) {
    const Vector start = size * random.vector(problem.row_count());
    for (const char* options : {"ipm:warm=full", "ipm:warm=partial", "ipm:warm=none"}) {
      Solution solution;
      EXPECT_EQ(make_solver(options)->solve(problem, to(1e-7), solution, &start).status, Status::converged)
          << options << " " << size;
    }
  }
}

}  // namespace
}  // namespace tribo
