// Gravity compensation and drag against formulas and against MuJoCo 4.0.0, whose numbers were computed once with
// mj_forward on the same text (qfrc_gravcomp, qfrc_fluid, qfrc_actuator).
#include "tribo/sim/forces/body_forces.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/io/loading.h"
#include "tribo/sim/simulator.h"

namespace tribo::test {
namespace {

Vector numbers(std::initializer_list<double> values) {
  return Eigen::Map<const Vector>(values.begin(), static_cast<Eigen::Index>(values.size()));
}

struct Moving {
  World world;
  Kinematics kinematics;
  JointConstraints joints;
  State state;

  Moving(const std::string& text, const Vector& q, const Vector& v)
      : world(load_model(text).world),
        kinematics(world.model),
        joints(world),
        state(initial_state(world.model)) {
    state.q = q;
    state.v = v;
    normalize(world.model, state.q);
    kinematics.set_positions(state.q);
    kinematics.set_velocities(state.v);
  }
  Vector body_forces() const {
    Vector force = Vector::Zero(world.model.dof_count());
    joints.body_forces().add(kinematics, force);
    return force;
  }
};

std::string compensated_arm(const std::string& range, const std::string& sections) {
  return R"(<worldbody><body gravcomp=".5"><joint name="j" axis="0 1 0" actuatorgravcomp="true" )" + range +
         R"(/><geom size=".1" mass="2" pos=".3 0 0"/><body pos=".6 0 0" gravcomp="1"><joint axis="0 1 0"/>
         <geom size=".1" mass="1" pos=".25 0 0"/></body></body></worldbody>)" +
         sections;
}

TEST(BodyForces, CompensationIsMujocos) {
  const std::string motor = R"(<actuator><motor joint="j" gear="2" forcerange="-3 3"/></actuator>)";
  const Moving arm(compensated_arm("", motor), numbers({0.4, -0.7}), numbers({0, 0}));
  EXPECT_TRUE(arm.body_forces().isApprox(numbers({-10.475010255632021, -2.3429627395805483}), 1e-14));
  EXPECT_NEAR(arm.joints.body_forces().compensation_of(arm.kinematics, 0), -10.475010255632021, 1e-13);
}

// qfrc_actuator of the first joint = clamp(2 clamp(u, -3, 3) + g, -12, 9), g = -10.475...
TEST(BodyForces, CompensationByActuatorsCountsAgainstTheLimitsOfTheJoint) {
  const std::string motor = R"(<actuator><motor joint="j" gear="2" forcerange="-3 3"/></actuator>)";
  const Moving arm(compensated_arm(R"(actuatorfrcrange="-12 9")", motor), numbers({0.4, -0.7}),
                   numbers({0, 0}));
  const double g = -10.475010255632021;
  for (const auto& [control, whole] : {std::pair{-10.0, -12.0}, {-0.5, g - 1.0}, {10.0, g + 6.0}}) {
    std::vector<JointConstraints::Term> room;
    const auto now = arm.joints.acting(0, arm.kinematics, arm.state.q, arm.state.v, numbers({control}), room);
    EXPECT_NEAR(arm.body_forces()[0] + 2.0 * now.drive.force(), whole, 1e-12) << control;
  }
}

TEST(BodyForces, CompensationByActuatorsThatAreNotThere) {
  // A motor elsewhere: MuJoCo's qfrc_actuator is clamp(g, -2, 3). No motor at all: nothing compensates that joint.
  const std::string range = R"(actuatorfrcrange="-2 3")";
  const std::string other =
      R"(<actuator><motor tendon="t"/></actuator><tendon><fixed name="t"><joint joint="k" coef="1"/>
      </fixed></tendon>)";
  std::string text = compensated_arm(range, other);
  text.replace(text.rfind("<joint axis"), 6, "<joint name=\"k\"");
  EXPECT_NEAR(Moving(text, numbers({0.4, -0.7}), numbers({0, 0})).body_forces()[0], -2.0, 1e-14);
  const Moving bare(compensated_arm(range, ""), numbers({0.4, -0.7}), numbers({0, 0}));
  EXPECT_NEAR(bare.body_forces()[0], 0.0, 1e-14);
  EXPECT_NEAR(bare.body_forces()[1], -2.3429627395805483, 1e-14);
}

TEST(BodyForces, AFullyCompensatedArmStaysAndItsEnergyIsKept) {
  std::string text = compensated_arm("", "");
  text.replace(text.find("actuatorgravcomp=\"true\""), 23, "");
  text.replace(text.find("gravcomp=\".5\""), 13, "gravcomp=\"1\"");
  for (const Scheme scheme : {Scheme::symplectic_euler, Scheme::implicit_euler, Scheme::midpoint}) {
    SimulatorSettings settings;
    settings.scheme = scheme;
    Simulator simulator(load_model(text).world, settings);
    State state = simulator.state();
    state.q << 0.4, -0.7;
    simulator.set_state(state);
    EXPECT_NEAR(simulator.energy().total(), 0.0, 1e-14);
    for (int k = 0; k < 500; ++k) simulator.step();
    EXPECT_LE(simulator.state().v.norm(), 1e-13) << to_string(scheme);
    EXPECT_LE((simulator.state().q - state.q).norm(), 1e-13) << to_string(scheme);
  }
}

TEST(BodyForces, DragOfABoxIsMujocos) {
  const Moving box(R"(<option density="1.2" viscosity=".3" wind=".5 -1 .2"/><worldbody><body><freejoint/>
      <inertial pos=".1 -.2 .05" mass="2" diaginertia=".03 .04 .05" quat=".9 .1 -.3 .2"/></body></worldbody>)",
                   numbers({1, 2, 3, .5, .1, -.7, .3}), numbers({1, -2, .5, 3, -1, 2}));
  const Vector expected = numbers({-0.7229745818004996, 0.6026968998891767, -0.7172320598910067,
                                   -0.22956418370938766, -0.00730783770443074, -0.01454857410761466});
  EXPECT_TRUE(box.body_forces().isApprox(expected, 1e-13)) << box.body_forces().transpose();
}

// MuJoCo integrates the virtual masses numerically, to 3e-7 of them; here they are exact.
TEST(BodyForces, DragOfEllipsoidsIsMujocos) {
  const Moving body(R"(<option density="1.2" viscosity=".3" wind=".5 -1 .2"/><worldbody><body><freejoint/>
      <geom type="ellipsoid" size=".1 .2 .35" pos=".1 -.2 .05" quat=".9 .1 -.3 .2" mass="2" fluidshape="ellipsoid"/>
      <geom type="capsule" size=".05 .2" mass="1" fluidshape="ellipsoid" fluidcoef=".3 .4 1.1 .7 .8"/></body></worldbody>)",
                    numbers({1, 2, 3, .5, .1, -.7, .3}), numbers({1, -2, .5, 3, -1, 2}));
  const Vector expected = numbers({-1.4019375245387558, 1.50161615072779, -1.037462558591089,
                                   -0.5212783714644469, 0.05362387080510843, -0.10286212483277461});
  EXPECT_TRUE(body.body_forces().isApprox(expected, 1e-6)) << body.body_forces().transpose();
}

// A sphere carries half the mass it displaces (Lamb), and no rotation; a long cylinder-like ellipsoid nearly all of it
// across and little along.
TEST(BodyForces, VirtualMassOfASphereAndOfANeedle) {
  const double volume = 4.0 / 3.0 * std::numbers::pi * 0.027;
  const VirtualMass sphere = virtual_mass(Vec3::Constant(0.3));
  EXPECT_TRUE(sphere.mass.isApprox(Vec3::Constant(0.5 * volume), 1e-14)) << sphere.mass.transpose();
  EXPECT_TRUE(sphere.inertia.isZero(1e-14));
  const VirtualMass needle = virtual_mass(Vec3(0.01, 0.01, 10.0));
  const double displaced = 4.0 / 3.0 * std::numbers::pi * 1e-3;
  EXPECT_NEAR(needle.mass[0] / displaced, 1.0, 1e-4);
  EXPECT_LT(needle.mass[2] / displaced, 1e-4);
}

// A ball in a viscous medium slows down by Stokes' law of its box, v' = -k v; in a dense one to its terminal velocity.
TEST(BodyForces, BallsSlowDownAndFallAtTerminalVelocity) {
  const double edge = std::sqrt(6.0 * 0.4 * 0.01), rate = 3.0 * std::numbers::pi * 0.5 * edge / 2.0;
  World world =
      load_model(R"(<option timestep="1e-4" gravity="0 0 0" viscosity=".5"/><worldbody><body><freejoint/>
      <geom size=".1" mass="2"/></body></worldbody>)")
          .world;
  SimulatorSettings settings;
  settings.scheme = Scheme::midpoint;
  Simulator slowing(world, settings);
  State state = slowing.state();
  state.v[0] = 1.5;
  slowing.set_state(state);
  for (int k = 0; k < 5000; ++k) slowing.step();
  EXPECT_NEAR(slowing.state().v[0], 1.5 * std::exp(-rate * 0.5), 1e-8);

  world.medium = {.density = 100.0};
  world.gravity = Vec3(0, 0, -9.81);
  Simulator falling(world);
  for (int k = 0; k < 60000; ++k) falling.step();  // 6 s: within 2 exp(-2 g t / v) = 5e-13 of it
  EXPECT_NEAR(falling.state().v[2], -std::sqrt(2.0 * 2.0 * 9.81 / (100.0 * edge * edge)), 1e-9);
}

TEST(BodyForces, PassiveForcesAreOffWhenSpringsAndDampersAre) {
  const std::string body =
      R"(<worldbody><body gravcomp="1"><freejoint/><geom size=".1"/></body></worldbody>)";
  const World world =
      load_model(R"(<option density="10"><flag spring="disable" damper="disable"/></option>)" + body).world;
  EXPECT_EQ(world.medium.density, 0.0);
  EXPECT_EQ(world.model.gravity_compensation(1), 0.0);
}

TEST(BodyForces, MediaAndEllipsoidsAreChecked) {
  World world = load_model(R"(<worldbody><body><freejoint/><geom size=".1"/></body></worldbody>)").world;
  world.medium.density = -1.0;
  EXPECT_THROW(validate(world), InvalidInput);
  world.medium.density = 1.0;
  world.fluid_ellipsoids.push_back({.body = 1, .semi_axes = Vec3(1, 0, 1)});
  EXPECT_THROW(validate(world), InvalidInput);
  world.fluid_ellipsoids[0] = {.body = 2};
  EXPECT_THROW(validate(world), InvalidInput);
  world.fluid_ellipsoids[0] = {.body = 1};
  EXPECT_NO_THROW(validate(world));
}

}  // namespace
}  // namespace tribo::test
