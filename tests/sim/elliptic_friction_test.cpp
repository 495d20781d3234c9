// Torsional and rolling friction in simulations: motions with known ends.
#include <gtest/gtest.h>

#include <cmath>

#include "tribo/sim/inverse_dynamics.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

constexpr double kRadius = 0.1, kMass = 2.0, kGravity = 9.81;

World ball_on_floor(Index rows, double sliding, double torsional, double rolling) {
  World world;
  ModelBuilder builder;
  const Shape ball = Shape::sphere(kRadius);
  const Index body = builder.add_free_body("ball", {Vec3(0.0, 0.0, kRadius)}, uniform_inertia(ball, kMass));
  world.model = builder.build();
  const Material material{.friction = sliding, .torsional = torsional, .rolling = rolling};
  world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material, .friction_rows = rows});
  world.add_geom({.name = "ball", .shape = ball, .body = body, .material = material});
  return world;
}

// Velocities of a free body: linear in world axes, then angular in its own.
State with_velocity(const Simulator& simulator, const Vec3& linear, const Vec3& angular) {
  State state = simulator.state();
  state.v << linear, angular;
  return state;
}

class EllipticFrictionLaws : public testing::TestWithParam<Law> {};
INSTANTIATE_TEST_SUITE_P(Laws, EllipticFrictionLaws, testing::Values(Law::exact, Law::convex),
                         [](const auto& instance) {
                           return instance.param == Law::exact ? "exact" : "convex";
                         });

// I domega/dt = -mu_torsion m g: the spin ends after omega0 I / (mu m g), I = 2/5 m r^2.
TEST_P(EllipticFrictionLaws, ASpinningBallStopsAfterTheTimeTorsionSays) {
  const double mu = 0.004, spin = 20.0;
  const double expected = spin * 0.4 * kRadius * kRadius / (mu * kGravity);
  for (const Index rows : {4, 6}) {
    SimulatorSettings settings;
    settings.law = GetParam();
    settings.time_step = 1e-3;
    settings.tolerance = 1e-9;
    Simulator simulator(ball_on_floor(rows, 0.6, mu, 0.002), settings);
    simulator.set_state(with_velocity(simulator, Vec3::Zero(), Vec3(0.0, 0.0, spin)));
    double half = 0.0;
    while (simulator.state().v[5] > 1e-9 * spin && simulator.state().time < 2.0 * expected) {
      simulator.step();
      if (half == 0.0 && simulator.state().v[5] <= 0.5 * spin) half = simulator.state().time;
      // The convex law lifts what slides, u_n = mu |u_t|: it hops at first, with the weight as its mean load.
      if (GetParam() == Law::exact && simulator.state().time < 0.9 * expected) {
        ASSERT_NEAR(simulator.contact_torques()[0].z() / settings.time_step, -mu * kMass * kGravity, 1e-6);
      }
    }
    // Vertical momentum: the mean load is the weight as soon as the ball is down again, under either law.
    EXPECT_NEAR(simulator.state().time, expected, 2.0 * settings.time_step) << rows;
    EXPECT_NEAR(half, 0.5 * expected, 2.0 * settings.time_step) << rows;
  }
}

// Rolling: (m + I / r^2) dv/dt = -mu_rolling m g / r, so the ball comes to rest after v0^2 / (2 a) with
// a = 5/7 mu g / r. Creep of the elliptic cone changes that by some (mu_rolling / (r mu_sliding))^2 ~ 4e-4.
TEST_P(EllipticFrictionLaws, ABallRollsAsFarAsRollingFrictionSays) {
  const double mu = 0.001, v0 = 0.5;
  const double deceleration = 5.0 / 7.0 * mu / kRadius * kGravity;
  SimulatorSettings settings;
  settings.law = GetParam();
  settings.time_step = 2e-3;
  settings.tolerance = 1e-9;
  Simulator simulator(ball_on_floor(6, 0.5, 0.001, mu), settings);
  simulator.set_state(with_velocity(simulator, Vec3(v0, 0.0, 0.0), Vec3(0.0, v0 / kRadius, 0.0)));
  for (Index k = 0; k < 6000 && simulator.state().v.head<3>().norm() > 1e-7; ++k) simulator.step();
  EXPECT_LE(simulator.state().v.head<3>().norm(), 1e-7);
  EXPECT_NEAR(simulator.state().q[0], v0 * v0 / (2.0 * deceleration), 5e-3 * v0 * v0 / (2.0 * deceleration));
  EXPECT_NEAR(simulator.state().q[1], 0.0, 1e-6);
}

// Without rolling friction the same ball rolls on, and rows that carry nothing change nothing.
TEST(EllipticFriction, WithoutCoefficientsNothingIsDifferent) {
  Simulator three(ball_on_floor(3, 0.5, 0.1, 0.1)), six(ball_on_floor(6, 0.5, 0.0, 0.0));
  for (Simulator* s : {&three, &six}) {
    s->set_state(with_velocity(*s, Vec3(0.5, 0.1, 0.0), Vec3(0.0, 5.0, 1.0)));
    for (int k = 0; k < 200; ++k) s->step();
  }
  EXPECT_EQ(three.state().q, six.state().q);
  EXPECT_EQ(three.state().v, six.state().v);
}

// A pair with different friction in two directions: a sliding box decelerates by mu_1 g or mu_2 g.
TEST(EllipticFriction, SlidingDiffersBetweenDirections) {
  for (const int axis : {0, 1}) {
    World world;
    ModelBuilder builder;
    const Shape box = Shape::box(Vec3(0.2, 0.2, 0.02));
    const Index body = builder.add_free_body("box", {Vec3(0.0, 0.0, 0.02)}, uniform_inertia(box, 1.0));
    world.model = builder.build();
    world.add_geom({.name = "floor", .shape = Shape::plane()});
    world.add_geom({.name = "box", .shape = box, .body = body});
    GeomPair pair;
    pair.first = 0;
    pair.second = 1;
    pair.material.friction = 0.2;
    pair.second_friction = 0.5;
    world.pairs.push_back(pair);
    SimulatorSettings settings;
    settings.tolerance = 1e-9;
    Simulator simulator(std::move(world), settings);
    simulator.set_state(with_velocity(simulator, Vec3::Unit(axis), Vec3::Zero()));
    for (int k = 0; k < 20; ++k) simulator.step();
    // The frame of a contact with the normal z has the tangents x and y.
    const double mu = axis == 0 ? 0.2 : 0.5;
    EXPECT_NEAR(simulator.state().v[axis], 1.0 - mu * kGravity * simulator.state().time, 1e-6);
  }
}

// What keeps a ball spinning or rolling at a constant rate on the floor that it presses with its weight: the torque of torsional
// friction mu_torsion m g about the normal; of rolling friction mu_rolling m g against the rolling.
TEST(EllipticFriction, InverseDynamicsGivesTheTorqueThatFrictionTakes) {
  const double torsional = 0.004, rolling = 0.002, rate = 3.0;
  for (const Index rows : {4, 6}) {
    Simulator simulator(ball_on_floor(rows, 0.5, torsional, rolling));
    Vector wanted = Vector::Zero(6);
    if (rows == 4) wanted[5] = rate;
    if (rows == 6) wanted[0] = rate * kRadius, wanted[4] = rate;  // rolls along x without slip
    State state = simulator.state();
    state.v = wanted;
    simulator.set_state(state);
    const ContactProblem& problem = simulator.next_problem();
    ASSERT_EQ(problem.contact_count(), 1);
    const double weight = kMass * kGravity * simulator.time_step();  // N s
    Vector start = Vector::Zero(problem.row_count());
    start[problem.row_count() - 1] = weight;
    const InverseDynamics inverse = inverse_dynamics(problem, wanted, {.start = &start});
    EXPECT_TRUE(inverse.converged);
    EXPECT_LE(inverse.error, 1e-9);
    const double normal = inverse.impulse[problem.row_count() - 1];
    EXPECT_GT(normal, 0.1 * weight);
    Vector expected = Vector::Zero(6);
    expected[2] = weight - normal;
    if (rows == 4) expected[5] = torsional * normal;
    if (rows == 6) expected[4] = rolling * normal;
    EXPECT_LE((inverse.generalized_impulse - expected).norm(), 1e-8 * weight)
        << inverse.generalized_impulse.transpose();
  }
}

// The solvers that split by bodies see the same contacts through other pieces.
TEST(EllipticFriction, SubAdmmAgrees) {
  SimulatorSettings settings;
  settings.tolerance = 1e-9;
  Simulator usual(ball_on_floor(6, 0.4, 0.004, 0.002), settings);
  settings.solver = "subadmm";
  Simulator split(ball_on_floor(6, 0.4, 0.004, 0.002), settings);
  for (Simulator* s : {&usual, &split}) {
    s->set_state(with_velocity(*s, Vec3(0.4, -0.2, 0.0), Vec3(3.0, 1.0, 6.0)));
    for (int k = 0; k < 50; ++k) s->step();
  }
  EXPECT_LT((usual.state().v - split.state().v).cwiseAbs().maxCoeff(), 1e-5);
}

}  // namespace
}  // namespace tribo
