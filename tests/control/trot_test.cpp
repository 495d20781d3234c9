#include "tribo/control/trot.h"

#include <gtest/gtest.h>

#include "tribo/base/errors.h"
#include "tribo/control/phases.h"
#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

struct Walk {
  Scene scene = make_scene("rough-walk", {{"roughness", 0.0}});
  Quadruped robot = find_quadruped(scene.world);
  Simulator simulator{scene.world, scene.settings};
  Trot trot;

  explicit Walk(TrotSettings settings = {}) : trot(simulator.world(), robot, settings) {
    simulator.set_state(scene.start);
  }
  void step(const TrotCommand& command) {
    std::array<double, 4> pressed{};
    for (std::size_t k = 0; k < 4; ++k) pressed[k] = contact_force(simulator, robot.legs[k].foot).z();
    simulator.force().setZero();
    trot.add_force(simulator.kinematics(), simulator.state(), command, pressed, simulator.force());
    simulator.step();
  }
  Vec3 trunk() const { return simulator.kinematics().pose(robot.trunk).position; }
};

TEST(Quadruped, IsFoundByItsStructure) {
  const Scene scene = make_scene("rough-walk");
  const Quadruped robot = find_quadruped(scene.world);
  EXPECT_EQ(scene.world.model.body_name(robot.trunk), "trunk");
  const char* names[] = {"FL", "FR", "RL", "RR"};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(scene.world.model.body_name(robot.legs[k].foot), std::string(names[k]) + "_calf");
    EXPECT_EQ(scene.world.model.joint(robot.legs[k].joints[2]).name, std::string(names[k]) + "_calf_joint");
    EXPECT_EQ(robot.legs[k].foot_radius, 0.02);
  }
  EXPECT_THROW(find_quadruped(make_scene("stack").world), InvalidInput);
}

// All feet stand before the first swing: the ground carries the weight, the trunk is where it was told to be, level.
TEST(Trot, StandsAtItsHeight) {
  Walk walk({.height = 0.28, .settle = 10.0});
  for (int k = 0; k < 500; ++k) walk.step({});
  Vec3 force = Vec3::Zero();
  for (const QuadrupedLeg& leg : walk.robot.legs) force += contact_force(walk.simulator, leg.foot);
  const double weight = 9.81 * walk.simulator.model().total_mass();
  EXPECT_NEAR(force.z(), weight, 1e-3 * weight);
  EXPECT_NEAR(walk.trunk().z(), 0.28, 3e-3);
  EXPECT_GT(walk.simulator.kinematics().pose(walk.robot.trunk).rotation(2, 2), 0.9999);
  EXPECT_EQ(walk.trot.swings(), 0);
}

// On even ground it goes where it is told, about as fast, in diagonal pairs, and no torque exceeds its limit.
TEST(Trot, WalksAsItIsTold) {
  Walk walk({.height = 0.28});
  bool paired = true;
  double largest = 0.0;
  for (int k = 0; k < 1000; ++k) {
    walk.step({.velocity = Vec2(0.4, 0.0)});
    largest = std::max(largest, walk.simulator.force().cwiseAbs().maxCoeff());
    const auto swings = [&](std::size_t leg) { return walk.trot.foot(leg) == Trot::Foot::swings; };
    paired = paired && !(swings(0) && swings(1)) && !(swings(0) && swings(2));
  }
  EXPECT_TRUE(paired);
  EXPECT_LE(largest, 33.5);
  EXPECT_GE(walk.trot.swings(), 12);
  EXPECT_NEAR(walk.trunk().x(), 0.4 * 1.75, 0.25);
  EXPECT_NEAR(walk.trunk().y(), 0.0, 0.05);
  EXPECT_NEAR(walk.trunk().z(), 0.28, 0.03);
}

TEST(Trot, TurnsAsItIsTold) {
  Walk walk({.height = 0.28});
  for (int k = 0; k < 750; ++k) walk.step({.turn_rate = 0.6});
  const Mat3& turn = walk.simulator.kinematics().pose(walk.robot.trunk).rotation;
  EXPECT_NEAR(std::atan2(turn(1, 0), turn(0, 0)), 0.6 * 1.5, 0.2);
}

TEST(Trot, RefusesBadSettings) {
  const Scene scene = make_scene("rough-walk");
  const Quadruped robot = find_quadruped(scene.world);
  EXPECT_THROW(Trot(scene.world, robot, {.period = 0.0}), InvalidInput);
  EXPECT_THROW(Trot(scene.world, robot, {.stance_share = 0.3}), InvalidInput);
}

}  // namespace
}  // namespace tribo
