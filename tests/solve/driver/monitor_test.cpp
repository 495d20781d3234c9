// Stages and budgets: what the monitor promises to solvers that run others.
#include "tribo/solve/driver/monitor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/small_problems.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/driver/loop_solver.h"

namespace tribo {
namespace {

ContactProblem sliding_tower() {
  GeneratorSettings settings;
  settings.bodies = 6;
  settings.slide = true;
  return generate("tower", settings);
}

// Solves `problem` by `loop` at a tolerance that nothing reaches.
Report drive(const ContactProblem& problem, Settings settings, const std::function<void(Monitor&)>& loop) {
  LoopSolver solver("test", [&](const ContactProblem&, Monitor& monitor) {
    loop(monitor);
    return Status::stalled;
  });
  settings.tolerance = 1e-300;
  settings.prove_infeasible = false;
  Solution solution;
  return solver.solve(problem, settings, solution);
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> list;
  for (const SolverInfo& info : solver_catalogue()) list.push_back(info.name);
  return list;
}

class BudgetOfEverySolver : public testing::TestWithParam<std::string_view> {};

TEST_P(BudgetOfEverySolver, IsHonoured) {
  const ContactProblem problem = sliding_tower();
  const auto solver = make_solver(GetParam());
  Settings settings;
  settings.law = solver->supports(Law::exact) ? Law::exact : Law::convex;
  for (const Index few : {0, 1, 3, 7}) {
    const Report report = drive(problem, settings, [&](Monitor& monitor) {
      const bool ended = monitor.run(*solver, {.iterations = few});
      EXPECT_FALSE(ended);
      EXPECT_LE(monitor.iterations_done(), few);
    });
    EXPECT_LE(report.iterations, few);
  }
  // A Newton method finishes the surrogate step it is at: a line search or a step with old factors may add some.
  for (const Index few : {1, 5}) {
    const Report report =
        drive(problem, settings, [&](Monitor& monitor) { monitor.run(*solver, {.factorizations = few}); });
    EXPECT_LE(report.factorizations, few + 15) << few;
  }
  // Time of a stage ends the stage, not the solve.
  settings.time_limit = 1e3;
  settings.max_iterations = 100000000;
  bool after = false;
  const Report timed = drive(problem, settings, [&](Monitor& monitor) {
    EXPECT_FALSE(monitor.run(*solver, {.seconds = 1e-3}));
    after = true;
  });
  EXPECT_TRUE(after);
  EXPECT_LT(timed.seconds, 60.0);
  EXPECT_NE(timed.status, Status::time_limit);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, BudgetOfEverySolver, testing::ValuesIn(names()),
                         [](const auto& parameter) {
                           std::string name(parameter.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// While a stage runs its best iterate is its own; afterwards the best of all is known.
TEST(Monitor, StagesHaveTheirOwnBestIterate) {
  const ContactProblem problem = sliding_tower();
  const Vector zero = Vector::Zero(problem.row_count());
  Vector solved, ones = Vector::Zero(problem.row_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) ones[problem.row(i) + problem.rows(i) - 1] = 1.0;
  {
    Solution solution;
    ASSERT_EQ(make_solver("auto")->solve(problem, {}, solution).status, Status::converged);
    solved = solution.impulse;
  }
  drive(problem, {}, [&](Monitor& monitor) {
    EXPECT_EQ(monitor.start(), zero);
    monitor.check(1, solved);
    const double best = monitor.best_error();
    EXPECT_EQ(monitor.best(), solved);
    monitor.run_stage("again", {}, Monitor::From::start, [&] {
      EXPECT_EQ(monitor.start(), zero);
      EXPECT_EQ(monitor.best(), zero);
      EXPECT_GT(monitor.best_error(), best);
      monitor.check(1, ones);
    });
    EXPECT_EQ(monitor.best(), solved);
    monitor.run_stage("from elsewhere", {}, ones, [&] {
      EXPECT_EQ(monitor.start(), ones);
      EXPECT_EQ(monitor.best(), ones);
      EXPECT_GT(monitor.best_error(), best);
      monitor.run_stage("inner", {}, Monitor::From::best, [&] { EXPECT_EQ(monitor.start(), ones); });
    });
    EXPECT_EQ(monitor.stage_best(), ones);
    EXPECT_EQ(monitor.best_error(), best);
  });
}

TEST(Monitor, InnerBudgetsAreClippedToTheOuterOnes) {
  drive(sliding_tower(), {}, [&](Monitor& monitor) {
    monitor.run_stage("outer", {.iterations = 10, .factorizations = 4}, Monitor::From::best, [&] {
      EXPECT_EQ(monitor.iterations_left(), 10);
      monitor.count_factorization();
      monitor.run_stage("inner", {.iterations = 100, .factorizations = 100}, Monitor::From::best, [&] {
        EXPECT_EQ(monitor.iterations_left(), 10);
        EXPECT_EQ(monitor.factorizations_left(), 3);
        monitor.check(6, monitor.start());
        monitor.count_factorizations(3);
        EXPECT_FALSE(monitor.may_factorize());
      });
      EXPECT_EQ(monitor.iterations_left(), 4);
      EXPECT_FALSE(monitor.may_factorize());
    });
    EXPECT_TRUE(monitor.may_factorize());
    EXPECT_EQ(monitor.iterations_done(), 6);
  });
}

// Iterations count on through stages, and Settings::explain splits them.
TEST(Monitor, StagesAddUp) {
  Settings settings;
  settings.explain = settings.history = true;
  const auto nsgs = make_solver("nsgs");
  const auto admm = make_solver("admm");
  const Report report = drive(sliding_tower(), settings, [&](Monitor& monitor) {
    monitor.run(*nsgs, {.iterations = 5});
    monitor.run(*admm, {.iterations = 20});
  });
  ASSERT_EQ(report.stages.size(), 2u);
  EXPECT_EQ(report.stages[0].name, "nsgs");
  EXPECT_EQ(report.stages[0].iterations, 5);
  EXPECT_EQ(report.stages[1].iterations, 20);
  EXPECT_EQ(report.iterations, 25);
  for (std::size_t k = 1; k < report.history.size(); ++k) {
    EXPECT_GT(report.history[k].iteration, report.history[k - 1].iteration);
  }
}

// A solver that nobody has registered: scaled gradient steps on the natural map. It solves problems that fall into
// islands as well, each with a copy of its own.
class Relaxation final : public Solver {
 public:
  explicit Relaxation(double step) : step_(step) {}
  std::string_view name() const override { return "relaxation"; }
  std::unique_ptr<Solver> clone() const override { return std::make_unique<Relaxation>(step_); }
  Status iterate(const ContactProblem& problem, Monitor& monitor) override {
    Vector impulse = monitor.start(), velocity, motion;
    for (Index k = 1; k <= monitor.iterations_left(); ++k) {
      problem.velocity_of(impulse, motion, velocity);
      for (Index i = 0; i < problem.constraint_count(); ++i) {
        const Index row = problem.row(i);
        Vec3 w = velocity.segment<3>(row);
        w[2] += problem.friction(i) * w.head<2>().norm();  // De Saxce
        impulse.segment<3>(row) -= step_ / problem.scale(i) * w;
      }
      project_impulse(problem, impulse);
      if (monitor.check(k, impulse)) return Status::converged;
    }
    return Status::iteration_limit;
  }

 private:
  double step_;
};

TEST(Monitor, ASolverOutsideTheCatalogueSolvesIslands) {
  ContactProblemBuilder builder;
  for (int body = 0; body < 12; ++body) {
    const double angle = 0.05 * body;
    const Index tree = builder.add_tree(Matrix::Identity(3, 3), Vec3(std::sin(angle), 0.0, -std::cos(angle)));
    builder.add_contact(0.3, {{tree, Mat3::Identity()}});
  }
  const ContactProblem problem = builder.build();
  Relaxation solver(0.1);
  Settings settings;
  settings.threads = 2;
  Solution solution;
  const Report report = solver.solve(problem, settings, solution);
  EXPECT_EQ(report.status, Status::converged);
  for (Index i = 0; i < 12; ++i) {
    const double angle = 0.05 * static_cast<double>(i), normal = std::cos(angle);
    EXPECT_NEAR(solution.impulse[3 * i + 2], normal, 1e-5);
    EXPECT_NEAR(solution.impulse[3 * i], -std::min(0.3 * normal, std::sin(angle)), 1e-5);
  }
  // Cubes of eight contacts are islands worth a copy each.
  ContactProblemBuilder cubes;
  for (int c = 0; c < 3; ++c) {
    Matrix inertia = Matrix::Identity(6, 6);
    Vector momentum = Vector::Zero(6);
    momentum[2] = -1.0;
    const Index body = cubes.add_tree(inertia, momentum);
    for (int k = 0; k < 8; ++k) {
      cubes.add_contact(0.4, {{body, test::point_jacobian(Vec3(std::cos(k), std::sin(k), -0.5))}});
    }
  }
  const Report split = solver.solve(cubes.build(), settings, solution);
  EXPECT_EQ(split.islands, 3);
  EXPECT_EQ(split.status, Status::converged);
}

}  // namespace
}  // namespace tribo
