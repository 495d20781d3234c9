// Mechanics over time: what the equations of motion conserve, and a period known in closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/random_model.h"
#include "tribo/multibody/dynamics.h"
#include "tribo/multibody/model_builder.h"

namespace tribo {
namespace {

// v <- v - h M^-1 bias, q <- q (+) h v; or the explicit midpoint rule, of second order.
class Stepper {
 public:
  Stepper(const Model& model, const Vec3& gravity)
      : model_(model), gravity_(gravity), kinematics_(model), dynamics_(model) {}

  void symplectic_step(double h, State& state) {
    state.v += h * acceleration(state);
    integrate(model_, state.v, h, state.q);
  }
  void midpoint_step(double h, State& state) {
    State middle = state;
    middle.v += 0.5 * h * acceleration(state);
    integrate(model_, state.v, 0.5 * h, middle.q);
    state.v += h * acceleration(middle);
    integrate(model_, middle.v, h, state.q);
  }
  double energy(const State& state) {
    set(state);
    return dynamics_.kinetic_energy(state.v) + Dynamics::weight_energy(kinematics_, gravity_);
  }
  // About the world's origin: (linear, angular) of all bodies.
  Vec6 momentum(const State& state) {
    set(state);
    Vec6 sum = Vec6::Zero();
    for (Index b = 1; b < model_.body_count(); ++b) {
      const Mat3& r = kinematics_.pose(b).rotation;
      const Vec3 p = model_.inertia(b).mass * kinematics_.point_velocity(b, kinematics_.center(b));
      sum.head<3>() += p;
      sum.tail<3>() += kinematics_.center(b).cross(p) +
                       r * model_.inertia(b).rotational * r.transpose() * kinematics_.velocity(b).tail<3>();
    }
    return sum;
  }

 private:
  void set(const State& state) {
    kinematics_.set_positions(state.q);
    kinematics_.set_velocities(state.v);
    dynamics_.set_positions(kinematics_);
  }
  const Vector& acceleration(const State& state) {
    set(state);
    dynamics_.bias(kinematics_, gravity_, work_);
    EXPECT_TRUE(dynamics_.factorize());
    dynamics_.solve_in_place(work_);
    work_ = -work_;
    return work_;
  }

  const Model& model_;
  Vec3 gravity_;
  Kinematics kinematics_;
  Dynamics dynamics_;
  Vector work_;
};

struct Errors {
  double energy, momentum;
};

// After one second of free flight.
Errors conservation(const Model& model, const State& start, int steps, bool midpoint) {
  Stepper stepper(model, Vec3::Zero());
  State state = start;
  for (int i = 0; i < steps; ++i) {
    midpoint ? stepper.midpoint_step(1.0 / steps, state) : stepper.symplectic_step(1.0 / steps, state);
  }
  const Vec6 before = stepper.momentum(start), after = stepper.momentum(state);
  const double energy = stepper.energy(start);
  return {std::abs(stepper.energy(state) - energy) / energy, (after - before).norm() / before.norm()};
}

TEST(Motion, SpinningBodyConservesEnergyAndMomentumToTheOrderOfTheRule) {
  ModelBuilder builder;
  builder.add_free_body("top", {}, {2.0, Vec3(0.1, -0.2, 0.05), Vec3(0.1, 0.2, 0.25).asDiagonal()});
  const Model model = builder.build();
  State start = initial_state(model);
  start.v << 0.5, -0.3, 0.2, 1.0, 3.0, -2.0;
  const Errors first = conservation(model, start, 500, false), half = conservation(model, start, 1000, false);
  EXPECT_LE(first.energy, 0.05);
  EXPECT_NEAR(first.energy / half.energy, 2.0, 0.1);
  EXPECT_NEAR(first.momentum / half.momentum, 2.0, 0.1);
  const Errors second = conservation(model, start, 500, true),
               quarter = conservation(model, start, 1000, true);
  EXPECT_LE(second.energy, 1e-5);
  EXPECT_LE(second.momentum, 1e-4);
  EXPECT_NEAR(second.momentum / quarter.momentum, 4.0, 0.4);
}

TEST(Motion, FloatingTreeConservesEnergyAndMomentum) {
  ModelBuilder builder;
  test::Random random(5);
  const Index trunk = builder.add_body({.inertia = test::random_inertia(random)});
  builder.add_joint({.body = trunk, .kind = JointKind::free});
  for (JointKind kind : {JointKind::hinge, JointKind::ball, JointKind::slide}) {
    const Index limb = builder.add_body(
        {.parent = trunk, .position = random.vec3(), .inertia = test::random_inertia(random)});
    builder.add_joint({.body = limb, .kind = kind, .axis = random.vec3(), .anchor = 0.3 * random.vec3()});
  }
  const Model model = builder.build();
  const State start = test::random_state(random, model);
  const Errors coarse = conservation(model, start, 500, true), fine = conservation(model, start, 1000, true);
  EXPECT_LE(coarse.momentum, 1e-5);
  EXPECT_NEAR(coarse.momentum / fine.momentum, 4.0, 0.5);
  EXPECT_LE(coarse.energy, 1e-5);
}

TEST(Motion, FallingBodiesFall) {
  test::Random random(6);
  ModelBuilder builder;
  for (const char* name : {"a", "b", "c"}) {
    const Pose pose{random.vec3(), test::random_rotation(random).toRotationMatrix()};
    builder.add_free_body(name, pose, test::random_inertia(random));
  }
  const Model model = builder.build();
  Kinematics kinematics(model);
  Dynamics dynamics(model);
  dynamics.set_positions(kinematics);
  kinematics.set_velocities(Vector::Zero(model.dof_count()));
  Vector x;
  dynamics.bias(kinematics, Vec3(0, 0, -9.81), x);
  ASSERT_TRUE(dynamics.factorize());
  dynamics.solve_in_place(x);
  for (Index t = 0; t < model.tree_count(); ++t) {
    Vec6 expected = Vec6::Zero();
    expected[2] = 9.81;
    EXPECT_LE((x.segment<6>(model.tree_dof(t)) - expected).norm(), 1e-12);
  }
}

// T = 2 pi sqrt(L / g) / agm(1, cos(amplitude / 2)).
TEST(Motion, PendulumHasItsPeriod) {
  const double length = 0.5, g = 9.81, amplitude = 2.0;
  ModelBuilder builder;
  const Index rod = builder.add_body({.inertia = RigidInertia::point(1.3, {0, 0, -length})});
  builder.add_joint({.body = rod, .kind = JointKind::hinge, .axis = Vec3::UnitY()});
  const Model model = builder.build();
  double a = 1.0, b = std::cos(0.5 * amplitude);
  for (int i = 0; i < 6; ++i) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  const double period = 2.0 * std::numbers::pi * std::sqrt(length / g) / a;
  Stepper stepper(model, Vec3(0, 0, -g));
  State state = initial_state(model);
  state.q[0] = amplitude;
  const double h = 1e-4;
  int crossings = 0;
  double first = 0.0, last = 0.0;
  for (int i = 0; crossings < 5; ++i) {
    const double before = state.q[0];
    stepper.midpoint_step(h, state);
    if ((before > 0) == (state.q[0] > 0)) continue;
    last = h * (i + before / (before - state.q[0]));
    if (crossings++ == 0) first = last;
  }
  EXPECT_NEAR((last - first) / 2.0, period, 1e-6 * period);
}

}  // namespace
}  // namespace tribo
