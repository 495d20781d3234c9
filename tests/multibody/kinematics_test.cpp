#include "tribo/multibody/kinematics.h"

#include <gtest/gtest.h>

#include "tests/support/allocation_counter.h"
#include "tests/support/random_model.h"
#include "tribo/multibody/model_builder.h"

namespace tribo {
namespace {

using Jacobian = Eigen::Matrix<double, 3, Eigen::Dynamic>;

Vec3 point_at(const Model& model, Vector q, const Vector& v, double h, Index body, const Vec3& local) {
  integrate(model, v, h, q);
  Kinematics kinematics(model);
  kinematics.set_positions(q);
  return kinematics.pose(body) * local;
}

TEST(Kinematics, HingesTurnAboutTheirAnchorsOneAfterTheOther) {
  // Two hinges and a slide on one body: Rz(a) about (1, 0, 0), then Rx(b) about the origin, then along y.
  ModelBuilder builder;
  const Index body = builder.add_body(
      {.parent = 0, .position = Vec3(0, 0, 2), .inertia = {1.0, Vec3::Zero(), Mat3::Identity()}});
  builder.add_joint({.body = body, .axis = Vec3(0, 0, 3), .anchor = Vec3(1, 0, 0), .reference = 0.1});
  builder.add_joint({.body = body, .axis = Vec3::UnitX()});
  builder.add_joint({.body = body, .kind = JointKind::slide, .axis = Vec3::UnitY(), .reference = -0.5});
  const Model model = builder.build();
  const double a = 0.7, b = -0.4, y = 0.3;
  Kinematics kinematics(model);
  kinematics.set_positions(Vec3(a + 0.1, b, y - 0.5));
  const Mat3 rz = Eigen::AngleAxisd(a, Vec3::UnitZ()).toRotationMatrix();
  const Mat3 both = rz * Eigen::AngleAxisd(b, Vec3::UnitX());
  const Vec3 expected = Vec3(1, 0, 2) - rz * Vec3::UnitX() + both * Vec3(0, y, 0);
  EXPECT_LE((kinematics.pose(body).rotation - both).norm(), 1e-15);
  EXPECT_LE((kinematics.pose(body).position - expected).norm(), 1e-15);
  EXPECT_LE((kinematics.orientation(body).toRotationMatrix() - both).norm(), 1e-15);
}

TEST(Kinematics, ReferenceCoordinatesGiveTheDescribedPoses) {
  test::Random random(1);
  for (int i = 0; i < 20; ++i) {
    const Model model = test::random_model(random);
    const Kinematics kinematics(model);  // set at the reference
    for (Index b = 1; b < model.body_count(); ++b) {
      const Pose expected = kinematics.pose(model.body_parent(b)) *
                            Pose{model.body_position(b), model.body_rotation(b).toRotationMatrix()};
      EXPECT_LE((kinematics.pose(b).position - expected.position).norm(), 1e-14);
      EXPECT_LE((kinematics.pose(b).rotation - expected.rotation).norm(), 1e-14);
    }
  }
}

TEST(Kinematics, JacobiansAreTheDerivativesOfThePoses) {
  test::Random random(2);
  for (int i = 0; i < 20; ++i) {
    const test::RandomMechanism mechanism(random);
    const auto& [model, state, kinematics] = mechanism;
    for (Index b = 0; b < model.body_count(); ++b) {
      const Vec3 local = random.vec3();
      const Vec3 point = kinematics.pose(b) * local;
      const double h = 1e-5;
      const Vec3 numeric =
          (point_at(model, state.q, state.v, h, b, local) - point_at(model, state.q, state.v, -h, b, local)) /
          (2 * h);
      EXPECT_LE((kinematics.point_velocity(b, point) - numeric).norm(), 1e-8 * (1 + numeric.norm()));
      const Index tree = model.body_tree(b);
      if (tree < 0) continue;
      Jacobian jp(3, model.tree_dof_count(tree)), jr = jp;
      kinematics.point_jacobian(b, point, jp);
      kinematics.angular_jacobian(b, jr);
      const Vector v = state.v.segment(model.tree_dof(tree), model.tree_dof_count(tree));
      EXPECT_LE((jp * v - numeric).norm(), 1e-8 * (1 + numeric.norm()));
      EXPECT_LE((jr * v - kinematics.velocity(b).tail<3>()).norm(), 1e-13 * (1 + v.norm()));
    }
  }
}

TEST(Kinematics, DriftIsTheAccelerationAtConstantVelocities) {
  test::Random random(3);
  for (int i = 0; i < 20; ++i) {
    const test::RandomMechanism mechanism(random);
    const auto& [model, state, kinematics] = mechanism;
    for (Index b = 1; b < model.body_count(); ++b) {
      if (model.body_tree(b) < 0) continue;
      const Vec3 local = random.vec3();
      const auto velocity_after = [&](double h) {
        Vector q = mechanism.state.q;
        integrate(mechanism.model, mechanism.state.v, h, q);
        Kinematics later(mechanism.model);
        later.set_positions(q);
        later.set_velocities(mechanism.state.v);
        return later.point_velocity(b, later.pose(b) * local);
      };
      const Vec3 numeric = (velocity_after(1e-5) - velocity_after(-1e-5)) / 2e-5;
      const Vec3 point = kinematics.pose(b) * local;
      const Vec6& drift = kinematics.drift(b);
      const Vec3 exact = drift.head<3>() +
                         drift.tail<3>().cross(point - kinematics.origin(model.body_tree(b))) +
                         kinematics.velocity(b).tail<3>().cross(kinematics.point_velocity(b, point));
      EXPECT_LE((exact - numeric).norm(), 1e-7 * (1 + numeric.norm()));
    }
  }
}

TEST(Kinematics, StretchedQuaternionsCountAsRotations) {
  ModelBuilder builder;
  const Index body = builder.add_free_body("b", {}, {1.0, Vec3::Zero(), Mat3::Identity()});
  const Model model = builder.build();
  Kinematics kinematics(model);
  Vector q = model.reference_coordinates();
  q.tail<4>() << 2.0, 0.0, 0.0, 2.0;
  kinematics.set_positions(q);
  EXPECT_LE((kinematics.pose(body).rotation * Vec3::UnitX() - Vec3::UnitY()).norm(), 1e-15);
  q.tail<4>().setZero();
  kinematics.set_positions(q);
  EXPECT_TRUE(kinematics.pose(body).rotation.isIdentity(0.0));
}

TEST(Kinematics, StepsWithoutAllocating) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  test::Random random(4);
  const Model model = test::random_model(random, {.bodies = 20});
  const State state = test::random_state(random, model);
  Kinematics kinematics(model);
  Jacobian jacobian(3, model.tree_dof_count(0));
  const std::size_t before = test::allocation_count();
  kinematics.set_positions(state.q);
  kinematics.set_velocities(state.v);
  kinematics.point_jacobian(model.tree_body(0), Vec3::Zero(), jacobian);
  EXPECT_EQ(test::allocation_count(), before);
}

}  // namespace
}  // namespace tribo
