// Newton steps on the equation of a solution itself.
#include "tribo/solve/newton/al_surrogate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/problem/contact_problem_builder.h"
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

// A block that sticks, 1 kg, beside a dry friction row along x that can take little: redundant as long as both hold. By
// hand: 0.3 N s stop the block, 0.297 of which the contact has already; a step that shared the rest by stiffness alone
// would load the row with 0.0015 N s.
TEST(AlSurrogate, NaturalStepsLeaveRowsWithinTheirBounds) {
  ContactProblemBuilder builder;
  builder.add_tree(Matrix::Identity(3, 3), Vec3(0.3, 0.0, -1.0));
  builder.add_contact(0.8, {{0, Matrix::Identity(3, 3)}});
  const JacobianPiece piece{0, Matrix(Vec3::UnitX().transpose())};
  builder.add_box(-0.001, 0.001, {&piece, 1});
  const ContactProblem problem = builder.build();
  const auto system = make_newton_system(NewtonForm::dense);
  system->prepare(problem);
  AlSurrogate surrogate;
  surrogate.prepare(problem, Law::exact, *system);
  surrogate.adopt(Vector(Eigen::Vector4d(-0.297, 0.0, 1.0, 0.0)));
  ASSERT_TRUE(surrogate.natural_step());
  EXPECT_LE(std::abs(surrogate.multiplier()[3]), 0.001);
  EXPECT_LT(surrogate.natural(), 1e-5);
  EXPECT_NEAR(surrogate.multiplier()[0] + surrogate.multiplier()[3], -0.3, 1e-5);
  EXPECT_NEAR(surrogate.multiplier()[2], 1.0, 1e-5);
}

// A contact that opens, one that closes and one that begins to slide within one step: body by body, by hand.
TEST(AlSurrogate, NaturalStepsChangeThePiecesOfContacts) {
  ContactProblemBuilder builder;
  const Vec3 momentum[] = {{0.0, 0.0, 0.5}, {0.1, 0.0, -1.0}, {2.0, 0.0, -1.0}};
  for (Index k = 0; k < 3; ++k) {
    builder.add_tree(Matrix::Identity(3, 3), momentum[k]);
    builder.add_contact(0.5, {{k, Matrix::Identity(3, 3)}});
  }
  const ContactProblem problem = builder.build();
  const auto system = make_newton_system(NewtonForm::dense);
  system->prepare(problem);
  AlSurrogate surrogate;
  surrogate.prepare(problem, Law::exact, *system);
  Vector start = Vector::Zero(9), expected(9);
  start[2] = 1.0;  // carries, but should not
  start[8] = 5.0;  // sticks, but should slide
  expected << 0.0, 0.0, 0.0, -0.1, 0.0, 1.0, -0.5, 0.0, 1.0;
  surrogate.adopt(start);
  ASSERT_TRUE(surrogate.natural_step());
  EXPECT_LT((surrogate.multiplier() - expected).lpNorm<Eigen::Infinity>(), 1e-4);  // share left out: 3e-6
}

}  // namespace
}  // namespace tribo
