// The forms of the momentum equation against each other and against finite differences.
#include "tribo/solve/systems/newton_system.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/problem/islands.h"
#include "tribo/solve/law/proximal_law.h"

namespace tribo {
namespace {

constexpr NewtonForm kForms[] = {NewtonForm::dofs, NewtonForm::rows, NewtonForm::small, NewtonForm::dense,
                                 NewtonForm::trees};

// A cube on a slope: 4 contacts, so that all forms apply.
TEST(NewtonSystem, FormsTakeTheSameStep) {
  const ContactProblem problem = test::cube_on_slope(0.5, 0.3);
  ProximalLaw law;
  law.prepare(problem, 10.0);
  test::Random random(2);
  Vector start = random.vector(problem.row_count()), impulse(problem.row_count());
  test::project(problem, start);
  std::vector<Vector> velocities;
  for (const NewtonForm form : kForms) {
    const auto system = make_newton_system(form);
    system->prepare(problem);
    system->start(start);
    Vector v, u;
    problem.velocity_of(start, v, u);
    EXPECT_LE((system->velocity() - u).lpNorm<Eigen::Infinity>(), 1e-13);
    law.impulse(problem, Law::exact, system->velocity(), start, impulse);
    system->residual(impulse);
    GroupBlocks derivative;
    law.derivative(problem, Law::exact, system->velocity(), start, derivative);
    ASSERT_TRUE(system->direction(derivative));
    system->move(1.0);
    velocities.push_back(system->velocity());
  }
  for (std::size_t k = 1; k < velocities.size(); ++k) {
    EXPECT_LE((velocities[0] - velocities[k]).lpNorm<Eigen::Infinity>(), 1e-11) << k;
  }
}

// Robots in a row, with active and with open contacts between them.
TEST(NewtonSystem, TreesTakeTheStepOfTheWhole) {
  for (const ContactProblem& problem :
       {test::robots_in_a_row({9, 20, 6, 12, 7}), test::all_kinds(3, 0.1, 12)}) {
    ProximalLaw law;
    law.prepare(problem, 10.0);
    test::Random random(2);
    Vector start = random.vector(problem.row_count()), impulse(problem.row_count());
    test::project(problem, start);
    std::vector<Vector> velocities, again;
    for (const NewtonForm form : {NewtonForm::dofs, NewtonForm::trees}) {
      const auto system = make_newton_system(form);
      system->prepare(problem);
      system->start(start);
      law.impulse(problem, Law::exact, system->velocity(), start, impulse);
      system->residual(impulse);
      GroupBlocks derivative;
      law.derivative(problem, Law::exact, system->velocity(), start, derivative);
      ASSERT_TRUE(system->direction(derivative));
      system->move(1.0);
      velocities.push_back(system->velocity());
      law.impulse(problem, Law::exact, system->velocity(), start, impulse);
      system->residual(impulse);
      ASSERT_TRUE(system->direction_again());
      system->move(1.0);
      again.push_back(system->velocity());
    }
    EXPECT_LE((velocities[0] - velocities[1]).lpNorm<Eigen::Infinity>(), 1e-10 * velocities[0].norm());
    EXPECT_LE((again[0] - again[1]).lpNorm<Eigen::Infinity>(), 1e-10 * velocities[0].norm());
  }
}

// Where the law is smooth around the state, a short step reduces the residual by its own share to first order:
// |r(d)| = (1 - d) |r| + O(d^2). A wrong Newton matrix cannot do that.
void expect_newton_direction(const ContactProblem& problem, NewtonForm form, Law kind) {
  ProximalLaw law;
  law.prepare(problem, 3.0);
  const auto system = make_newton_system(form);
  system->prepare(problem);
  Vector start = Vector::Zero(problem.row_count()), impulse(problem.row_count());
  system->start(start);
  law.impulse(problem, kind, system->velocity(), start, impulse);
  const double before = system->residual(impulse);
  ASSERT_GT(before, 1e-6);
  GroupBlocks derivative;
  law.derivative(problem, kind, system->velocity(), start, derivative);
  ASSERT_TRUE(system->direction(derivative));
  const double step = 1e-5;
  system->move(step);
  law.impulse(problem, kind, system->velocity(), start, impulse);
  const double after = system->residual(impulse);
  EXPECT_NEAR((before - after) / (step * before), 1.0, 1e-3);
}

TEST(NewtonSystem, DirectionsAreNewtons) {
  for (const Law law : {Law::exact, Law::convex}) {
    expect_newton_direction(test::all_kinds(1, 0.0), NewtonForm::dofs, law);
    expect_newton_direction(test::all_kinds(2, 0.3), NewtonForm::dofs, law);
    expect_newton_direction(test::all_kinds(1, 0.0), NewtonForm::rows, law);
    expect_newton_direction(test::lifted_problem(3, 0.0), NewtonForm::rows, law);
    expect_newton_direction(test::lifted_problem(3, 0.1), NewtonForm::rows, law);  // unsymmetric W
    expect_newton_direction(test::cube_on_slope(0.4, 0.2), NewtonForm::small, law);
    expect_newton_direction(test::cube_on_slope(0.4, 0.2), NewtonForm::dense, law);
    expect_newton_direction(test::all_kinds(1, 0.0), NewtonForm::dense, law);     // more rows than dofs
    expect_newton_direction(test::all_kinds(2, 0.3, 4), NewtonForm::dense, law);  // fewer
    expect_newton_direction(test::all_kinds(1, 0.0), NewtonForm::trees, law);
    expect_newton_direction(test::robots_in_a_row({9, 20, 6, 12, 7}), NewtonForm::trees, law);
  }
}

TEST(NewtonSystem, ReturnsToAStateItRemembers) {
  const ContactProblem problem = test::cube_on_slope(0.5, 0.3);
  ProximalLaw law;
  law.prepare(problem, 10.0);
  const Vector zero = Vector::Zero(problem.row_count());
  for (const NewtonForm form : kForms) {
    const auto system = make_newton_system(form);
    system->prepare(problem);
    system->start(zero);
    Vector impulse(problem.row_count());
    law.impulse(problem, Law::exact, system->velocity(), zero, impulse);
    const double residual = system->residual(impulse);
    const Vector velocity = system->velocity();
    GroupBlocks derivative;
    law.derivative(problem, Law::exact, system->velocity(), zero, derivative);
    ASSERT_TRUE(system->direction(derivative));
    system->remember();
    system->move(0.7);
    ASSERT_NE(system->velocity(), velocity);
    system->recall();
    EXPECT_EQ(system->velocity(), velocity);
    EXPECT_EQ(system->residual(impulse), residual);
  }
}

// A contact that sticks answers with the tangential penalty along its tangents and the normal one across.
TEST(ProximalLaw, PenaltiesApart) {
  const ContactProblem problem = test::cube_on_slope(0.5, 0.3);
  ProximalLaw soft, stiff, apart;
  soft.prepare(problem, 2.0);
  stiff.prepare(problem, 500.0);
  apart.prepare_apart(problem, 2.0, 500.0);
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i);
    for (const Index k : {0, 1, 2}) {
      const ProximalLaw& like = k < 2 ? soft : stiff;
      EXPECT_NEAR(apart.total(row + k), like.total(row + k), 1e-15 * soft.total(row + k));
      EXPECT_NEAR(apart.proximal(row + k), like.proximal(row + k), 1e-15 * soft.proximal(row + k));
    }
  }
}

TEST(NewtonSystem, ChoosesTheForm) {
  EXPECT_EQ(suitable_form(test::cube_on_slope(0.4, 0.2)), NewtonForm::dense);
  EXPECT_EQ(suitable_form(test::lifted_problem(1, 0.1)), NewtonForm::rows);
  EXPECT_EQ(suitable_form(test::all_kinds(1, 0.0, 12)), NewtonForm::dofs);
  EXPECT_EQ(suitable_form(test::all_kinds(1, 0.0, 4)), NewtonForm::rows);
  EXPECT_EQ(suitable_form(test::robots_in_a_row({6, 6, 6, 6})), NewtonForm::dofs);
  EXPECT_EQ(suitable_form(test::robots_in_a_row({27, 6, 6, 6})), NewtonForm::dense);
  EXPECT_EQ(suitable_form(test::robots_in_a_row({27, 27, 27, 27, 27})), NewtonForm::trees);
}

}  // namespace
}  // namespace tribo
