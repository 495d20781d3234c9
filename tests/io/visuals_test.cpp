// Colours and shapes that are only drawn: kept for display, without any change of the physics.
#include <gtest/gtest.h>

#include "tests/io/loading.h"
#include "tribo/collide/shapes/triangle_mesh.h"
#include "tribo/sim/simulator.h"

namespace tribo::test {
namespace {

const LoadOptions kWithVisuals{.visuals = true};

Color color_of(const std::optional<Color>& color) { return color.value_or(Color{-1, -1, -1, -1}); }

const std::string kScene = R"(
  <asset>
    <texture name="grid" type="2d" builtin="checker" rgb1="0.2 0.4 0.6" rgb2="0.4 0.6 0.8" width="8" height="8"/>
    <material name="steel" rgba="0.1 0.2 0.3 1"/>
    <material name="floor" texture="grid"/>
    <mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3"/>
  </asset>
  <default><default class="red"><geom rgba="1 0 0 0.5"/></default></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" material="floor"/>
    <body name="a" pos="0 0 2"><freejoint/>
      <geom name="core" type="sphere" size="0.1" material="steel"/>
      <geom name="skin" type="box" size="0.1 0.1 0.1" contype="0" conaffinity="0" group="2" class="red"/>
      <geom name="hidden" type="box" size="0.2 0.2 0.2" contype="0" conaffinity="0" group="3"/>
      <geom name="shell" type="box" size="0.1 0.1 0.2" group="3"/>
      <geom name="rock" type="mesh" mesh="wedge" pos="0 0 1"/>
      <geom name="plain" type="sphere" size="0.05"/>
    </body>
  </worldbody>)";

TEST(Visuals, ColoursOfMjcf) {
  const World world = load_model(kScene).world;
  const auto color = [&](const char* geom) {
    return color_of(world.geoms.at(static_cast<std::size_t>(world.find_geom(geom))).color);
  };
  EXPECT_EQ(color("core"), (Color{0.1f, 0.2f, 0.3f, 1.0f}));
  EXPECT_NEAR(color("floor")[0], 0.3f, 1e-6f);  // the mean of the checker
  EXPECT_NEAR(color("floor")[2], 0.7f, 1e-6f);
  EXPECT_FALSE(world.geoms.at(static_cast<std::size_t>(world.find_geom("plain"))).color);
  EXPECT_FALSE(world.geoms.at(static_cast<std::size_t>(world.find_geom("shell"))).visual);
  EXPECT_TRUE(world.geoms.at(static_cast<std::size_t>(world.find_geom("core"))).visual);
  EXPECT_TRUE(world.visuals.empty());  // only where they are asked for
}

TEST(Visuals, WhatIsOnlyDrawnInMjcf) {
  const World world = load_model(kScene, kWithVisuals).world;
  ASSERT_EQ(world.visuals.size(), 2u);
  EXPECT_EQ(world.visuals[0].name, "skin");
  EXPECT_EQ(world.visuals[0].body, 1);
  EXPECT_EQ(color_of(world.visuals[0].color), (Color{1.0f, 0.0f, 0.0f, 0.5f}));
  // The mesh itself is drawn where its hull touches, in its own frame.
  EXPECT_EQ(world.visuals[1].name, "rock");
  ASSERT_EQ(world.visuals[1].shape.kind(), ShapeKind::mesh);
  EXPECT_EQ(world.visuals[1].shape.mesh().triangles().size(), 4u);
  EXPECT_EQ(world.visuals[1].pose.position, Vec3(0, 0, 1));
  EXPECT_FALSE(world.geoms.at(static_cast<std::size_t>(world.find_geom("rock"))).visual);
}

TEST(Visuals, PhysicsIsTheSame) {
  const auto hash = [](const LoadOptions& options) {
    Simulator simulator(load_model(kScene, options).world);
    for (int k = 0; k < 500; ++k) simulator.step();
    return simulator.state_hash();
  };
  EXPECT_EQ(hash({}), hash(kWithVisuals));
  EXPECT_EQ(load_model(kScene).world.geoms.size(), load_model(kScene, kWithVisuals).world.geoms.size());
}

TEST(Visuals, DamagedLooksAreWarnings) {
  const Loaded loaded = load_model(
      R"(<asset><material name="m" rgba="red"/><mesh name="gone" file="gone.obj"/></asset>
         <worldbody><geom type="sphere" size="1" rgba="1 x 0 1" material="m"/>
         <geom type="mesh" mesh="gone" contype="0" conaffinity="0"/></worldbody>)",
      kWithVisuals);
  EXPECT_TRUE(loaded.warned_of("colour is ignored"));
  EXPECT_FALSE(loaded.world.geoms.at(0).color);
  EXPECT_TRUE(loaded.world.visuals.empty());
}

const std::string kRobot = R"(<robot name="r">
  <material name="blue"><color rgba="0 0 0.8 1"/></material>
  <link name="base">
    <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 1"/><geometry><box size="2 4 6"/></geometry><material name="blue"/></visual>
    <visual name="lost"><geometry><mesh filename="nowhere.stl"/></geometry></visual>
    <collision><geometry><sphere radius="0.5"/></geometry></collision>
  </link></robot>)";

TEST(Visuals, OfUrdf) {
  const Loaded loaded = load_text(kRobot, "robot.urdf", kWithVisuals);
  ASSERT_EQ(loaded.world.visuals.size(), 1u);
  const Visual& visual = loaded.world.visuals[0];
  EXPECT_EQ(visual.shape.kind(), ShapeKind::box);
  EXPECT_EQ(visual.shape.size(), Vec3(1, 2, 3));
  EXPECT_EQ(visual.pose.position, Vec3(0, 0, 1));
  EXPECT_EQ(color_of(visual.color), (Color{0.0f, 0.0f, 0.8f, 1.0f}));
  EXPECT_TRUE(loaded.warned_of("it is not drawn"));
  ASSERT_EQ(loaded.world.geoms.size(), 1u);
  EXPECT_FALSE(loaded.world.geoms[0].visual);
  EXPECT_EQ(color_of(loaded.world.geoms[0].color), (Color{0.0f, 0.0f, 0.8f, 1.0f}));
  const Loaded plain = load_text(kRobot, "robot.urdf");
  EXPECT_TRUE(plain.world.visuals.empty());
  EXPECT_TRUE(plain.report.warnings.empty());
  EXPECT_TRUE(plain.world.geoms.at(0).visual);
}

}  // namespace
}  // namespace tribo::test
