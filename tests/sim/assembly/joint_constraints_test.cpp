// Limits, dry friction, drives, springs and couplings, each against its formula, on sliders and pendulums.
#include "tribo/sim/assembly/joint_constraints.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

constexpr double kMass = 2.0, kStep = 0.002;

SimulatorSettings precise() {
  SimulatorSettings settings;
  settings.tolerance = 1e-11;
  return settings;
}

// Bodies on the world that slide along x, `joint` for each; no gravity.
struct Sliders {
  ModelBuilder builder;
  World world;

  Sliders() {
    world.gravity.setZero();
    world.time_step = kStep;
  }
  Index add(JointDescription joint = {}) {
    const Index body = builder.add_body(
        {.name = fmt::format("s{}", count_++), .inertia = {kMass, Vec3::Zero(), Mat3::Identity()}});
    joint.body = body;
    joint.kind = JointKind::slide;
    joint.axis = Vec3::UnitX();
    return builder.add_joint(joint);
  }
  Simulator simulator(const SimulatorSettings& settings = precise()) {
    world.model = builder.build();
    return Simulator(world, settings);
  }

 private:
  int count_ = 0;
};

void run(Simulator& simulator, Index steps) {
  for (Index k = 0; k < steps; ++k) simulator.step();
  EXPECT_EQ(simulator.missed_steps(), 0);
}

void set(Simulator& simulator, const std::function<void(State&)>& change) {
  State state = simulator.state();
  change(state);
  simulator.set_state(state);
}

TEST(JointConstraints, LimitsStopWithoutOvershootAndCarryForces) {
  Sliders sliders;
  sliders.add({.limited = true, .lower = -0.1, .upper = 0.2});
  Simulator simulator = sliders.simulator();
  set(simulator, [](State& s) { s.v[0] = 30.0; });  // 60 mm per step
  double highest = 0.0;
  for (Index k = 0; k < 50; ++k) {
    simulator.step();
    highest = std::max(highest, simulator.state().q[0]);
  }
  EXPECT_LE(highest, 0.2 + 1e-9);
  EXPECT_NEAR(simulator.state().q[0], 0.2, 1e-9);
  simulator.force()[0] = 1e4;
  run(simulator, 100);
  EXPECT_NEAR(simulator.state().q[0], 0.2, 1e-9);
  simulator.force()[0] = -100.0;  // it lets go at once, down to the other one
  simulator.step();
  EXPECT_NEAR(simulator.state().v[0], -100.0 * kStep / kMass, 1e-9);
  run(simulator, 500);
  EXPECT_NEAR(simulator.state().q[0], -0.1, 1e-9);
  EXPECT_NEAR(simulator.state().v[0], 0.0, 1e-9);
}

TEST(JointConstraints, AViolatedLimitIsLedBackByAShareOfTheErrorPerStepWithoutVelocity) {
  Sliders sliders;
  sliders.add({.limited = true, .lower = 0.0, .upper = 1.0});
  SimulatorSettings settings = precise();
  settings.contact.stabilization = 0.25;
  Simulator simulator = sliders.simulator(settings);
  set(simulator, [](State& s) { s.q[0] = -1e-3; });
  simulator.step();
  EXPECT_NEAR(simulator.state().q[0], -0.75e-3, 1e-6);  // elasticity of the correction: 1e-3 of it stays
  EXPECT_EQ(simulator.state().v[0], 0.0);
}

TEST(JointConstraints, TendonAndBallLimitsHold) {
  Sliders sliders;
  const Index a = sliders.add(), b = sliders.add();
  sliders.builder.add_tendon({.terms = {{a, 1.0}, {b, -2.0}}, .limited = true, .lower = -0.3, .upper = 0.5});
  Simulator simulator = sliders.simulator();
  simulator.force() << 10.0, -5.0;
  run(simulator, 500);
  EXPECT_NEAR(simulator.state().q[0] - 2.0 * simulator.state().q[1], 0.5, 1e-8);

  ModelBuilder builder;
  const Index rod = builder.add_body(
      {.name = "rod", .inertia = {1.0, Vec3(0.0, 0.0, 0.5), 0.01 * Mat3::Identity()}});  // falls over
  builder.add_joint({.body = rod, .kind = JointKind::ball, .limited = true, .upper = 0.6});
  World world;
  world.model = builder.build();
  Simulator ball(world, precise());
  set(ball, [](State& s) { s.v << 1.0, 0.5, 0.3; });
  double angle = 0.0;
  for (Index k = 0; k < 1500; ++k) {
    ball.step();
    angle = std::max(angle, 2.0 * std::acos(std::min(1.0, std::abs(ball.state().q[0]))));
  }
  EXPECT_GT(angle, 0.599);
  EXPECT_LT(angle, 0.602);
}

TEST(JointConstraints, DryFrictionSticksBelowItsForceAndTakesItAbove) {
  Sliders sliders;
  sliders.add({.dry_friction = 3.0});
  Simulator simulator = sliders.simulator();
  simulator.force()[0] = 2.999;
  run(simulator, 100);
  EXPECT_NEAR(simulator.state().q[0], 0.0, 1e-12);
  simulator.force()[0] = 5.0;
  run(simulator, 100);
  EXPECT_NEAR(simulator.state().v[0], 100.0 * kStep * (5.0 - 3.0) / kMass, 1e-9);
  simulator.force()[0] = 0.0;
  simulator.step();
  EXPECT_NEAR(simulator.state().v[0], kStep / kMass * (200.0 - 3.0), 1e-9);
  run(simulator, 100);
  EXPECT_NEAR(simulator.state().v[0], 0.0, 1e-12);
}

TEST(JointConstraints, DryFrictionOfATendonActsOnItsLength) {
  Sliders sliders;
  const Index a = sliders.add(), b = sliders.add();
  sliders.builder.add_tendon({.terms = {{a, 1.0}, {b, 1.0}}, .dry_friction = 3.0});
  Simulator simulator = sliders.simulator();
  simulator.force() << 2.0, 0.5;
  run(simulator, 100);
  // The length stays, the difference is free: forces 2 - f and 0.5 - f with f = 1.25.
  EXPECT_NEAR(simulator.state().v[0], 100.0 * kStep * 0.75 / kMass, 1e-9);
  EXPECT_NEAR(simulator.state().v[1], -simulator.state().v[0], 1e-9);
}

// Position servo on a slider; `limit` infinite: smooth, else a box.
Simulator servo(double kp, double kv, double limit) {
  Sliders sliders;
  const Index joint = sliders.add();
  sliders.builder.add_actuator(
      {.joint = joint, .gain = kp, .bias = Vec3(0.0, -kp, -kv), .force_lower = -limit, .force_upper = limit});
  return sliders.simulator();
}

TEST(JointConstraints, DrivesAreImplicitPdBelowTheirLimit) {
  const double kp = 400.0, kv = 30.0, target = 0.1, v0 = 0.7, q0 = -0.02;
  const double expected =
      (kMass * v0 + kStep * kp * (target - q0)) / (kMass + kStep * kStep * kp + kStep * kv);
  for (const double limit : {1e3, std::numeric_limits<double>::infinity()}) {
    Simulator simulator = servo(kp, kv, limit);
    set(simulator, [&](State& s) { s.q[0] = q0, s.v[0] = v0; });
    simulator.control()[0] = target;
    simulator.step();
    EXPECT_NEAR(simulator.state().v[0], expected, 1e-10) << limit;
    run(simulator, 2000);
    EXPECT_NEAR(simulator.state().q[0], target, 1e-6);
  }
}

TEST(JointConstraints, DrivesGiveTheirForceAndNoMore) {
  Simulator simulator = servo(1e4, 10.0, 5.0);
  simulator.control()[0] = 10.0;
  run(simulator, 50);
  EXPECT_NEAR(simulator.state().v[0], 50.0 * kStep * 5.0 / kMass, 1e-9);
  simulator.control()[0] = -10.0;
  run(simulator, 100);
  EXPECT_NEAR(simulator.state().v[0], -50.0 * kStep * 5.0 / kMass, 1e-9);
}

TEST(JointConstraints, DrivesAreStableForAnyGain) {
  for (const double limit : {1e3, std::numeric_limits<double>::infinity()}) {
    Simulator simulator = servo(1e12, 1e6, limit);
    simulator.control()[0] = 0.3;
    double highest = 0.0;
    for (Index k = 0; k < 500; ++k) {
      simulator.step();
      highest = std::max(highest, simulator.state().q[0]);
    }
    EXPECT_NEAR(simulator.state().q[0], 0.3, 1e-3) << limit;
    EXPECT_LT(highest, 2.0) << limit;
  }
}

TEST(JointConstraints, MotorsAreClampedForces) {
  Sliders sliders;
  const Index joint = sliders.add();
  sliders.builder.add_actuator({.joint = joint,
                                .gear = (Vec6() << 3, 0, 0, 0, 0, 0).finished(),
                                .control_lower = -2.0,
                                .control_upper = 2.0,
                                .force_upper = 1.5});
  Simulator simulator = sliders.simulator();
  const auto gain = [&](double control) {
    const double before = simulator.state().v[0];
    simulator.control()[0] = control;
    simulator.step();
    return (simulator.state().v[0] - before) * kMass / kStep;
  };
  EXPECT_NEAR(gain(1.0), 3.0, 1e-9);
  EXPECT_NEAR(gain(9.0), 4.5, 1e-9);
  EXPECT_NEAR(gain(-9.0), -6.0, 1e-9);
}

// Explicit while the step resolves them, implicit beyond.
TEST(JointConstraints, SpringsChangeSidesWhereTheStepNoLongerResolvesThem) {
  for (const double k : {100.0, 0.24 * kMass / (kStep * kStep), 0.26 * kMass / (kStep * kStep), 1e9}) {
    Sliders sliders;
    sliders.add({.stiffness = k, .spring_reference = 0.05});
    Simulator simulator = sliders.simulator();
    set(simulator, [](State& s) { s.q[0] = 0.15, s.v[0] = 0.2; });
    simulator.step();
    const bool implicit = kStep * kStep * k > 0.25 * kMass;
    const double expected = (kMass * 0.2 - kStep * k * 0.1) / (kMass + (implicit ? kStep * kStep * k : 0.0));
    EXPECT_NEAR(simulator.state().v[0], expected, 1e-9 * (1.0 + std::abs(expected))) << k;
    run(simulator, 2000);
    EXPECT_LT(std::abs(simulator.state().q[0] - 0.05), 0.11) << k;
  }
}

TEST(JointConstraints, TendonSpringsAndDampersAreImplicit) {
  for (const double k : {50.0, 1e10}) {
    Sliders sliders;
    const Index a = sliders.add();
    sliders.builder.add_tendon(
        {.terms = {{a, 2.0}}, .damping = 4.0, .stiffness = k, .spring_lower = -0.1, .spring_upper = 0.1});
    Simulator simulator = sliders.simulator();
    set(simulator, [](State& s) { s.q[0] = 0.2, s.v[0] = 0.5; });
    simulator.step();
    // Length 2 q, force along q: 2 f.
    const double expected =
        (kMass * 0.5 - 2.0 * kStep * k * (0.4 - 0.1)) / (kMass + 4.0 * (kStep * kStep * k + kStep * 4.0));
    EXPECT_NEAR(simulator.state().v[0], expected, 1e-8 * (1.0 + std::abs(expected))) << k;
  }
  Sliders sliders;
  const Index a = sliders.add();
  sliders.builder.add_tendon(
      {.terms = {{a, 1.0}}, .stiffness = 50.0, .spring_lower = -0.1, .spring_upper = 0.1});
  Simulator simulator = sliders.simulator();
  set(simulator, [](State& s) { s.v[0] = 0.5; });
  run(simulator, 10);
  EXPECT_NEAR(simulator.state().v[0], 0.5, 1e-14);  // slack
}

TEST(JointConstraints, JointAndTendonCouplingsFollowTheirPolynomials) {
  Sliders sliders;
  const Index a = sliders.add(), b = sliders.add(), c = sliders.add();
  const Index first = sliders.builder.add_tendon({.terms = {{b, 1.0}, {c, 1.0}}});
  sliders.world.joint_couplings.push_back({.first = b, .second = a, .polynomial = {0.1, 0.5, 1.0, 0, 0}});
  sliders.world.tendon_couplings.push_back({.first = first, .polynomial = {0.3, 0, 0, 0, 0}});
  Simulator simulator = sliders.simulator();
  simulator.force() << 0.5, 0.2, -0.4;
  run(simulator, 500);
  const Vector& q = simulator.state().q;
  EXPECT_GT(std::abs(q[0]), 0.01);
  EXPECT_NEAR(q[1], 0.1 + 0.5 * q[0] + q[0] * q[0], 1e-5);
  EXPECT_NEAR(q[1] + q[2], 0.3, 1e-9);
}

// A free body on a point of the world swings like a pendulum, and hangs exactly.
TEST(JointConstraints, ConnectsHold) {
  const auto swing = [](double h) {
    World world;
    ModelBuilder builder;
    const Index body =
        builder.add_free_body("bob", {Vec3(0.5, 0.0, 0.0)}, {1.0, Vec3::Zero(), 0.1 * Mat3::Identity()});
    world.model = builder.build();
    world.time_step = h;
    world.connects.push_back({.first = 0, .second = body, .second_anchor = Vec3(-0.5, 0.0, 0.0)});
    Simulator simulator(world, precise());
    double worst = 0.0;
    while (simulator.state().time < 1.0 - 1e-9) {
      simulator.step();
      worst = std::max(worst, (simulator.kinematics().pose(body) * Vec3(-0.5, 0.0, 0.0)).norm());
    }
    return worst;
  };
  const double coarse = swing(0.002), fine = swing(0.001);
  EXPECT_LT(coarse, 1e-3);
  EXPECT_LT(fine, 0.3 * coarse);  // second order
}

TEST(JointConstraints, WeldsHoldBodiesTogether) {
  World world;
  ModelBuilder builder;
  const RigidInertia inertia{1.0, Vec3::Zero(), 0.1 * Mat3::Identity()};
  const Index a = builder.add_free_body("a", {Vec3(0.0, 0.0, 1.0)}, inertia);
  const Index b = builder.add_free_body("b", {Vec3(1.0, 0.0, 1.0)}, inertia);
  world.model = builder.build();
  world.gravity.setZero();
  world.welds.push_back(
      {.first = a, .second = b, .first_frame = {Vec3(0.5, 0, 0)}, .second_frame = {Vec3(-0.5, 0, 0)}});
  Simulator simulator(world, precise());
  simulator.force()[2] = 1.0;
  run(simulator, 500);
  // Together 2 kg, about their common centre 2 (0.1 + 0.25) kg m^2 about y; 1 N at 0.5 m for 1 s.
  const Pose pa = simulator.kinematics().pose(a), pb = simulator.kinematics().pose(b);
  EXPECT_LT((pa * Vec3(0.5, 0, 0) - pb * Vec3(-0.5, 0, 0)).norm(), 1e-4);
  EXPECT_LT((pa.rotation - pb.rotation).norm(), 1e-4);
  EXPECT_NEAR(simulator.momentum()[2], 1.0, 1e-9);
  EXPECT_NEAR(simulator.state().v[4], simulator.state().v[10], 1e-4);
  EXPECT_GT(std::abs(simulator.state().v[4]), 0.3);
}

}  // namespace
}  // namespace tribo
