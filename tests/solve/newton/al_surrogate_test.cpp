// Newton steps on the equation of a solution itself.
#include "tribo/solve/newton/al_surrogate.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

struct Case {
  ContactProblem problem;
  NewtonForm form;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({test::cube_on_slope(0.1, 0.5), NewtonForm::dense});  // sticks, redundant
  all.push_back({test::cube_on_slope(0.6, 0.3), NewtonForm::dense});  // slides
  for (unsigned seed = 1; seed <= 4; ++seed) {
    all.push_back({test::all_kinds(seed, 0.0), NewtonForm::dense});
    all.push_back({test::all_kinds(seed, 0.3), NewtonForm::trees});
    all.push_back({test::all_kinds(seed, 0.0, 12), NewtonForm::dofs});
  }
  return all;
}

Vector solution_of(const ContactProblem& problem, Law law) {
  Solution solution;
  Settings settings;
  settings.tolerance = 1e-12;
  settings.law = law;
  EXPECT_EQ(make_solver("auto")->solve(problem, settings, solution).status, Status::converged);
  return solution.impulse;
}

// Near a solution a step or two end at rounding, and the velocities are those of the impulses.
TEST(AlSurrogate, NaturalStepsConverge) {
  for (const Law law : {Law::exact, Law::convex}) {
    test::Random random(3);
    for (const Case& c : cases()) {
      const auto system = make_newton_system(c.form);
      system->prepare(c.problem);
      AlSurrogate surrogate;
      surrogate.prepare(c.problem, law, *system);
      Vector start = solution_of(c.problem, law);
      start += 1e-6 * start.norm() * random.vector(start.size());
      surrogate.adopt(start);
      const double before = surrogate.natural();
      for (int k = 0; k < 6 && surrogate.natural() > 1e-12; ++k) {
        if (!surrogate.natural_step()) break;
      }
      EXPECT_LT(surrogate.natural(), 1e-5 * before);
      Vector nearest;
      EXPECT_TRUE(surrogate.is_inside(nearest));
      Vector v, u;
      c.problem.velocity_of(surrogate.multiplier(), v, u);
      EXPECT_LT((u - system->velocity()).lpNorm<Eigen::Infinity>(), 1e-9 * (1.0 + u.norm()));
    }
  }
}

// From anywhere a step makes it better, or changes nothing.
TEST(AlSurrogate, NaturalStepsThatFailChangeNothing) {
  test::Random random(8);
  int failed = 0, taken = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const ContactProblem problem = test::all_kinds(seed, 0.0, 12, 0.8);
    const auto system = make_newton_system(NewtonForm::dense);
    system->prepare(problem);
    AlSurrogate surrogate;
    surrogate.prepare(problem, Law::exact, *system);
    Vector start = random.vector(problem.row_count());
    test::project(problem, start);
    surrogate.adopt(start);
    const double before = surrogate.natural();
    const Vector velocity = system->velocity();
    if (surrogate.natural_step()) {
      ++taken;
      EXPECT_LT(surrogate.natural(), before);
    } else {
      ++failed;
      EXPECT_EQ(surrogate.multiplier(), start);
      EXPECT_EQ(surrogate.natural(), before);
      EXPECT_EQ(system->velocity(), velocity);
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(failed, 0);
}

}  // namespace
}  // namespace tribo
