// Springs of joints: their force is minus the gradient of the energy that is reported.
#include "tribo/sim/forces/free_motion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random_model.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

World one_body_on(JointKind kind, double stiffness) {
  World world;
  ModelBuilder builder;
  const Index body = builder.add_body({.position = Vec3(0.4, -0.2, 0.7),
                                       .rotation = Quat(0.8, 0.1, -0.5, 0.3).normalized(),
                                       .inertia = {2.0, Vec3::Zero(), Vec3(0.02, 0.03, 0.04).asDiagonal()}});
  builder.add_joint({.body = body,
                     .kind = kind,
                     .axis = Vec3(1.0, 2.0, 3.0),
                     .stiffness = stiffness,
                     .spring_reference = 0.3});
  world.model = builder.build();
  world.gravity.setZero();
  return world;
}

TEST(JointSprings, WorkIsTheChangeOfTheirEnergy) {
  test::Random random(3);
  for (const JointKind kind : {JointKind::free, JointKind::ball, JointKind::hinge, JointKind::slide}) {
    const World world = one_body_on(kind, 50.0);
    const JointConstraints joints(world);
    FreeMotion motion(world, joints);
    EXPECT_NEAR(motion.spring_energy(spring_coordinates(world.model)), 0.0, 1e-28) << to_string(kind);
    for (int trial = 0; trial < 20; ++trial) {
      Vector q = spring_coordinates(world.model);
      integrate(world.model, random.vector(world.model.dof_count()), 1.5, q);
      const Vector displacement = random.vector(world.model.dof_count());
      constexpr double kStep = 1e-5;
      Vector forth = q, back = q;
      integrate(world.model, displacement, kStep, forth);
      integrate(world.model, displacement, -kStep, back);
      const double slope = (motion.spring_energy(forth) - motion.spring_energy(back)) / (2.0 * kStep);
      EXPECT_NEAR(motion.spring_work(q, displacement), slope, 1e-6 * (1.0 + std::abs(slope)))
          << to_string(kind);
    }
  }
}

// qfrc_spring and energy[0] of MuJoCo 4.0.1, computed once for the same body, stiffness and qpos.
TEST(JointSprings, AFreeJointPullsAsInMuJoCo) {
  World world;
  ModelBuilder builder;
  const Index body = builder.add_body({.position = Vec3(1.0, 2.0, 3.0),
                                       .rotation = Quat(0.8, 0.1, -0.5, 0.3),
                                       .inertia = {1.0, Vec3::Zero(), Mat3::Identity()}});
  builder.add_joint({.body = body, .kind = JointKind::free, .stiffness = 5.0});
  world.model = builder.build();
  const JointConstraints joints(world);
  FreeMotion motion(world, joints);
  Vector q(7);
  q << 1.3, 1.8, 3.1, 0.5, 0.5, -0.1, 0.7;
  normalize(world.model, q);
  Vector force(6);
  force << -1.5, 1.0, -0.5, -7.460676267198928, -1.0021803941013485, -1.8930074110803248;
  for (Index d = 0; d < 6; ++d) EXPECT_NEAR(motion.spring_work(q, Vector::Unit(6, d)), -force[d], 1e-13) << d;
  EXPECT_NEAR(motion.spring_energy(q), 6.374953296467151, 1e-13);
}

// A free body on a spring swings with sqrt(k / m) and turns about a principal axis with sqrt(k / I), and its energy
// stays. MuJoCo applies the same forces: -k (x - x0), and -k times the rotation vector in body axes.
TEST(JointSprings, AFreeBodySwingsAndTurns) {
  const double k = 8.0, mass = 2.0, inertia = 0.04, h = 1e-3;
  const World world = one_body_on(JointKind::free, k);
  SimulatorSettings settings;
  settings.time_step = h;
  settings.scheme = Scheme::midpoint;
  Simulator simulator(world, settings);
  State state = simulator.state();
  Vector start(6);
  start << 0.1, 0.0, -0.05, 0.0, 0.0, 0.6;
  integrate(world.model, start, 1.0, state.q);
  simulator.set_state(state);
  const double energy = 0.5 * k * start.squaredNorm();
  EXPECT_NEAR(simulator.energy().springs, energy, 1e-12);
  for (int step = 1; step <= 700; ++step) {
    simulator.step();
    const double swing = std::cos(std::sqrt(k / mass) * step * h);
    const double turn = std::cos(std::sqrt(k / inertia) * step * h);
    Vector v;
    difference(world.model, world.model.reference_coordinates(), simulator.state().q, v);
    ASSERT_LE((v.head<3>() - swing * start.head<3>()).norm(), 1e-6) << step;
    ASSERT_NEAR(v[5], turn * start[5], 2e-4) << step;
    ASSERT_NEAR(simulator.energy().total(), energy, 1e-5 * energy) << step;
  }
}

// Translation resolves the period, rotation by far does not: it must not blow up.
TEST(JointSprings, StiffOnesAreStableInEveryDirection) {
  const World world = one_body_on(JointKind::free, 4e3);  // h^2 k / m = 0.2, h^2 k / I = 20
  SimulatorSettings settings;
  settings.time_step = 0.01;
  Simulator simulator(world, settings);
  State state = simulator.state();
  integrate(world.model, Vector::Constant(6, 0.1), 1.0, state.q);
  simulator.set_state(state);
  const double energy = simulator.energy().total();
  for (int step = 0; step < 1000; ++step) {
    simulator.step();
    ASSERT_LE(simulator.energy().total(), 2.0 * energy) << step;
  }
}

}  // namespace
}  // namespace tribo
