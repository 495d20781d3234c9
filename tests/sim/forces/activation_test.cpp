// Activations, muscles and gains that depend on length and velocity: forces and rates of MuJoCo 4.0.0 (actuator_force,
// act_dot and the act after mj_step, computed once on the same text), and filters against their exact solutions.
#include "tribo/sim/forces/activation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/io/loading.h"
#include "tests/support/allocation_counter.h"
#include "tribo/sim/simulator.h"

namespace tribo::test {
namespace {

const std::string kMany = R"(<worldbody><body><joint name="j" axis="0 1 0" range="-60 45"/>
    <geom size=".1" mass="2" pos=".3 0 0"/></body></worldbody><actuator>
    <muscle joint="j" gear=".05" lengthrange="-.05 .04"/>
    <muscle joint="j" gear="-.05" lengthrange="-.04 .05" force="300" tausmooth=".4" timeconst=".02 .06" range=".6 1.2"/>
    <general joint="j" dyntype="filter" dynprm=".2" gainprm="3" biastype="affine" biasprm=".1 -.2 -.3"/>
    <general joint="j" dyntype="filterexact" dynprm=".2" actearly="true" gainprm="3"/>
    <intvelocity joint="j" kp="4" actrange="-1 1"/><damper joint="j" kv="2" ctrlrange="0 1"/>
    <cylinder joint="j" area=".1" timeconst=".05" bias=".1 .2 -.3"/></actuator>)";

Vector controls() {
  Vector control(7);
  control << .7, .2, .5, -.6, .4, .8, .9;
  return control;
}
Vector activations() {
  Vector activation(6);
  activation << .3, .6, .2, .4, -.5, .25;
  return activation;
}

TEST(Activation, ForcesAreMujocos) {
  const Loaded loaded = load_model(kMany);
  EXPECT_TRUE(loaded.report.warnings.empty());
  const World& world = loaded.world;
  ASSERT_EQ(world.model.activation_count(), 6);
  const JointConstraints joints(world);
  Kinematics kinematics(world.model);
  struct Sample {
    double q, v;
    std::array<double, 7> force;
  };
  const Sample samples[] = {
      {0.3, -0.4, {-204.16125366255142, -115.64839506172838, 0.76, 1.1701495012475043, -3.2, 0.64, 0.305}},
      {-0.6, 0.7, {-185.60690699588477, -134.8159122085048, 0.61, 1.1701495012475043, 0.4, -1.12, -0.205}},
      {0.78,
       1.5,
       {-278.03420576131691, -7.2817777777777621, 0.094, 1.1701495012475043, -5.12, -2.4, -0.169}}};
  Vector input;
  actuator_inputs(world.model, controls(), activations(), 0.002, input);
  for (const Sample& sample : samples) {
    const Vector q = Vector::Constant(1, sample.q), v = Vector::Constant(1, sample.v);
    kinematics.set_positions(q);
    std::vector<JointConstraints::Term> room;
    for (Index a = 0; a < 7; ++a) {
      const double force = joints.acting(a, kinematics, q, v, input, room).drive.force();
      const double expected = sample.force[static_cast<std::size_t>(a)];
      EXPECT_NEAR(force, expected, 1e-12 * (1.0 + std::abs(expected))) << a << " at " << sample.q;
    }
  }
}

TEST(Activation, TheNextActivationsAreMujocos) {
  const World world = load_model(kMany).world;
  Vector activation = activations();
  advance_activations(world.model, controls(), 0.002, activation);
  Vector expected(6);
  expected << 0.38421052631578945, 0.5813333333333333, 0.203, 0.39004983374916813, -0.4992, 0.276;
  EXPECT_TRUE(activation.isApprox(expected, 1e-14)) << activation.transpose();
}

// In a step the force comes from the activation at its beginning, or at its end where it acts early.
TEST(Activation, StepsUseAndKeepThem) {
  const std::string body = R"(<option gravity="0 0 0"/><worldbody><body><joint name="j" type="slide"/>
      <geom size=".1" mass="2"/></body></worldbody>)";
  for (const bool early : {false, true}) {
    const World world =
        load_model(body + R"(<actuator><general joint="j" dyntype="integrator" actrange="-1 .003" )" +
                   (early ? "actearly=\"true\"" : "") + R"(/></actuator><keyframe>
                                   <key act=".001"/></keyframe>)")
            .world;
    Simulator simulator(world);
    EXPECT_EQ(simulator.state().activation, Vector::Zero(1));
    ASSERT_EQ(world.keyframes.size(), 1u);
    simulator.set_state(world.keyframes[0].state);
    const std::uint64_t hash = simulator.state_hash();
    simulator.control()[0] = 0.5;  // 0.001 per step
    double velocity = 0.0, activation = 0.001;
    for (int k = 0; k < 4; ++k) {
      simulator.step();
      const double next = std::min(activation + 0.001, 0.003);
      velocity += 0.002 / 2.0 * (early ? next : activation);
      activation = next;
      EXPECT_NEAR(simulator.state().activation[0], activation, 1e-17);
      EXPECT_NEAR(simulator.state().v[0], velocity, 1e-17);
    }
    State other = world.keyframes[0].state;
    other.activation[0] = 0.0015;
    simulator.set_state(other);
    EXPECT_NE(simulator.state_hash(), hash);
    other.activation.resize(2);
    EXPECT_THROW(simulator.set_state(other), InvalidInput);
    other.activation.resize(0);
    simulator.set_state(other);
    EXPECT_EQ(simulator.state().activation, Vector::Zero(1));
  }
}

TEST(Activation, TheExactFilterIsExactAtAnyStep) {
  ModelBuilder builder;
  const Index body = builder.add_body({.inertia = {1.0, Vec3::Zero(), Mat3::Identity()}});
  const Index joint = builder.add_joint({.body = body, .kind = JointKind::slide});
  builder.add_actuator(
      {.joint = joint, .activation = ActivationKind::filter_exact, .activation_times = Vec3(0.3, 0, 0)});
  const Model model = builder.build();
  for (const double h : {0.001, 0.1, 2.0}) {
    Vector activation = Vector::Constant(1, -0.4);
    const Vector control = Vector::Constant(1, 0.9);
    for (int k = 0; k < 10; ++k) advance_activations(model, control, h, activation);
    EXPECT_NEAR(activation[0], 0.9 - 1.3 * std::exp(-10.0 * h / 0.3), 1e-14) << h;
  }
}

// The damper's gain depends on the control alone: with damping d = 2 u the velocity of a mass falls by 1 / (1 + h d / m).
TEST(Activation, ADamperIsImplicit) {
  World world =
      load_model(
          R"(<option gravity="0 0 0"/><worldbody><body><joint name="j" type="slide"/><geom size=".1" mass="2"/></body>
      </worldbody><actuator><damper joint="j" kv="2e4" ctrlrange="0 1"/></actuator>)")
          .world;
  Simulator simulator(world);
  State state = simulator.state();
  state.v[0] = 1.0;
  simulator.set_state(state);
  simulator.control()[0] = 0.5;
  simulator.step();
  EXPECT_NEAR(simulator.state().v[0], 1.0 / (1.0 + 0.002 * 1e4 / 2.0), 1e-12);
}

// Two muscles hold a joint where their forces are equal; both relaxed, it falls.
TEST(Activation, MusclesMoveAJoint) {
  const World world =
      load_model(R"(<worldbody><body><joint name="j" axis="0 1 0" range="-60 60" damping=".5"/>
      <geom size=".05" mass="1" pos=".3 0 0"/></body></worldbody><actuator><muscle joint="j" gear="-.03" force="400"/>
      <muscle joint="j" gear=".03" force="400"/></actuator>)")
          .world;
  ASSERT_EQ(world.model.actuators().size(), 2u);  // lengths from the range of the joint
  EXPECT_NEAR(world.model.actuators()[0].muscle_gain->length_upper, 0.03 * M_PI / 3.0, 1e-15);
  Simulator simulator(world);
  simulator.control() << 0.05, 0.8;  // the second pulls towards negative angles: up
  for (int k = 0; k < 1500; ++k) simulator.step();
  EXPECT_LT(simulator.state().q[0], -0.2);
  EXPECT_NEAR(simulator.state().activation[1], 0.8, 1e-6);
  simulator.control().setZero();
  for (int k = 0; k < 1500; ++k) simulator.step();
  EXPECT_GT(simulator.state().q[0], 0.2);
  EXPECT_EQ(simulator.missed_steps(), 0);
}

// Everything that computes a force of a step at once.
TEST(Activation, StepsWithAllKindsOfForcesAllocateNothing) {
  if (!counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  const World world =
      load_model(R"(<option density="1.2" viscosity=".1"/><worldbody><geom type="plane" size="1 1 1"/>
      <body mocap="true" pos="3 0 0"><geom size=".1"/></body><body name="b" pos="0 0 .1" gravcomp=".5"><freejoint/>
      <geom type="box" size=".1 .1 .1" mass="1" fluidshape="ellipsoid"/><site name="s"/><body pos="0 0 .2" gravcomp="1">
      <joint name="j" axis="0 1 0" range="-60 60" actuatorgravcomp="true" actuatorfrcrange="-2 2"/>
      <geom size=".05" mass=".1" pos=".1 0 .1"/><site name="t"/></body></body></worldbody><actuator>
      <muscle joint="j" gear=".03"/><motor site="s" gear="1 0 0 0 0 0"/><position site="t" refsite="s" kp="3" kv="1"
      gear="0 1 0 0 0 0" forcerange="-1 1"/><adhesion body="b" gain="3" ctrlrange="0 1"/></actuator>)")
          .world;
  Simulator simulator(world);
  simulator.control() << 0.5, 0.1, 0.2, 0.7;
  const auto step = [&](int k) {
    simulator.move_mocap(1, {Vec3(3, 0, 0.001 * k), Mat3::Identity()});
    simulator.step();
  };
  for (int k = 0; k < 50; ++k) step(k);
  const std::size_t before = allocation_count();
  for (int k = 50; k < 60; ++k) step(k);
  EXPECT_EQ(allocation_count(), before);
}

TEST(Activation, BadNumbersAreRefused) {
  const auto refused = [](const std::string& actuator) {
    return refusal(
        "<mujoco><worldbody><body><joint name='j' range='-1 1'/><geom "
        "size='.1'/></body></worldbody><actuator>" +
        actuator + "</actuator></mujoco>");
  };
  EXPECT_TRUE(contains(refused("<general joint='j' dyntype='filter' dynprm='0'/>"), "must be > 0 s"));
  EXPECT_TRUE(contains(refused("<muscle joint='j' lmin='1.2'/>"), "1 must lie between"));
  EXPECT_TRUE(contains(refused("<muscle joint='j' range='1 1'/>"), "operating range"));
  EXPECT_TRUE(contains(refused("<damper joint='j' kv='1'/>"), "ctrlrange"));
  EXPECT_EQ(refused("<muscle joint='j'/>"), "loaded");
}

}  // namespace
}  // namespace tribo::test
