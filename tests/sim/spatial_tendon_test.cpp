// Spatial tendons in a simulation: limits, springs, dampers, friction and drives along strings.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/allocation_counter.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

using Kind = TendonPoint::Kind;
constexpr double kGravity = 9.81;

TendonPoint site(Index body, const Vec3& position) { return {.body = body, .pose = {position}}; }

// Two masses on vertical slides, hung on one string over a fixed cylinder of radius 0.1 between them: Atwood's machine.
// The string leaves the cylinder vertically, so that its length is 2 L0 + pi r - q1 - q2.
World atwood(double m1, double m2, TendonDescription tendon) {
  World world;
  ModelBuilder builder;
  for (const double side : {-1.0, 1.0}) {
    const double mass = side < 0.0 ? m1 : m2;
    const Index body = builder.add_body({.name = side < 0.0 ? "left" : "right",
                                         .position = {0.1 * side, 0.0, -1.0},
                                         .inertia = {mass, Vec3::Zero(), 0.01 * mass * Mat3::Identity()}});
    builder.add_joint({.body = body, .kind = JointKind::slide, .axis = Vec3::UnitZ()});
  }
  const Mat3 lying = Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3::UnitX()).toRotationMatrix();
  tendon.path = {site(1, Vec3::Zero()),
                 {.kind = Kind::cylinder,
                  .pose = {Vec3::Zero(), lying},
                  .radius = 0.1,
                  .has_side = true,
                  .side = {0, 0, 1}},
                 site(2, Vec3::Zero())};
  builder.add_tendon(std::move(tendon));
  world.model = builder.build();
  return world;
}

SimulatorSettings precise() {
  SimulatorSettings settings;
  settings.tolerance = 1e-10;
  return settings;
}

const double kStart = 2.0 + 0.1 * std::numbers::pi;  // length of the string of atwood() at q = 0

TEST(SpatialTendon, AtwoodsMachineAcceleratesByTheDifferenceOfTheWeights) {
  World world = atwood(1.0, 2.0, {.name = "rope", .limited = true, .lower = 0.0, .upper = kStart});
  Simulator simulator(world, precise());
  for (Index k = 0; k < 100; ++k) simulator.step();
  const double acceleration = kGravity * (2.0 - 1.0) / (2.0 + 1.0);
  EXPECT_NEAR(simulator.state().v[0], acceleration * 0.2, 1e-7);
  EXPECT_NEAR(simulator.state().v[1], -acceleration * 0.2, 1e-7);
  EXPECT_NEAR(simulator.state().q.sum(), 0.0, 1e-7);  // the rope keeps its length
}

TEST(SpatialTendon, SpringsCarryBothWeights) {
  // At rest the string pulls with the weight of each: k (length - rest) = m g.
  World world = atwood(
      1.0, 1.0,
      {.name = "band", .damping = 20.0, .stiffness = 500.0, .spring_lower = 0.0, .spring_upper = kStart});
  Simulator simulator(world);
  for (Index k = 0; k < 3000; ++k) simulator.step();
  EXPECT_NEAR(simulator.state().q[0], -0.5 * kGravity / 500.0, 1e-6);
  EXPECT_NEAR(simulator.state().q[1], -0.5 * kGravity / 500.0, 1e-6);
}

TEST(SpatialTendon, FrictionHoldsUpToItsForce) {
  // Friction acts on the length: it holds both weights, 2 (m1 + m2) / 4 g = m g, or takes its force from the fall.
  for (const double share : {1.01, 0.5}) {
    World world = atwood(1.0, 1.0, {.name = "rope", .dry_friction = share * kGravity});
    Simulator simulator(world, precise());
    for (Index k = 0; k < 100; ++k) simulator.step();
    const double speed = share > 1.0 ? 0.0 : -(1.0 - share) * kGravity * 0.2;
    EXPECT_NEAR(simulator.state().v[0], speed, 1e-6) << share;
  }
}

TEST(SpatialTendon, MotorsPullWithTheirMomentArm) {
  // A lever on a hinge, its string from (-1, 0, 0) to a point at distance 0.5 on the lever, straight up at the start:
  // the moment arm is r a sin(gamma) / l = 0.5 * 1 / sqrt(1.25).
  World world;
  ModelBuilder builder;
  const Index lever =
      builder.add_body({.name = "lever", .inertia = {1.0, Vec3::Zero(), Vec3(1, 2, 3).asDiagonal()}});
  builder.add_joint({.name = "pivot", .body = lever, .axis = Vec3::UnitY()});
  builder.add_tendon({.name = "muscle", .path = {site(0, {-1, 0, 0}), site(lever, {0, 0, 0.5})}});
  builder.add_actuator({.name = "pull", .tendon = 0, .gear = (Vec6() << 3, 0, 0, 0, 0, 0).finished()});
  builder.add_actuator(
      {.name = "servo", .tendon = 0, .gain = 40.0, .bias = {0, -40, -8}, .force_upper = 1e3});
  world.model = builder.build();
  Simulator simulator(world);
  simulator.control() << -1.0, std::sqrt(1.25);  // the servo holds the length it has
  simulator.step();
  // Shortening the string turns the lever towards -x, against the axis +y. The servo resists with its damping.
  const double arm = 0.5 / std::sqrt(1.25), h = simulator.time_step();
  const double resistance = arm * arm * (h * 8.0 + h * h * 40.0);
  EXPECT_NEAR(simulator.state().v[0], -3.0 * arm * h / (2.0 + resistance), 1e-9);
  for (Index k = 0; k < 5000; ++k) simulator.step();
  // At rest the servo balances the motor: 40 (l0 - l) = 3.
  const double q = simulator.state().q[0];
  const double length = (Vec3(0.5 * std::sin(q), 0, 0.5 * std::cos(q)) - Vec3(-1, 0, 0)).norm();
  EXPECT_NEAR(length, std::sqrt(1.25) - 3.0 / 40.0, 1e-5);
}

TEST(SpatialTendon, WarmedUpStepsAllocateNothing) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  World world = atwood(
      1.0, 2.0,
      {.name = "rope", .damping = 1.0, .stiffness = 100.0, .spring_upper = kStart, .dry_friction = 1.0});
  Simulator simulator(world);
  for (Index k = 0; k < 50; ++k) simulator.step();
  const std::size_t before = test::allocation_count();
  for (Index k = 0; k < 20; ++k) simulator.step();
  EXPECT_EQ(test::allocation_count(), before);
}

}  // namespace
}  // namespace tribo
