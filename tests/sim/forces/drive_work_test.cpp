// Work of drives and applied forces against the kinetic energy that they make: without gravity, springs, damping and contacts,
// and with a mass that does not change, the two are equal in every step.
#include "tribo/sim/forces/drive_work.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

constexpr double kMass = 2.0;

struct Slider {
  ModelBuilder builder;
  World world;
  Index joint;

  Slider() {
    world.gravity.setZero();
    world.time_step = 0.01;
    const Index body =
        builder.add_body({.name = "slider", .inertia = {kMass, Vec3::Zero(), Mat3::Identity()}});
    joint = builder.add_joint({.body = body, .kind = JointKind::slide, .axis = Vec3::UnitX()});
  }
  Simulator simulator(Scheme scheme = Scheme::symplectic_euler) {
    world.model = builder.build();
    SimulatorSettings settings;
    settings.scheme = scheme;
    settings.tolerance = 1e-12;
    return Simulator(world, settings);
  }
};

// Every step; returns the work of all of them.
double expect_balance(Simulator& simulator, int steps, double control, double force) {
  double sum = 0.0;
  EXPECT_EQ(simulator.drive_work(), 0.0);
  for (int k = 0; k < steps; ++k) {
    const double before = simulator.energy().kinetic;
    simulator.control().setConstant(control);
    simulator.force().setConstant(force);
    simulator.step();
    const double work = simulator.drive_work();
    EXPECT_NEAR(simulator.energy().kinetic - before, work, 1e-11 * (1.0 + std::abs(work))) << "step " << k;
    sum += work;
  }
  return sum;
}

const Scheme kSchemes[] = {Scheme::symplectic_euler, Scheme::implicit_euler, Scheme::midpoint};

TEST(DriveWork, OfAMotorAndAnAppliedForce) {
  for (const Scheme scheme : kSchemes) {
    Slider slider;
    slider.builder.add_actuator({.joint = slider.joint, .gear = 3.0 * Vec6::Unit(0)});
    Simulator simulator = slider.simulator(scheme);
    // 3 * 5 N + 1 N on 2 kg for 0.5 s: v = 4 m/s, 16 J.
    EXPECT_NEAR(expect_balance(simulator, 50, 5.0, 1.0), 16.0, 1e-10);
  }
}

TEST(DriveWork, OfAPositionDriveWithoutLimits) {
  for (const Scheme scheme : kSchemes) {
    Slider slider;
    slider.builder.add_actuator(
        {.joint = slider.joint, .gear = 2.0 * Vec6::Unit(0), .gain = 300.0, .bias = {1.0, -300.0, -5.0}});
    Simulator simulator = slider.simulator(scheme);
    expect_balance(simulator, 100, 0.4, 0.0);
    EXPECT_GT(simulator.energy().kinetic, 1e-6);
  }
}

TEST(DriveWork, OfAPositionDriveAtItsForceLimitAndBelow) {
  Slider slider;
  slider.builder.add_actuator({.joint = slider.joint,
                               .gear = 2.0 * Vec6::Unit(0),
                               .gain = 300.0,
                               .bias = {0.0, -300.0, -20.0},
                               .force_lower = -10.0,
                               .force_upper = 10.0});
  Simulator simulator = slider.simulator();
  // At its limit: 20 N on 2 kg for 0.05 s.
  EXPECT_NEAR(expect_balance(simulator, 5, 2.0, 0.0), 0.25, 1e-10);
  simulator.restart(simulator.state());
  expect_balance(simulator, 200, 0.1, 0.0);
}

// A drive whose gain feeds motion instead of braking it is taken as it is before the step.
TEST(DriveWork, OfADriveThatDoesNotStabilise) {
  Slider slider;
  slider.builder.add_actuator({.joint = slider.joint, .bias = {1.0, 4.0, 0.0}, .force_upper = 6.0});
  Simulator simulator = slider.simulator();
  EXPECT_GT(expect_balance(simulator, 200, 0.0, 0.0), 1.0);
}

// What was not counted before: half the stiffness times the square of the stretch beyond the slack.
TEST(DriveWork, SpringsOfTendonsAreEnergyNotWork) {
  Slider slider;
  slider.builder.add_tendon(
      {.terms = {{slider.joint, 2.0}}, .stiffness = 50.0, .spring_lower = -0.1, .spring_upper = 0.1});
  Simulator simulator = slider.simulator();
  for (const double x : {-0.3, 0.02, 0.25}) {
    State state = simulator.state();
    state.q[0] = x;
    simulator.set_state(state);
    const double stretch = std::max(0.0, 2.0 * std::abs(x) - 0.1);
    EXPECT_NEAR(simulator.energy().springs, 25.0 * stretch * stretch, 1e-12);
  }
  simulator.step();
  EXPECT_EQ(simulator.drive_work(), 0.0);
}

}  // namespace
}  // namespace tribo
