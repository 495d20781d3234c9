// Impedances against what their equations say of a pendulum and of arms in a steady state.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tribo/base/errors.h"
#include "tribo/control/cartesian_impedance.h"
#include "tribo/control/gripper.h"
#include "tribo/control/joint_impedance.h"
#include "tribo/multibody/rotation.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

constexpr double kMass = 2.0, kLength = 0.5, kGravity = 9.81;

// A point mass on a rod without mass; q is the angle from hanging down.
World pendulum() {
  World world;
  ModelBuilder builder;
  const Index rod = builder.add_body(
      {.name = "rod", .parent = 0, .inertia = RigidInertia::point(kMass, {0.0, 0.0, -kLength})});
  builder.add_joint({.name = "pivot", .body = rod, .kind = JointKind::hinge, .axis = Vec3::UnitY()});
  world.model = builder.build();
  return world;
}

// Seven hinges about x, y and z in turn; the hand is 0.9 m up the stretched arm.
World arm(Index links = 7) {
  World world;
  ModelBuilder builder;
  Index parent = 0;
  for (Index k = 0; k < links; ++k) {
    const Shape shape = Shape::capsule(0.04, 0.06);
    parent = builder.add_body({.name = "link" + std::to_string(k),
                               .parent = parent,
                               .position = Vec3(0.0, 0.0, k == 0 ? 0.2 : 0.15),
                               .inertia = uniform_inertia(shape, 1.5).placed({Vec3(0.0, 0.02, 0.07)})});
    const Vec3 axis = k % 3 == 0   ? Vec3(Vec3::UnitZ())
                      : k % 3 == 1 ? Vec3(Vec3::UnitY())
                                   : Vec3(Vec3::UnitX());
    builder.add_joint({.name = "joint" + std::to_string(k),
                       .body = parent,
                       .kind = JointKind::hinge,
                       .axis = axis,
                       .armature = 0.05});
  }
  world.model = builder.build();
  return world;
}

Vector bent() { return (Vector(7) << 0.2, 0.7, -0.5, 0.4, 0.9, 0.6, -0.3).finished(); }

// The reference q = sin t from t = 0.
JointTarget swinging(double t) {
  const auto one = [](double x) { return Vector(Vector::Constant(1, x)); };
  return {one(std::sin(t)), one(std::cos(t)), one(-std::sin(t)), {}};
}

double tracking_error(double h) {
  const World world = pendulum();
  JointImpedance drive(world, {.stiffness = 50.0, .damping = 5.0});
  Simulator simulator(world, {.time_step = h});
  State state = initial_state(world.model);
  state.v[0] = 1.0;
  simulator.set_state(state);
  double worst = 0.0;
  while (simulator.state().time < 3.0) {
    simulator.force().setZero();
    drive.add_force(simulator.kinematics(), simulator.state(), swinging(simulator.state().time),
                    simulator.force());
    simulator.step();
    worst = std::max(worst, std::abs(simulator.state().q[0] - std::sin(simulator.state().time)));
  }
  return worst;
}

// With weight and inertia fed forward the reference solves the equation of motion: what is left is the scheme's first order.
TEST(JointImpedance, PendulumFollowsToTheOrderOfTheTimeStep) {
  const double coarse = tracking_error(0.004), fine = tracking_error(0.002);
  EXPECT_LE(coarse, 0.004);
  EXPECT_NEAR(coarse / fine, 2.0, 0.2);
}

// Without compensation it sags to K (q_ref - q) = m g l sin q.
TEST(JointImpedance, PendulumWithoutCompensationSagsAsStaticsSays) {
  const World world = pendulum();
  const double stiffness = 40.0, target = 1.0;
  JointImpedance drive(world, {.stiffness = stiffness, .damping = 8.0, .compensate_weight = false});
  Simulator simulator(world, {.time_step = 0.002});
  for (int k = 0; k < 5000; ++k) {
    simulator.force().setZero();
    drive.add_force(simulator.kinematics(), simulator.state(), {Vector::Constant(1, target)},
                    simulator.force());
    simulator.step();
  }
  double q = target;
  for (int k = 0; k < 200; ++k) q = target - kMass * kGravity * kLength * std::sin(q) / stiffness;
  EXPECT_NEAR(simulator.state().q[0], q, 1e-8);
  EXPECT_LT(q, 0.9);
}

TEST(JointImpedance, WeightCompensationAloneHoldsStill) {
  const World world = arm();
  JointImpedance drive(world, {});
  Simulator simulator(world, {.time_step = 0.002});
  State state = initial_state(world.model);
  state.q = bent();
  simulator.set_state(state);
  for (int k = 0; k < 1000; ++k) {
    simulator.force().setZero();
    drive.add_force(simulator.kinematics(), simulator.state(), {state.q}, simulator.force());
    simulator.step();
  }
  EXPECT_LE((simulator.state().q - state.q).norm(), 1e-9);
  EXPECT_LE(simulator.state().v.norm(), 1e-9);
}

TEST(JointImpedance, EffortIsTheLimit) {
  const World world = pendulum();
  JointImpedance drive(world, {.stiffness = 1e4, .efforts = Vector::Constant(1, 3.0)});
  Simulator simulator(world);
  Vector force = Vector::Zero(1);
  drive.add_force(simulator.kinematics(), simulator.state(), {Vector::Constant(1, -1.0)}, force);
  EXPECT_EQ(force[0], -3.0);
}

TEST(JointImpedance, RefusesWhatDoesNotFit) {
  const World world = arm();
  EXPECT_THROW(JointImpedance(world, {.joints = {7}}), InvalidInput);
  EXPECT_THROW(JointImpedance(world, {.stiffness = -1.0}), InvalidInput);
  EXPECT_THROW(JointImpedance(world, {.efforts = Vector::Zero(3)}), InvalidInput);
  JointImpedance drive(world, {});
  Simulator simulator(world);
  Vector force = Vector::Zero(7);
  EXPECT_THROW(drive.add_force(simulator.kinematics(), simulator.state(), {Vector::Zero(3)}, force),
               InvalidInput);
}

// A steady push displaces the frame by F / K, turns it by T / K, whatever the pose of the arm.
TEST(CartesianImpedance, SteadyForceDisplacesByForceOverStiffness) {
  const World world = arm();
  const Index hand = world.model.body_count() - 1;
  CartesianImpedanceSettings settings{.body = hand, .point = Vec3(0.0, 0.0, 0.1)};
  settings.stiffness << 600.0, 900.0, 1200.0, 30.0, 40.0, 50.0;
  settings.posture = bent();
  settings.posture_stiffness = 2.0;
  settings.posture_damping = 3.0;
  CartesianImpedance impedance(world, settings);
  Simulator simulator(world, {.time_step = 0.001});
  State state = initial_state(world.model);
  state.q = bent();
  simulator.set_state(state);
  const PoseReference target{impedance.pose(simulator.kinematics())};
  const Vec3 push(6.0, -4.0, 10.0), torque(0.3, -0.2, 0.1);
  for (int k = 0; k < 6000; ++k) {
    simulator.force().setZero();
    impedance.add_force(simulator.kinematics(), simulator.state(), target, simulator.force());
    simulator.kinematics().add_force(hand, impedance.pose(simulator.kinematics()).position, push, torque,
                                     simulator.force());
    simulator.step();
  }
  const Pose now = impedance.pose(simulator.kinematics());
  const Vec3 moved = now.position - target.pose.position;
  const Vec3 turned = rotation_log(Quat(Mat3(now.rotation * target.pose.rotation.transpose())));
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(moved[k], push[k] / settings.stiffness[k], 1e-6) << k;
    EXPECT_NEAR(turned[k], torque[k] / settings.stiffness[k + 3], 1e-6) << k;
  }
}

// The torque of a posture is linear in what its joints do: that of all is the sum of those of each.
TEST(CartesianImpedance, PostureActsOnTheJointsItIsGiven) {
  const World world = arm();
  CartesianImpedanceSettings settings{.body = world.model.body_count() - 1};
  settings.controlled = {1, 0, 0, 0, 0, 0};
  settings.posture = bent() + Vector::Constant(7, 0.3);
  settings.posture_stiffness = 5.0;
  Simulator simulator(world);
  State state = initial_state(world.model);
  state.q = bent();
  simulator.set_state(state);
  const auto torque = [&](std::vector<Index> joints) {
    settings.posture_joints = std::move(joints);
    CartesianImpedance impedance(world, settings);
    Vector sum = Vector::Zero(7);
    impedance.add_force(simulator.kinematics(), state, {impedance.pose(simulator.kinematics())}, sum);
    return sum;
  };
  settings.posture_stiffness = 0.0;
  const Vector carried = torque({});
  settings.posture_stiffness = 5.0;
  Vector sum = carried;
  for (Index j = 0; j < 7; ++j) sum += torque({j}) - carried;
  EXPECT_LE((sum - torque({})).norm(), 1e-9);
  EXPECT_GE((torque({0}) - torque({6})).norm(), 0.1);
  EXPECT_THROW(CartesianImpedance(world, {.body = 1, .posture_joints = {99}}), InvalidInput);
}

// The frame follows its reference to the order of the time step although the arm is redundant and its posture pulls elsewhere.
TEST(CartesianImpedance, FollowsAPathWhateverThePostureWants) {
  const World world = arm();
  CartesianImpedanceSettings settings{.body = world.model.body_count() - 1};
  settings.stiffness << 500.0, 500.0, 500.0, 40.0, 40.0, 40.0;
  settings.posture = bent() + Vector::Constant(7, 0.3);
  settings.posture_stiffness = 5.0;
  settings.posture_damping = 2.0;
  double worst[2] = {0.0, 0.0};
  for (int fine = 0; fine < 2; ++fine) {
    CartesianImpedance impedance(world, settings);
    Simulator simulator(world, {.time_step = fine == 1 ? 0.0005 : 0.001});
    State state = initial_state(world.model);
    state.q = bent();
    simulator.set_state(state);
    const Pose from = impedance.pose(simulator.kinematics());
    const Pose to{from.position + Vec3(0.03, 0.03, -0.015),
                  from.rotation * rotation_exp(Vec3(0.1, 0.0, 0.06)).toRotationMatrix()};
    const PoseTrajectory path({{0.0, from}, {1.0, to}});
    while (simulator.state().time < 1.5) {
      simulator.force().setZero();
      impedance.add_force(simulator.kinematics(), simulator.state(), path.at(simulator.state().time),
                          simulator.force());
      simulator.step();
      const Pose now = impedance.pose(simulator.kinematics()), wanted = path.at(simulator.state().time).pose;
      worst[fine] = std::max(
          {worst[fine], (now.position - wanted.position).norm(), (now.rotation - wanted.rotation).norm()});
    }
  }
  EXPECT_LE(worst[0], 1e-3);
  EXPECT_NEAR(worst[0] / worst[1], 2.0, 0.3);
}

// A mass on three slides is the oscillator of the textbook: a pull and zeta = 1 come back without overshoot, and K, D, Lambda
// are those of the axes.
TEST(CartesianImpedance, DampingIsThatOfTheOscillator) {
  World world;
  ModelBuilder builder;
  const Index body =
      builder.add_body({.name = "mass", .parent = 0, .inertia = uniform_inertia(Shape::sphere(0.1), 2.0)});
  for (const Vec3& axis : {Vec3(Vec3::UnitX()), Vec3(Vec3::UnitY()), Vec3(Vec3::UnitZ())})
    builder.add_joint({.name = "slide", .body = body, .kind = JointKind::slide, .axis = axis});
  world.model = builder.build();
  CartesianImpedanceSettings settings{.body = body, .controlled = {true, true, true, false, false, false}};
  settings.stiffness.head<3>() << 8.0, 18.0, 32.0;
  settings.damping_ratio = 0.5;
  CartesianImpedance impedance(world, settings);
  Simulator simulator(world);
  Vector force = Vector::Zero(3);
  impedance.add_force(simulator.kinematics(), simulator.state(), {}, force);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(impedance.inertia()(k, k), 2.0, 1e-12);
    EXPECT_NEAR(impedance.damping()(k, k), 2.0 * 0.5 * std::sqrt(settings.stiffness[k] * 2.0), 1e-12);
  }
  EXPECT_LE((impedance.damping() - Matrix(impedance.damping().diagonal().asDiagonal())).norm(), 1e-12);
}

TEST(CartesianImpedance, IsBoundedWhereTheArmIsStretched) {
  const World world = arm();
  CartesianImpedanceSettings settings{.body = world.model.body_count() - 1};
  settings.stiffness << 500.0, 500.0, 500.0, 40.0, 40.0, 40.0;
  CartesianImpedance impedance(world, settings);
  Simulator simulator(world);
  Vector force = Vector::Zero(7);
  PoseReference target{impedance.pose(simulator.kinematics())};
  target.pose.position.z() += 0.01;
  impedance.add_force(simulator.kinematics(), simulator.state(), target, force);
  EXPECT_TRUE(force.allFinite());
  EXPECT_LE(force.norm(), 100.0);
}

TEST(CartesianImpedance, RefusesWhatDoesNotFit) {
  const World world = arm();
  EXPECT_THROW(CartesianImpedance(world, {.body = 0}), InvalidInput);
  EXPECT_THROW(CartesianImpedance(world, {.body = 99}), InvalidInput);
  EXPECT_THROW(CartesianImpedance(world, {.body = 1, .stiffness = Vec6::Constant(-1.0)}), InvalidInput);
  EXPECT_THROW(CartesianImpedance(world, {.body = 1, .posture = Vector::Zero(2)}), InvalidInput);
}

// A ball between two fingers: both press with the grip force, and friction carries its weight exactly while 2 mu F >= m g.
TEST(Gripper, PressesWithItsForceAndHoldsWhatFrictionAllows) {
  const double mass = 0.5, mu = 0.6, weight = mass * kGravity;
  for (const double share : {0.9, 1.1}) {
    World world;
    ModelBuilder builder;
    const Shape finger = Shape::box(Vec3(0.01, 0.03, 0.03)), ball = Shape::sphere(0.025);
    std::vector<Index> bodies;
    for (const double side : {1.0, -1.0}) {
      const Index body = builder.add_body({.name = side > 0.0 ? "right" : "left",
                                           .parent = 0,
                                           .position = Vec3(side * 0.035, 0.0, 0.5),
                                           .inertia = uniform_inertia(finger, 0.2)});
      builder.add_joint({.name = side > 0.0 ? "right" : "left",
                         .body = body,
                         .kind = JointKind::slide,
                         .axis = Vec3(side, 0.0, 0.0)});
      bodies.push_back(body);
    }
    const Index held = builder.add_free_body("ball", {Vec3(0.0, 0.0, 0.5)}, uniform_inertia(ball, mass));
    world.model = builder.build();
    const Material material{.friction = mu};
    for (const Index body : bodies) world.add_geom({.shape = finger, .body = body, .material = material});
    world.add_geom({.shape = ball, .body = held, .material = material});
    Simulator simulator(world, {.time_step = 0.002, .tolerance = 1e-9});
    const double grip = share * weight / (2.0 * mu);
    for (int k = 0; k < 100; ++k) {
      simulator.force().setZero();
      add_grip(world.model, {.first = 0, .second = 1, .centering = 100.0, .damping = 5.0}, simulator.state(),
               grip, simulator.force());
      simulator.step();
    }
    double pressed = 0.0;
    for (std::size_t c = 0; c < simulator.contacts().size(); ++c)
      pressed += std::abs(simulator.contact_impulses()[c].x()) / simulator.time_step();
    EXPECT_NEAR(pressed, 2.0 * grip, 1e-5 * grip) << share;
    // Below the critical grip it falls with g - 2 mu F / m.
    const double fall = share < 1.0 ? 0.5 * (1.0 - share) * kGravity * 0.2 * 0.2 : 0.0;
    EXPECT_NEAR(0.5 - simulator.kinematics().pose(held).position.z(), fall, share < 1.0 ? 0.02 * fall : 1e-7)
        << share;
  }
}

TEST(Gripper, RefusesJointsThatDoNotSlide) {
  const World world = arm();
  Vector force = Vector::Zero(7);
  EXPECT_THROW(add_grip(world.model, {.first = 0, .second = 1}, initial_state(world.model), 1.0, force),
               InvalidInput);
}

}  // namespace
}  // namespace tribo
