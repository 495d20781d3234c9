#include "tribo/multibody/dynamics.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/support/allocation_counter.h"
#include "tests/support/random.h"
#include "tests/support/random_model.h"
#include "tribo/multibody/model_builder.h"
#include "tribo/multibody/rotation.h"

namespace tribo {
namespace {

const Vec3 kGravity(0.3, -0.2, -9.81);

// sum_b J_b^T M_b J_b at the centres of mass, plus the armature.
Matrix dense_mass(const Model& model, const Kinematics& kinematics, Index tree) {
  const Index n = model.tree_dof_count(tree);
  Matrix mass = model.armature().segment(model.tree_dof(tree), n).asDiagonal();
  Eigen::Matrix<double, 3, Eigen::Dynamic> jp(3, n), jr(3, n);
  for (Index b = model.tree_body(tree); b < model.tree_body_end(tree); ++b) {
    const Mat3& r = kinematics.pose(b).rotation;
    kinematics.point_jacobian(b, kinematics.center(b), jp);
    kinematics.angular_jacobian(b, jr);
    mass += model.inertia(b).mass * jp.transpose() * jp +
            jr.transpose() * (r * model.inertia(b).rotational * r.transpose()) * jr;
  }
  return mass;
}

struct Mechanism {
  explicit Mechanism(unsigned seed, const test::RandomModel& options = {})
      : random(seed), model(test::random_model(random, options)), kinematics(model), dynamics(model) {
    set(test::random_state(random, model));
  }
  void set(const State& s) {
    state = s;
    kinematics.set_positions(state.q);
    kinematics.set_velocities(state.v);
    dynamics.set_positions(kinematics);
  }

  test::Random random;
  Model model;
  State state;
  Kinematics kinematics;
  Dynamics dynamics;
};

// M(q (+) h u) w, or the energies there.
Vector momentum_at(const Mechanism& s, const Vector& u, double h, const Vector& w) {
  Vector q = s.state.q, y;
  integrate(s.model, u, h, q);
  Kinematics kinematics(s.model);
  Dynamics dynamics(s.model);
  kinematics.set_positions(q);
  dynamics.set_positions(kinematics);
  dynamics.multiply_mass(w, y);
  return y;
}

double weight_energy_at(const Mechanism& s, const Vector& u, double h) {
  Vector q = s.state.q;
  integrate(s.model, u, h, q);
  Kinematics kinematics(s.model);
  kinematics.set_positions(q);
  return Dynamics::weight_energy(kinematics, kGravity);
}

TEST(Dynamics, MassIsTheSumOverBodies) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Mechanism s(seed);
    Vector product;
    s.dynamics.multiply_mass(s.state.v, product);
    double energy = 0.0;
    for (Index t = 0; t < s.model.tree_count(); ++t) {
      const Matrix exact = dense_mass(s.model, s.kinematics, t);
      const Matrix mass = s.dynamics.mass(t);
      EXPECT_LE((mass - exact).cwiseAbs().maxCoeff(), 1e-12 * exact.cwiseAbs().maxCoeff());
      EXPECT_EQ(mass, mass.transpose());
      for (Index d = 0; d < mass.rows(); ++d) EXPECT_EQ(s.dynamics.mass_diagonal(t, d), mass(d, d));
      const Vector v = s.state.v.segment(s.model.tree_dof(t), s.model.tree_dof_count(t));
      EXPECT_LE((product.segment(s.model.tree_dof(t), v.size()) - exact * v).norm(),
                1e-12 * (exact * v).norm());
      energy += 0.5 * v.dot(exact * v);
    }
    EXPECT_NEAR(s.dynamics.kinetic_energy(s.state.v), energy, 1e-12 * (1 + energy));
  }
}

// The kinetic energy of the bodies from differences of their poses alone: twice (T(v + w) - T(v) - T(w)) / 2 is
// v M w.
TEST(Dynamics, MassIsTheHessianOfTheKineticEnergy) {
  for (unsigned seed = 40; seed < 50; ++seed) {
    Mechanism s(seed, {.bodies = 6});
    const auto energy = [&](const Vector& v) {
      const double h = 1e-5;
      Kinematics before(s.model), after(s.model);
      Vector q0 = s.state.q, q1 = s.state.q;
      integrate(s.model, v, -h, q0);
      integrate(s.model, v, h, q1);
      before.set_positions(q0);
      after.set_positions(q1);
      double sum = 0.5 * v.dot(s.model.armature().cwiseProduct(v));
      for (Index b = 1; b < s.model.body_count(); ++b) {
        const RigidInertia& inertia = s.model.inertia(b);
        const Vec3 speed = (after.center(b) - before.center(b)) / (2 * h);
        const Vec3 spin = rotation_log(before.orientation(b).conjugate() * after.orientation(b)) / (2 * h);
        sum += 0.5 * inertia.mass * speed.squaredNorm() + 0.5 * spin.dot(inertia.rotational * spin);
      }
      return sum;
    };
    const Vector w = s.random.vector(s.model.dof_count());
    Vector mw;
    s.dynamics.multiply_mass(w, mw);
    const double numeric = energy(s.state.v + w) - energy(s.state.v) - energy(w);
    EXPECT_NEAR(s.state.v.dot(mw), numeric, 1e-7 * (1 + s.dynamics.kinetic_energy(w)));
  }
}

// Euler-Poincare: with p = M v and q moving by v,  pdot - dT/dq + dV/dq  at vdot = 0, and w x p_w more for every
// rotation given by its angular velocity in body axes.
Vector lagrange_bias(Mechanism& s) {
  const double h = 1e-5;
  const Vector& v = s.state.v;
  Vector bias = (momentum_at(s, v, h, v) - momentum_at(s, v, -h, v)) / (2 * h);
  Vector momentum;
  s.dynamics.multiply_mass(v, momentum);
  for (Index d = 0; d < s.model.dof_count(); ++d) {
    const Vector unit = Vector::Unit(s.model.dof_count(), d);
    bias[d] -= 0.5 * (v.dot(momentum_at(s, unit, h, v)) - v.dot(momentum_at(s, unit, -h, v))) / (2 * h);
    bias[d] += (weight_energy_at(s, unit, h) - weight_energy_at(s, unit, -h)) / (2 * h);
  }
  for (Index j = 0; j < s.model.joint_count(); ++j) {
    const Index place = traits_of(s.model.joint(j).kind).quaternion;
    if (place < 0) continue;
    const Index d = s.model.joint_dof(j) + place;
    bias.segment<3>(d) += v.segment<3>(d).cross(momentum.segment<3>(d));
  }
  return bias;
}

TEST(Dynamics, BiasIsLagranges) {
  for (unsigned seed = 100; seed < 130; ++seed) {
    Mechanism s(seed, {.bodies = 8});
    Vector bias;
    s.dynamics.bias(s.kinematics, kGravity, bias);
    const Vector numeric = lagrange_bias(s);
    EXPECT_LE((bias - numeric).cwiseAbs().maxCoeff(), 1e-7 * (1 + numeric.cwiseAbs().maxCoeff()))
        << "seed " << seed;
  }
}

TEST(Dynamics, SolvesWithTheMass) {
  for (unsigned seed = 200; seed < 230; ++seed) {
    Mechanism s(seed);
    Vector x;
    s.dynamics.multiply_mass(s.state.v, x);
    ASSERT_TRUE(s.dynamics.factorize());
    s.dynamics.solve_in_place(x);
    EXPECT_LE((x - s.state.v).norm(), 1e-9 * s.state.v.norm()) << "seed " << seed;
  }
}

TEST(Dynamics, WeldedBodiesCountAsOne) {
  test::Random random(7);
  const RigidInertia first = test::random_inertia(random), second = test::random_inertia(random);
  const Quat rotation = test::random_rotation(random);
  const Vec3 position = random.vec3();
  ModelBuilder welded, single;
  const Index base = welded.add_body({.parent = 0, .inertia = first});
  welded.add_joint({.body = base, .kind = JointKind::free});
  const Index top =
      welded.add_body({.parent = base, .position = position, .rotation = rotation, .inertia = second});
  welded.add_body({.parent = top, .inertia = first});
  single.add_free_body("one", {}, first + (second + first).placed({position, rotation.toRotationMatrix()}));
  const Model two = welded.build(), one = single.build();
  EXPECT_FALSE(two.is_free_body(0));
  EXPECT_TRUE(one.is_free_body(0));
  const State state = test::random_state(random, one);
  const auto evaluate = [&](const Model& model, Vector& bias) {
    Kinematics kinematics(model);
    Dynamics dynamics(model);
    kinematics.set_positions(state.q);
    kinematics.set_velocities(state.v);
    dynamics.set_positions(kinematics);
    dynamics.bias(kinematics, kGravity, bias);
    return Matrix(dynamics.mass(0));
  };
  Vector bias_two, bias_one;
  const Matrix mass_two = evaluate(two, bias_two), mass_one = evaluate(one, bias_one);
  EXPECT_LE((mass_two - mass_one).cwiseAbs().maxCoeff(), 1e-13 * mass_one.norm());
  EXPECT_LE((bias_two - bias_one).norm(), 1e-13 * bias_one.norm());
}

TEST(Dynamics, SingularMassIsReported) {
  ModelBuilder builder;  // two point masses, the second slides along the axis of the first hinge
  const Index arm = builder.add_body({.parent = 0});
  builder.add_joint({.body = arm, .axis = Vec3::UnitX()});
  const Index bead = builder.add_body({.parent = arm, .inertia = RigidInertia::point(1.0, Vec3::Zero())});
  builder.add_joint({.body = bead, .kind = JointKind::slide, .axis = Vec3::UnitZ()});
  const Model model = builder.build();
  Kinematics kinematics(model);
  Dynamics dynamics(model);
  dynamics.set_positions(kinematics);
  EXPECT_FALSE(dynamics.factorize());
  kinematics.set_positions(Vec2(0.3, 0.5));
  dynamics.set_positions(kinematics);
  EXPECT_TRUE(dynamics.factorize());
  EXPECT_NEAR(dynamics.mass(0)(0, 0), 0.25, 1e-15);
}

TEST(Dynamics, StepsWithoutAllocating) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  Mechanism s(300, {.bodies = 20});
  Vector bias(s.model.dof_count()), product(s.model.dof_count());
  const std::size_t before = test::allocation_count();
  s.dynamics.set_positions(s.kinematics);
  s.dynamics.bias(s.kinematics, kGravity, bias);
  s.dynamics.multiply_mass(s.state.v, product);
  s.dynamics.factorize();
  s.dynamics.solve_in_place(bias);
  EXPECT_EQ(test::allocation_count(), before);
}

}  // namespace
}  // namespace tribo
