#include "tribo/scenes/containers.h"

#include <gtest/gtest.h>

#include "tribo/collide/shapes/ready_solids.h"

namespace tribo::detail {
namespace {

struct Cup {
  World world;
  Index cup = 0, inside = 0, outside = 0;
};

// A cup on the table, a ball within it that its hull would overlap, and a ball on top of the hull.
Cup make_cup() {
  constexpr double kWall = 0.004;
  Cup cup;
  ModelBuilder builder;
  cup.world.add_geom({.shape = Shape::plane()});
  set_groups(cup.world.geoms.back(), kOrdinary | kOutside);
  cup.cup = add_container(builder, cup.world,
                          {.name = "cup",
                           .wall = dish({{0.04, 0.0}, {0.04, 0.1}, kWall}).shape(0.006),
                           .mass = 0.2,
                           .radius = 0.042,
                           .bottom = -0.5 * kWall,
                           .top = 0.1,
                           .pose = {Vec3(0.0, 0.0, 0.5 * kWall)}});
  cup.inside =
      add_solid(builder, cup.world, "inside", Shape::sphere(0.01), 0.01, {Vec3(0.01, 0.0, 0.02)}, {});
  set_groups(cup.world.geoms.back(), kOrdinary | kInside);
  cup.outside =
      add_solid(builder, cup.world, "outside", Shape::sphere(0.01), 0.01, {Vec3(0.0, 0.0, 0.12)}, {});
  set_groups(cup.world.geoms.back(), kOutside);
  cup.world.model = builder.build();
  return cup;
}

TEST(Containers, TheWallHoldsWhatIsInsideAndTheHullWhatIsOutside) {
  const Cup cup = make_cup();
  Simulator simulator(cup.world);
  while (simulator.state().time < 0.5) simulator.step();
  const Kinematics& k = simulator.kinematics();
  EXPECT_NEAR(k.pose(cup.inside).position.z(), 0.004 + 0.01, 1e-5);
  EXPECT_NEAR(k.pose(cup.outside).position.z(), 0.002 + 0.1 + 0.01, 1e-5);
  EXPECT_NEAR(k.pose(cup.cup).position.z(), 0.002, 1e-6);
}

TEST(Containers, CountsWhatIsBetweenFloorAndRim) {
  const Cup cup = make_cup();
  Kinematics kinematics(cup.world.model);
  Vector q = initial_state(cup.world.model).q;
  kinematics.set_positions(q);
  EXPECT_EQ(count_inside(kinematics, cup.cup, 0.04, 0.1, cup.inside, 2), 1);
  // Turned over by 90 degrees about x the same places are beside it.
  const Index at = cup.world.model.joint_coordinate(cup.world.model.joint_begin(cup.cup));
  q.segment<4>(at + 3) << std::sqrt(0.5), std::sqrt(0.5), 0.0, 0.0;
  q.segment<3>(at) = Vec3(0.0, 0.0, 0.1);
  kinematics.set_positions(q);
  EXPECT_EQ(count_inside(kinematics, cup.cup, 0.04, 0.1, cup.inside, 2), 0);
}

}  // namespace
}  // namespace tribo::detail
