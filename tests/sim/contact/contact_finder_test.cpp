#include "tribo/sim/contact/contact_finder.h"

#include <gtest/gtest.h>

#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

constexpr double kRadius = 0.1;

World ball_above(const Shape& ground, const Pose& pose, double height) {
  World world;
  ModelBuilder builder;
  const Shape ball = Shape::sphere(kRadius);
  const Index body = builder.add_free_body("ball", {Vec3(0.0, 0.0, height)}, uniform_inertia(ball, 1.0));
  world.model = builder.build();
  world.add_geom({.name = "ground", .shape = ground, .pose = pose});
  world.add_geom({.name = "ball", .shape = ball, .body = body});
  return world;
}

double resting_height(const World& world) {
  Simulator simulator(world);
  for (Index k = 0; k < 1000; ++k) simulator.step();
  EXPECT_LT(simulator.state().v.cwiseAbs().maxCoeff(), 1e-6);
  return simulator.state().q[2];
}

// A ball dropped from above comes to rest where the two thicknesses meet: its centre at r + m1 + m2; on shapes whose
// bounds decide in the broad phase as well as on the endless plane.
TEST(ContactFinder, ThicknessLiftsWhatRests) {
  for (const bool plane : {true, false}) {
    World world = plane ? ball_above(Shape::plane(), {}, 0.3)
                        : ball_above(Shape::box({1.0, 1.0, 0.5}), {Vec3(0.0, 0.0, -0.5)}, 0.3);
    EXPECT_NEAR(resting_height(world), kRadius, 1e-6);
    world.geoms[0].thickness = 0.02;
    world.geoms[1].thickness = 0.03;
    EXPECT_NEAR(resting_height(world), kRadius + 0.05, 1e-6);
    // A pair says the sum itself.
    world.pairs.push_back({.first = 0, .second = 1, .material = {.friction = 0.5}, .thickness = 0.08});
    EXPECT_NEAR(resting_height(world), kRadius + 0.08, 1e-6);
  }
}

// Two geoms without friction make contacts of the same materials as one row; one of them alone does not; a pair says so
// itself.
TEST(ContactFinder, FrictionlessContactsAreMarkedAndKeepTheirMaterials) {
  World world = ball_above(Shape::plane(), {}, kRadius - 1e-3);
  world.geoms[0].material.friction = world.geoms[1].material.friction = 0.7;
  const auto found = [](const World& w, double& friction) {
    ContactFinder finder(w);
    Kinematics kinematics(w.model);
    kinematics.set_velocities(Vector::Zero(w.model.dof_count()));
    Workers workers(1);
    std::vector<Contact> contacts;
    finder.find(kinematics, w.time_step, workers, contacts);
    EXPECT_EQ(contacts.size(), 1u);
    friction = finder.surface(contacts.at(0).surface).friction;
    return contacts[0].surface;
  };
  double friction = 0.0;
  const SurfaceId rough = found(world, friction);
  EXPECT_FALSE(rough.is_frictionless());
  world.geoms[0].frictionless = true;
  EXPECT_FALSE(found(world, friction).is_frictionless());
  world.geoms[1].frictionless = true;
  const SurfaceId smooth = found(world, friction);
  EXPECT_TRUE(smooth.is_frictionless());
  EXPECT_EQ(smooth.number, rough.number);
  EXPECT_EQ(friction, 0.7);
  world.pairs.push_back({.first = 0, .second = 1, .material = {.friction = 0.2}});
  EXPECT_FALSE(found(world, friction).is_frictionless());
  EXPECT_EQ(friction, 0.2);
  world.pairs[0].frictionless = true;
  EXPECT_TRUE(found(world, friction).is_frictionless());
}

// A margin changes nothing about the motion, only when a contact is known; both count from the thick surfaces.
TEST(ContactFinder, MarginsMakeContactsKnownBeforeTheyPush) {
  World world = ball_above(Shape::plane(), {}, kRadius + 0.055);
  world.gravity.setZero();
  world.geoms[1].thickness = 0.03;
  const auto contacts = [&] {
    Simulator simulator(world);
    const StepReport report = simulator.step();
    EXPECT_EQ(simulator.state().v.norm(), 0.0);
    return report.contacts;
  };
  EXPECT_EQ(contacts(), 0);
  world.geoms[1].margin = 0.024;
  EXPECT_EQ(contacts(), 0);
  world.geoms[1].margin = 0.026;
  EXPECT_EQ(contacts(), 1);
  world.gravity = Vec3(0.0, 0.0, -9.81);
  EXPECT_NEAR(resting_height(world), kRadius + 0.03, 1e-6);
}

}  // namespace
}  // namespace tribo
