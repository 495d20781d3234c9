// The problem of a step as Simulator hands it out, and the impulses its solve began with.
#include <gtest/gtest.h>

#include "tribo/scenes/scene.h"
#include "tribo/sim/simulator.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

TEST(StepProblem, IsTheOneThatWasSolved) {
  Scene scene = make_scene("arm-press");
  Simulator simulator(scene.world);
  simulator.set_state(scene.start);
  EXPECT_EQ(simulator.problem().constraint_count(), 0);
  for (Index k = 0; k < 20; ++k) {
    scene.control(simulator);
    simulator.step();
  }
  const ContactProblem problem = simulator.problem();
  ASSERT_GT(problem.contact_count(), 0);
  Solution solution;
  Settings settings;
  settings.tolerance = 1e-12;
  make_solver("auto")->solve(problem, settings, solution);
  EXPECT_LE((solution.generalized_velocity - simulator.state().v).norm(), 1e-7);
}

// The problem announced before a step and the one handed out after it are made by the same parts: the same numbers.
TEST(StepProblem, NextProblemIsTheOneOfTheNextStep) {
  Scene scene = make_scene("arm-press");
  Simulator simulator(scene.world);
  simulator.set_state(scene.start);
  for (Index k = 0; k < 20; ++k) {
    scene.control(simulator);
    simulator.step();
  }
  scene.control(simulator);
  const std::uint64_t before = simulator.state_hash();
  const ContactProblem next = simulator.next_problem();
  EXPECT_EQ(simulator.state_hash(), before);
  simulator.step();
  const ContactProblem last = simulator.problem();
  ASSERT_EQ(next.row_count(), last.row_count());
  ASSERT_EQ(next.dof_count(), last.dof_count());
  EXPECT_EQ(next.momentum(), last.momentum());
  EXPECT_EQ(next.bias(), last.bias());
  const Vector v = Vector::LinSpaced(next.dof_count(), -1.0, 2.0);
  Vector a(next.row_count()), b(next.row_count());
  next.jacobian().multiply(v, a);
  last.jacobian().multiply(v, b);
  EXPECT_EQ(a, b);
}

// At rest the impulses of one step are those of the next, on rows of every kind. Dry friction of a slide holds a crate
// against gravity along it, the floor carries it.
TEST(StepProblem, GuessIsWhatTheStepBeforeEndedWith) {
  World world;
  ModelBuilder builder;
  const Shape box = Shape::box(Vec3::Constant(0.1));
  const Index crate = builder.add_body(
      {.name = "crate", .position = Vec3(0.0, 0.0, 0.1), .inertia = uniform_inertia(box, 2.0)});
  builder.add_joint({.body = crate, .kind = JointKind::slide, .axis = Vec3::UnitX(), .dry_friction = 50.0});
  builder.add_joint({.body = crate, .kind = JointKind::slide, .axis = Vec3::UnitZ()});
  world.model = builder.build();
  world.gravity = Vec3(3.0, 0.0, -9.81);
  world.add_geom({.name = "floor", .shape = Shape::plane(), .material = {.friction = 0.0}});
  world.add_geom({.name = "crate", .shape = box, .body = crate, .material = {.friction = 0.0}});
  Simulator simulator(world);
  EXPECT_EQ(simulator.problem_guess().size(), 0);
  simulator.step();
  EXPECT_TRUE(simulator.problem_guess().isZero(0.0)) << "nothing was known before the first step";
  for (Index k = 0; k < 50; ++k) simulator.step();

  const ContactProblem problem = simulator.problem();
  const Vector guess = simulator.problem_guess();
  ASSERT_EQ(guess.size(), problem.row_count());
  double held = 0.0, carried = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const bool floor =
        problem.kind(i) == ConstraintKind::unilateral || problem.kind(i) == ConstraintKind::contact;
    (floor ? carried : held) += guess[problem.row(i) + problem.rows(i) - 1];
  }
  const double weight = 2.0 * simulator.time_step();
  EXPECT_NEAR(held, -3.0 * weight, 1e-6 * weight);
  EXPECT_NEAR(carried, 9.81 * weight, 1e-6 * weight);
}

}  // namespace
}  // namespace tribo
