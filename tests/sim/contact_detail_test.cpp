// What Simulator::contact_details() says, against the problem of the step and its certificate.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/support/dense_twin.h"
#include "tribo/problem/certificate.h"
#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

Simulator simulated(const char* name, const SceneValues& values, double time) {
  Scene scene = make_scene(name, values);
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  while (simulator.state().time < time - 1e-9) {
    scene.control(simulator);
    simulator.step();
  }
  return simulator;
}

TEST(ContactDetail, WorstErrorIsTheReportsOwn) {
  Scene scene = make_scene("clutter", {{"bodies", 12}});
  scene.settings.tolerance = 1e-5;
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  int compared = 0;
  for (int k = 0; k < 400; ++k) {
    const StepReport report = simulator.step();
    if (report.impact_rounds > 0 || report.contacts == 0) continue;
    double worst = 0.0;
    for (const ContactDetail& d : simulator.contact_details()) worst = std::max(worst, d.error);
    // The report may add what rounding can have hidden.
    EXPECT_LE(worst, report.error * (1.0 + 1e-9) + 1e-12) << "step " << k;
    EXPECT_GE(worst, 0.5 * report.error - 1e-9) << "step " << k;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(ContactDetail, VelocityIsThatOfTheProblem) {
  const Simulator simulator = simulated("sliding-block", {}, 0.1);
  const ContactProblem problem = simulator.problem();
  ASSERT_EQ(problem.constraint_count(), static_cast<Index>(simulator.contacts().size()));
  double fastest = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    // Rows t1, t2, n of the problem span the same space as the world's axes: lengths agree, and normal parts.
    const auto c = static_cast<std::size_t>(i);
    const Vector& v = simulator.state().v;
    const Vec3 u = (test::dense(problem.jacobian(), problem.dof_count()) * v).segment<3>(problem.row(i));
    const Vec3& seen = simulator.contact_details()[c].velocity;
    EXPECT_NEAR(seen.norm(), u.norm(), 1e-12);
    EXPECT_NEAR(seen.dot(simulator.contacts()[c].normal), u[2], 1e-12);
    fastest = std::max(fastest, seen.norm());
  }
  EXPECT_GT(fastest, 0.1);
}

TEST(ContactDetail, BlockSlidesThenSticks) {
  Scene scene = make_scene("sliding-block");
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  simulator.step();
  const auto count = [&](ContactState state) {
    int number = 0;
    for (const ContactDetail& d : simulator.contact_details()) number += d.state == state ? 1 : 0;
    return number;
  };
  EXPECT_GT(count(ContactState::slides), 0);
  EXPECT_EQ(count(ContactState::sticks), 0);
  while (simulator.state().time < scene.duration - 1e-9) simulator.step();
  EXPECT_EQ(count(ContactState::slides), 0);
  EXPECT_GT(count(ContactState::sticks), 0);
}

TEST(ContactDetail, FrictionAndIslandsOfTwoStacks) {
  World world;
  ModelBuilder builder;
  const Shape box = Shape::box(Vec3::Constant(0.1));
  world.add_geom({.name = "floor", .shape = Shape::plane(), .material = {.friction = 0.2}});
  for (const double x : {-1.0, 1.0}) {
    const Index body = builder.add_free_body("", {Vec3(x, 0.0, 0.1)}, uniform_inertia(box, 1.0));
    world.add_geom({.shape = box, .body = body, .material = {.friction = x < 0.0 ? 0.1 : 0.6}});
  }
  world.model = builder.build();
  Simulator simulator(world);
  simulator.step();
  ASSERT_EQ(simulator.contacts().size(), 8u);
  std::set<Index> islands;
  for (std::size_t c = 0; c < 8; ++c) {
    const ContactDetail& d = simulator.contact_details()[c];
    const bool left = simulator.contacts()[c].position.x() < 0.0;
    EXPECT_EQ(d.friction, left ? 0.2 : 0.6);
    EXPECT_EQ(d.state, ContactState::sticks);
    islands.insert(d.island);
  }
  EXPECT_EQ(islands, (std::set<Index>{0, 1}));
}

TEST(ContactDetail, ABodyThatLeavesIsOpen) {
  World world;
  ModelBuilder builder;
  const Index ball =
      builder.add_free_body("ball", {Vec3(0.0, 0.0, 0.1)}, uniform_inertia(Shape::sphere(0.1), 1.0));
  world.model = builder.build();
  world.add_geom({.shape = Shape::plane()});
  world.add_geom({.shape = Shape::sphere(0.1), .body = ball});
  Simulator simulator(world);
  State state = simulator.state();
  state.v[2] = 1.0;
  simulator.set_state(state);
  simulator.step();
  ASSERT_EQ(simulator.contacts().size(), 1u);
  const ContactDetail& d = simulator.contact_details()[0];
  EXPECT_EQ(d.state, ContactState::open);
  EXPECT_NEAR(d.velocity.z(), 1.0 - 9.81 * simulator.time_step(), 1e-12);
}

TEST(ContactDetail, AskingChangesNoBits) {
  const auto hash = [](bool ask) {
    Scene scene = make_scene("clutter", {{"bodies", 15}});
    Simulator simulator(scene.world, scene.settings);
    simulator.set_state(scene.start);
    for (int k = 0; k < 300; ++k) {
      simulator.step();
      if (ask) simulator.contact_details();
    }
    return simulator.state_hash();
  };
  EXPECT_EQ(hash(true), hash(false));
}

TEST(ContactDetail, NothingIsKnownOfAStepThatWasNotMade) {
  Simulator simulator = simulated("stack", {{"boxes", 2}}, 0.01);
  EXPECT_FALSE(std::isnan(simulator.contact_details()[0].error));
  simulator.next_problem();
  for (const ContactDetail& d : simulator.contact_details()) EXPECT_TRUE(std::isnan(d.error));
  simulator.restart(simulator.state());
  EXPECT_TRUE(simulator.contact_details().empty());
}

TEST(Simulator, GravityCanChange) {
  World world;
  ModelBuilder builder;
  builder.add_free_body("ball", {Vec3::Zero()}, uniform_inertia(Shape::sphere(0.1), 1.0));
  world.model = builder.build();
  Simulator simulator(world);
  simulator.set_gravity(Vec3(3.0, 0.0, 0.0));
  for (int k = 0; k < 100; ++k) simulator.step();
  EXPECT_NEAR(simulator.state().v[0], 3.0 * simulator.state().time, 1e-12);
  EXPECT_NEAR(simulator.state().v[2], 0.0, 1e-15);
  EXPECT_ANY_THROW(simulator.set_gravity(Vec3(0.0, std::nan(""), 0.0)));
}

}  // namespace
}  // namespace tribo
