// Every type of joint in the table, checked against its own definition: types added later are tested as they are.
#include "tribo/multibody/joints.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/random_model.h"
#include "tribo/multibody/joint_types.h"
#include "tribo/multibody/model_builder.h"

namespace tribo {
namespace {

class JointTypes : public testing::TestWithParam<std::size_t> {
 protected:
  JointTypes() : kind_(static_cast<JointKind>(GetParam())), traits_(traits_of(kind_)), random_(7) {}

  Model model() {
    ModelBuilder builder;
    const Index body = builder.add_body({.position = random_.vec3(),
                                         .rotation = test::random_rotation(random_),
                                         .inertia = test::random_inertia(random_)});
    JointDescription joint = test::random_joint(random_, body, kind_);
    joint.reference = joint.spring_reference = 0.3;
    builder.add_joint(joint);
    return builder.build();
  }

  JointKind kind_;
  const JointTraits& traits_;
  test::Random random_;
};

TEST_P(JointTypes, TableIsConsistent) {
  with_joint(kind_, [&](auto type) { EXPECT_EQ(&type.kTraits, &traits_); });
  EXPECT_FALSE(traits_.name.empty());
  EXPECT_EQ(traits_.coordinates, traits_.dofs + (traits_.quaternion >= 0 ? 1 : 0));
  EXPECT_LE(traits_.quaternion + 4, std::max<Index>(traits_.coordinates, 3));
  for (Index k = 0; k < traits_.coordinates && !traits_.is_scalar(); ++k) {
    EXPECT_FALSE(traits_.coordinate_names[k].empty()) << k;
  }
  for (Index k = 0; k < traits_.dofs && !traits_.is_scalar(); ++k) {
    EXPECT_FALSE(traits_.dof_names[k].empty()) << k;
  }
}

TEST_P(JointTypes, ReferenceIsTheDescribedPose) {
  const Model model = this->model();
  Kinematics kinematics(model);
  kinematics.set_positions(model.reference_coordinates());
  EXPECT_LE((kinematics.pose(1).position - model.body_position(1)).norm(), 1e-15);
  EXPECT_LE((kinematics.pose(1).rotation - model.body_rotation(1).toRotationMatrix()).norm(), 1e-14);
}

TEST_P(JointTypes, DifferenceUndoesIntegration) {
  const Model model = this->model();
  const State state = test::random_state(random_, model);
  Vector to = state.q, v;
  integrate(model, state.v, 0.7, to);
  difference(model, state.q, to, v);
  EXPECT_LE((v - 0.7 * state.v).norm(), 1e-14);
  if (traits_.quaternion >= 0) {
    EXPECT_NEAR(to.segment<4>(traits_.quaternion).norm(), 1.0, 1e-15);
  }
}

// Columns and drift against differences of poses and of velocities along the motion.
TEST_P(JointTypes, ColumnsAreDerivativesOfThePose) {
  const Model model = this->model();
  const State state = test::random_state(random_, model);
  constexpr double kStep = 1e-5;
  const Vec3 local(0.2, -0.1, 0.4);
  const auto at = [&](double time, Vec3& point, Vec3& velocity) {
    Kinematics kinematics(model);
    Vector q = state.q;
    integrate(model, state.v, time, q);
    kinematics.set_positions(q);
    kinematics.set_velocities(state.v);
    point = kinematics.pose(1) * local;
    velocity = kinematics.point_velocity(1, point);
  };
  Vec3 before, now, after, velocity_before, velocity_now, velocity_after;
  at(-kStep, before, velocity_before);
  at(0.0, now, velocity_now);
  at(kStep, after, velocity_after);
  EXPECT_LE(((after - before) / (2.0 * kStep) - velocity_now).norm(), 1e-8);

  Kinematics kinematics(model);
  kinematics.set_positions(state.q);
  kinematics.set_velocities(state.v);
  const Vec3 arm = now - kinematics.origin(0), angular = kinematics.velocity(1).tail<3>();
  const Vec6& drift = kinematics.drift(1);
  const Vec3 acceleration = drift.head<3>() + drift.tail<3>().cross(arm) + angular.cross(velocity_now);
  EXPECT_LE(((velocity_after - velocity_before) / (2.0 * kStep) - acceleration).norm(), 1e-8);
}

INSTANTIATE_TEST_SUITE_P(All, JointTypes, testing::Range<std::size_t>(0, kJointTraits.size()),
                         [](const auto& tested) { return std::string(kJointTraits[tested.param].name); });

}  // namespace
}  // namespace tribo
