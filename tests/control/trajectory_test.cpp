#include "tribo/control/trajectory.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/multibody/rotation.h"

namespace tribo {
namespace {

Vector one(double x) { return Vector::Constant(1, x); }

TEST(Trajectory, QuinticMeetsBothEndsAndItsDerivatives) {
  const Motion1 from{0.3, -0.7, 1.1}, to{-2.0, 0.4, 5.0};
  const double T = 1.7, h = 1e-5;
  for (const auto& [time, end] : {std::pair{0.0, from}, std::pair{T, to}}) {
    const Motion1 m = quintic(from, to, T, time);
    EXPECT_NEAR(m.value, end.value, 1e-12);
    EXPECT_NEAR(m.velocity, end.velocity, 1e-12);
    EXPECT_NEAR(m.acceleration, end.acceleration, 1e-11);
  }
  for (const double time : {0.2, 0.9, 1.5}) {
    const Motion1 m = quintic(from, to, T, time), before = quintic(from, to, T, time - h),
                  after = quintic(from, to, T, time + h);
    EXPECT_NEAR(m.velocity, (after.value - before.value) / (2.0 * h), 1e-8);
    EXPECT_NEAR(m.acceleration, (after.velocity - before.velocity) / (2.0 * h), 1e-7);
  }
}

// From rest to rest the quintic is that of least jerk: its peak velocity is 15/8 of the mean one.
TEST(Trajectory, RestToRestIsTheMinimumJerkPolynomial) {
  const Trajectory path({{1.0, one(2.0)}, {3.0, one(6.0)}});
  for (const double s : {0.1, 0.25, 0.5, 0.8}) {
    const Reference now = path.at(1.0 + 2.0 * s);
    EXPECT_NEAR(now.value[0], 2.0 + 4.0 * s * s * s * (10.0 - 15.0 * s + 6.0 * s * s), 1e-12);
  }
  EXPECT_NEAR(path.at(2.0).velocity[0], 15.0 / 8.0 * 4.0 / 2.0, 1e-12);
  EXPECT_NEAR(path.at(2.0).acceleration[0], 0.0, 1e-12);
}

TEST(Trajectory, IsTwiceContinuouslyDifferentiableThroughMovingKeyframes) {
  const Trajectory path({{0.0, one(0.0)}, {1.0, one(1.0), one(1.5)}, {1.5, one(2.0)}});
  const double h = 1e-9;
  const Reference before = path.at(1.0 - h), after = path.at(1.0 + h);
  EXPECT_NEAR(before.value[0], after.value[0], 1e-8);
  EXPECT_NEAR(after.velocity[0], 1.5, 1e-6);
  EXPECT_NEAR(before.velocity[0], after.velocity[0], 1e-6);
  EXPECT_NEAR(before.acceleration[0], after.acceleration[0], 1e-5);
}

TEST(Trajectory, StandsStillOutside) {
  const Trajectory path({{1.0, one(2.0)}, {3.0, one(6.0)}});
  EXPECT_EQ(path.at(0.0).value[0], 2.0);
  EXPECT_EQ(path.at(9.0).value[0], 6.0);
  EXPECT_EQ(path.at(9.0).velocity[0], 0.0);
}

TEST(Trajectory, RefusesWhatIsNoPath) {
  EXPECT_THROW(Trajectory(std::vector<Trajectory::Keyframe>{}), InvalidInput);
  EXPECT_THROW(Trajectory({{1.0, one(0.0)}, {1.0, one(1.0)}}), InvalidInput);
  EXPECT_THROW(Trajectory({{0.0, one(0.0)}, {1.0, Vector::Zero(2)}}), InvalidInput);
  EXPECT_THROW(Trajectory({{0.0, one(std::nan(""))}}), InvalidInput);
  EXPECT_THROW(Trajectory({{0.0, one(0.0), Vector::Zero(2)}}), InvalidInput);
  EXPECT_THROW(PoseTrajectory(std::vector<PoseTrajectory::Keyframe>{}), InvalidInput);
}

TEST(PoseTrajectory, VelocitiesAreTheDerivativesOfThePose) {
  const Pose a{Vec3(0.1, -0.2, 0.3), rotation_exp(Vec3(0.4, -0.3, 0.2)).toRotationMatrix()};
  const Pose b{Vec3(0.5, 0.4, -0.1), rotation_exp(Vec3(-0.9, 1.2, 0.7)).toRotationMatrix()};
  const PoseTrajectory path({{0.0, a}, {2.0, b}});
  EXPECT_LE((path.at(2.0 - 1e-12).pose.rotation - b.rotation).norm(), 1e-9);
  const double h = 1e-5;
  for (const double time : {0.4, 1.0, 1.7}) {
    const PoseReference now = path.at(time), before = path.at(time - h), after = path.at(time + h);
    const Vec3 moved = (after.pose.position - before.pose.position) / (2.0 * h);
    const Vec3 turned =
        rotation_log(Quat(Mat3(after.pose.rotation * before.pose.rotation.transpose()))) / (2.0 * h);
    EXPECT_LE((now.velocity.head<3>() - moved).norm(), 1e-8);
    EXPECT_LE((now.velocity.tail<3>() - turned).norm(), 1e-8);
    EXPECT_LE((now.acceleration - (after.velocity - before.velocity) / (2.0 * h)).norm(), 1e-6);
  }
}

}  // namespace
}  // namespace tribo
