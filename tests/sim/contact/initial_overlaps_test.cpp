#include "tribo/sim/contact/initial_overlaps.h"

#include <gtest/gtest.h>

#include "tribo/multibody/state.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

// An arm on the world whose second link reaches 2 mm into the floor, and a ball 3 mm in it.
World overlapping() {
  ModelBuilder builder;
  const Shape ball = Shape::sphere(0.1);
  const Index arm = builder.add_body(
      {.name = "arm", .position = Vec3(0.0, 0.0, 0.098), .inertia = uniform_inertia(ball, 1.0)});
  builder.add_joint({.body = arm, .kind = JointKind::hinge, .axis = Vec3::UnitZ()});
  const Index free = builder.add_free_body("ball", {Vec3(1.0, 0.0, 0.097)}, uniform_inertia(ball, 1.0));
  World world;
  world.model = builder.build();
  world.add_geom({.name = "floor", .shape = Shape::plane()});
  world.add_geom({.shape = ball, .body = arm});
  world.add_geom({.name = "b", .shape = ball, .body = free});
  return world;
}

TEST(InitialOverlaps, AreFoundWithTheirDepth) {
  const World world = overlapping();
  const std::vector<InitialOverlap> found = initial_overlaps(world, initial_state(world.model));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[0].depth, 3e-3, 1e-12);
  EXPECT_FALSE(found[0].within_mechanism);  // the ball can leave the floor
  EXPECT_NEAR(found[1].depth, 2e-3, 1e-12);
  EXPECT_TRUE(found[1].within_mechanism);  // the arm cannot
  EXPECT_NE(describe(world, found[1]).find("geom 1 of body 'arm'"), std::string::npos);
  EXPECT_NE(describe(world, found[1]).find("2 mm"), std::string::npos);
  EXPECT_TRUE(initial_overlaps(world, initial_state(world.model), 5e-3).empty());
}

TEST(InitialOverlaps, ExcludedOnesTouchNoMore) {
  World world = overlapping();
  world.pairs.push_back({.first = 0, .second = 1});
  for (const InitialOverlap& overlap : initial_overlaps(world, initial_state(world.model))) {
    if (overlap.within_mechanism) exclude(world, overlap);
  }
  EXPECT_TRUE(world.pairs.empty());
  Simulator simulator(world);
  simulator.step();
  ASSERT_EQ(simulator.contacts().size(), 1u);
  EXPECT_EQ(world.model.body_name(std::max(simulator.contacts()[0].body_a, simulator.contacts()[0].body_b)),
            "ball");
}

}  // namespace
}  // namespace tribo
