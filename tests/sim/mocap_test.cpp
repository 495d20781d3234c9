// Mocap bodies: surfaces that the user moves carry, push and drag what touches them, and welds follow them.
#include <gtest/gtest.h>

#include "tests/io/loading.h"
#include "tribo/sim/simulator.h"

namespace tribo::test {
namespace {

const std::string kPlatform =
    R"(<worldbody><body name="m" mocap="true" pos="0 0 -.1"><geom type="box" size="1 1 .1" friction="1"/></body>
    <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1" friction="1"/></body></worldbody>)";

Pose at(const Vec3& position, double turn = 0.0) {
  return {position, Eigen::AngleAxisd(turn, Vec3::UnitZ()).toRotationMatrix()};
}

TEST(Mocap, ALiftCarriesABox) {
  Simulator simulator(load_model(kPlatform).world);
  const Index body = simulator.model().find_body("m");
  for (int k = 1; k <= 500; ++k) {
    simulator.move_mocap(body, at(Vec3(0, 0, -0.1 + 0.001 * k)));  // 0.5 m/s
    simulator.step();
    EXPECT_NEAR(simulator.state().v[2], 0.5, 1e-5) << k;
  }
  EXPECT_NEAR(simulator.state().q[2], 0.6, 1e-5);
  EXPECT_NEAR(simulator.kinematics().pose(body).position.z(), 0.4, 1e-15);
  simulator.step();  // the lift has stopped, the box flies on
  EXPECT_NEAR(simulator.state().v[2], 0.5 - 9.81 * 0.002, 1e-9);
  EXPECT_EQ(simulator.missed_steps(), 0);
}

TEST(Mocap, ABeltDragsABoxWithFrictionAndNotFaster) {
  World world = load_model(kPlatform).world;
  for (Geom& geom : world.geoms) geom.material.friction = 0.4;
  Simulator simulator(world);
  for (int k = 1; k <= 100; ++k) {
    simulator.move_mocap(1, at(Vec3(0.004 * k, 0, -0.1)));  // 2 m/s: slips, mu g = 3.92 m/s^2
    simulator.step();
  }
  EXPECT_NEAR(simulator.state().v[0], 0.4 * 9.81 * 0.2, 1e-5);
  for (int k = 101; k <= 200; ++k) {
    simulator.move_mocap(
        1, at(Vec3(0.4 + 0.0002 * (k - 100), 0, -0.1)));  // 0.1 m/s: slows down to that and sticks
    simulator.step();
  }
  for (int k = 201; k <= 300; ++k) {
    simulator.move_mocap(1, at(Vec3(0.42 + 0.0002 * (k - 200), 0, -0.1)));
    simulator.step();
  }
  EXPECT_NEAR(simulator.state().v[0], 0.1, 1e-5);
  EXPECT_EQ(simulator.missed_steps(), 0);
}

// A turntable: a box on it, 5 cm off the axis, turns with it.
TEST(Mocap, ATurntableTurnsABox) {
  World world = load_model(kPlatform).world;
  Simulator simulator(world);
  State state = simulator.state();
  state.q[0] = 0.05;
  simulator.set_state(state);
  for (int k = 1; k <= 400; ++k) {
    simulator.move_mocap(1, at(Vec3(0, 0, -0.1), 0.001 * k));  // 0.5 rad/s
    simulator.step();
  }
  EXPECT_NEAR(simulator.state().v[5], 0.5, 1e-4);
  EXPECT_NEAR(simulator.state().v.head<2>().norm(), 0.5 * 0.05, 1e-4);
}

TEST(Mocap, AWeldFollows) {
  const std::string weld = R"(<option gravity="0 0 0"/><equality><weld body1="m" body2="b"/></equality>)";
  std::string text = kPlatform + weld;
  text.replace(text.find("<body pos"), 5, "<body name=\"b\"");
  World world = load_model(text).world;
  for (Geom& geom : world.geoms) geom.contact_type = geom.contact_affinity = 0;
  Simulator simulator(world);
  for (int k = 1; k <= 200; ++k) {
    simulator.move_mocap(1, at(Vec3(0.001 * k, 0, -0.1), 0.002 * k));
    simulator.step();
    EXPECT_NEAR(simulator.state().v[0], 0.5, 1e-5);
    EXPECT_NEAR(simulator.state().v[5], 1.0, 1e-5);
  }
  EXPECT_NEAR(simulator.state().q[0], 0.2, 1e-4);
}

TEST(Mocap, PosesAreStateAndKeyframesHoldThem) {
  const Loaded loaded = load_model(kPlatform + R"(<keyframe><key mpos="1 2 3" mquat="0 0 0 2"/></keyframe>)");
  EXPECT_TRUE(loaded.report.warnings.empty());
  Simulator simulator(loaded.world);
  Vector described(7), placed(7);
  described << 0, 0, -0.1, 1, 0, 0, 0;
  placed << 1, 2, 3, 0, 0, 0, 1;
  EXPECT_EQ(simulator.state().mocap, described);
  ASSERT_EQ(loaded.world.keyframes.size(), 1u);
  EXPECT_EQ(loaded.world.keyframes[0].state.mocap, placed);
  const std::uint64_t hash = simulator.state_hash();
  simulator.set_state(loaded.world.keyframes[0].state);
  EXPECT_NE(simulator.state_hash(), hash);
  EXPECT_EQ(simulator.kinematics().pose(1).position, Vec3(1, 2, 3));
  simulator.step();  // no velocity of its own: the box just falls
  EXPECT_NEAR(simulator.state().v[2], -9.81 * 0.002, 1e-12);
  EXPECT_EQ(simulator.state().mocap, placed);
  EXPECT_THROW(simulator.move_mocap(2, at(Vec3::Zero())), InvalidInput);
  State bad = simulator.state();
  bad.mocap.resize(6);
  EXPECT_THROW(simulator.set_state(bad), InvalidInput);
}

TEST(Mocap, WhatHangsOnIt) {
  // Welded bodies go along; joints are refused by the model, and by the reader the body is left where it is.
  const std::string tail = R"(<geom size=".1"/></body></body></worldbody>)";
  const World world =
      load_model(R"(<worldbody><body mocap="true"><geom size=".1"/><body pos="0 0 1">)" + tail).world;
  Simulator simulator(world);
  simulator.move_mocap(1, at(Vec3(5, 0, 0)));
  simulator.step();
  EXPECT_EQ(simulator.kinematics().pose(2).position, Vec3(5, 0, 1));
  // What comes after it has nothing to do with it.
  const World after =
      load_model(R"(<worldbody><body mocap="true"/><body><freejoint/><geom size=".1"/><body><joint/>)" + tail)
          .world;
  EXPECT_EQ(after.model.mocap_bodies(), std::vector<Index>{1});
  EXPECT_EQ(after.model.dof_count(), 7);
  const Loaded jointed =
      load_model(R"(<worldbody><body mocap="true"><geom size=".1"/><body pos="0 0 1"><joint/>)" + tail);
  EXPECT_TRUE(jointed.warned_of("carries joints"));
  EXPECT_TRUE(jointed.world.model.mocap_bodies().empty());
  ModelBuilder builder;
  builder.add_body({.name = "m", .mocap = true});
  const Index child = builder.add_body({.parent = 1, .inertia = {1.0, Vec3::Zero(), Mat3::Identity()}});
  builder.add_joint({.body = child});
  EXPECT_THROW(builder.build(), InvalidInput);
}

}  // namespace
}  // namespace tribo::test
