#include "tribo/multibody/state.h"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/support/allocation_counter.h"
#include "tests/support/random.h"
#include "tests/support/random_model.h"
#include "tribo/base/errors.h"
#include "tribo/multibody/model_builder.h"
#include "tribo/multibody/rotation.h"

namespace tribo {
namespace {

TEST(Rotation, ExpIsTheAxisAngleRotation) {
  test::Random random(1);
  for (double angle : {1e-200, 1e-12, 1e-8, 9.99e-5, 1.01e-4, 0.1, 1.0, 3.0, 6.0, 100.0}) {
    const Vec3 axis = random.vec3().normalized();
    const Quat exact(Eigen::AngleAxisd(angle, axis));
    EXPECT_LE((rotation_exp(angle * axis).coeffs() - exact.coeffs()).norm(), 1e-15 + 2e-16 * angle) << angle;
  }
  EXPECT_EQ(rotation_exp(Vec3::Zero()).coeffs(), Quat::Identity().coeffs());
}

TEST(Rotation, LogIsTheInverseOfExp) {
  test::Random random(2);
  for (double angle : {0.0, 1e-200, 1e-12, 1e-8, 1e-4, 0.1, 1.0, 3.0, 3.14159}) {
    const Vec3 w = angle * random.vec3().normalized();
    const Quat q = rotation_exp(w);
    EXPECT_LE((rotation_log(q) - w).norm(), 1e-15 * angle) << angle;
    EXPECT_LE((rotation_log(Quat(-q.coeffs())) - w).norm(), 1e-15 * angle) << angle;
  }
  const Quat half_turn(0.0, 0.0, 1.0, 0.0);
  EXPECT_NEAR(rotation_log(half_turn).norm(), std::numbers::pi, 1e-15);
}

TEST(State, DifferenceUndoesIntegrate) {
  test::Random random(3);
  for (int i = 0; i < 30; ++i) {
    const Model model = test::random_model(random);
    const State state = test::random_state(random, model);
    Vector to = state.q, v;
    integrate(model, state.v, 1.0, to);  // angles below sqrt(3) < pi
    difference(model, state.q, to, v);
    EXPECT_LE((v - state.v).norm(), 1e-13 * (1 + state.q.norm()));
    integrate(model, state.v, -1.0, to);
    difference(model, state.q, to, v);
    EXPECT_LE(v.norm(), 1e-13 * (1 + state.q.norm()));
  }
}

TEST(State, QuaternionsTurnInBodyAxesAndStayUnit) {
  ModelBuilder builder;
  builder.add_free_body("b", {}, {1.0, Vec3::Zero(), Mat3::Identity()});
  const Model model = builder.build();
  State state = initial_state(model);
  state.v << 1, 0, 0, 0, 0, std::numbers::pi / 2;  // a quarter turn about z
  integrate(model, state.v, 1.0, state.q);
  state.v << 0, 2, 0, std::numbers::pi / 2, 0, 0;  // about the body's x, which is the world's y now
  integrate(model, state.v, 1.0, state.q);
  const Quat q(state.q[3], state.q[4], state.q[5], state.q[6]);
  EXPECT_LE((state.q.head<3>() - Vec3(1, 2, 0)).norm(), 1e-15);
  EXPECT_LE((q * Vec3::UnitX() - Vec3::UnitY()).norm(), 1e-15);
  EXPECT_LE((q * Vec3::UnitY() - Vec3::UnitZ()).norm(), 1e-15);
  for (int i = 0; i < 1000; ++i) integrate(model, state.v, 0.37, state.q);
  EXPECT_NEAR(state.q.tail<4>().norm(), 1.0, 1e-15);
}

TEST(State, NormalizeScalesQuaternionsAlone) {
  ModelBuilder builder;
  const Index body = builder.add_body({.inertia = {1.0, Vec3::Zero(), Mat3::Identity()}});
  builder.add_joint({.body = body, .kind = JointKind::slide});
  builder.add_joint({.name = "shoulder", .body = body, .kind = JointKind::ball});
  const Model model = builder.build();
  Vector q(5);
  q << 3.0, 0.0, 3e200, 0.0, 4e200;
  normalize(model, q);
  EXPECT_LE((q - (Vector(5) << 3.0, 0.0, 0.6, 0.0, 0.8).finished()).norm(), 1e-15);
  q.tail<4>().setZero();
  try {
    normalize(model, q);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("shoulder"), std::string::npos) << error.what();
  }
  q.resize(4);
  EXPECT_THROW(normalize(model, q), InvalidInput);
}

TEST(State, IntegratesWithoutAllocating) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  test::Random random(4);
  const Model model = test::random_model(random, {.bodies = 20});
  State state = test::random_state(random, model);
  Vector v = state.v;
  const Vector from = state.q;
  const std::size_t before = test::allocation_count();
  integrate(model, state.v, 0.1, state.q);
  difference(model, from, state.q, v);
  EXPECT_EQ(test::allocation_count(), before);
}

}  // namespace
}  // namespace tribo
