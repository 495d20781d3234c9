// Plane, sphere, capsule and box among each other: positions, gaps, normals and features known in closed form.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/collide_checks.h"

namespace tribo::test {
namespace {

const Pose origin;

Pose at(double x, double y, double z, const Mat3& rotation = Mat3::Identity()) {
  return {Vec3(x, y, z), rotation};
}

TEST(PlanePairs, SphereAboveAndInside) {
  for (const double height : {0.25, 0.15, -0.3}) {
    const auto points =
        contacts(Shape::plane(), at(0, 0, 0.5), Shape::sphere(0.2), at(1, 2, 0.5 + height), 0.1);
    ASSERT_EQ(points.size(), 1u);
    EXPECT_NEAR(points[0].gap, height - 0.2, 1e-15);
    EXPECT_NEAR((points[0].normal - Vec3::UnitZ()).norm(), 0.0, 1e-15);
    EXPECT_NEAR((points[0].position - Vec3(1, 2, 0.5 + 0.5 * (height - 0.2))).norm(), 0.0, 1e-15);
  }
  EXPECT_TRUE(contacts(Shape::plane(), origin, Shape::sphere(0.2), at(0, 0, 0.31), 0.1).empty());
}

TEST(PlanePairs, SwappedOrderTurnsTheNormal) {
  const auto points = contacts(Shape::sphere(0.2), at(0, 0, 0.1), Shape::plane(), origin, 0.0);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR((points[0].normal + Vec3::UnitZ()).norm(), 0.0, 1e-15);
  EXPECT_NEAR(points[0].gap, -0.1, 1e-15);
}

TEST(PlanePairs, LyingCapsuleRestsOnBothEnds) {
  const auto points = contacts(Shape::plane(), origin, Shape::capsule(0.1, 0.5),
                               at(0, 0, 0.1, turn(M_PI / 2 + 0.01, Vec3::UnitX())), 0.05);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_NEAR(points[0].gap, 0.5 * std::sin(0.01), 1e-12);
  EXPECT_NEAR(points[1].gap, -0.5 * std::sin(0.01), 1e-12);
}

TEST(PlanePairs, TiltedBoxHasItsOwnGapAtEachCorner) {
  const Vec3 half(0.3, 0.2, 0.1);
  const double tilt = 1e-3;
  const Pose pose = at(0, 0, 0.1005, turn(tilt, Vec3(1, 1, 0)));
  const auto points = contacts(Shape::plane(), origin, Shape::box(half), pose, 0.01);
  ASSERT_EQ(points.size(), 4u);
  for (const ContactPoint& point : points) {
    const Vec3 corner((point.feature & 1 ? 1 : -1) * half.x(), (point.feature & 2 ? 1 : -1) * half.y(),
                      (point.feature & 4 ? 1 : -1) * half.z());
    EXPECT_NEAR(point.gap, (pose * corner).z(), 1e-15);
    EXPECT_LT(corner.z(), 0.0);
  }
  EXPECT_EQ(features(points).size(), 4u);
}

TEST(PlanePairs, StandingCylinderRestsOnItsWholeRim) {
  const auto points = contacts(Shape::plane(), origin, Shape::cylinder(0.2, 0.5), at(0, 0, 0.5), 0.001);
  ASSERT_EQ(points.size(), 8u);
  Vec3 sum = Vec3::Zero();
  for (const ContactPoint& point : points) {
    EXPECT_NEAR(point.position.head<2>().norm(), 0.2, 1e-14);
    EXPECT_NEAR(point.gap, 0.0, 1e-14);
    sum += point.position;
  }
  EXPECT_NEAR(sum.norm(), 0.0, 1e-13);
}

TEST(PlanePairs, TiltedCylinderTouchesAtItsLowestPoint) {
  const double tilt = 0.3, radius = 0.2, half = 0.5;
  const Pose pose =
      at(0, 0, 0.6, turn(0.2, Vec3::UnitZ()) * turn(tilt, Vec3::UnitY()) * turn(0.15, Vec3::UnitZ()));
  const auto points = contacts(Shape::plane(), origin, Shape::cylinder(radius, half), pose, 0.07);
  EXPECT_NEAR(deepest(points), 0.6 - half * std::cos(tilt) - radius * std::sin(tilt), 1e-12);
  expect_valid(points, 0.07);
}

TEST(PlanePairs, LyingCylinderRestsOnALine) {
  const Pose pose = at(0, 0, 0.2, turn(M_PI / 2, Vec3::UnitX()) * turn(0.3, Vec3::UnitZ()));
  const auto points = contacts(Shape::plane(), origin, Shape::cylinder(0.2, 0.5), pose, 1e-3);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_NEAR(std::abs(points[0].position.y() - points[1].position.y()), 1.0, 1e-12);
  for (const ContactPoint& point : points) EXPECT_NEAR(point.gap, 0.0, 1e-12);
}

TEST(PlanePairs, EllipsoidTouchesInItsSupportPoint) {
  Dice dice(3);
  const Vec3 axes(0.3, 0.2, 0.1);
  for (int trial = 0; trial < 50; ++trial) {
    const Pose plane = dice.pose(1.0), pose = dice.pose(1.0);
    const auto points = contacts(Shape::plane(), plane, Shape::ellipsoid(axes), pose, 10.0);
    ASSERT_EQ(points.size(), 1u);
    const Vec3 n = plane.rotation.col(2);
    const double reach = axes.cwiseProduct(pose.rotation.transpose() * n).norm();
    EXPECT_NEAR(points[0].gap, n.dot(pose.position - plane.position) - reach, 1e-13);
  }
}

TEST(SpherePairs, Spheres) {
  const auto points = contacts(Shape::sphere(0.3), at(1, 0, 0), Shape::sphere(0.5), at(1, 0.7, 0), 0.0);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(points[0].gap, -0.1, 1e-15);
  EXPECT_NEAR((points[0].normal - Vec3::UnitY()).norm(), 0.0, 1e-15);
  EXPECT_NEAR((points[0].position - Vec3(1, 0.25, 0)).norm(), 0.0, 1e-15);
}

TEST(SpherePairs, DegenerateCentresGiveUnitNormals) {
  const Shape ball = Shape::sphere(0.3);
  for (const Shape& other :
       {ball, Shape::capsule(0.1, 0.4), Shape::box({0.2, 0.3, 0.4}), Shape::cylinder(0.2, 0.3)}) {
    const auto points = contacts(ball, origin, other, origin, 0.0);
    ASSERT_EQ(points.size(), 1u) << to_string(other.kind());
    expect_valid(points, 0.0);
    EXPECT_LT(points[0].gap, -0.29);
  }
}

TEST(SpherePairs, BoxCornerEdgeFaceAndInside) {
  const Shape box = Shape::box({1, 2, 3}), ball = Shape::sphere(0.5);
  const auto gap = [&](const Vec3& center) {
    return deepest(contacts(ball, {center, Mat3::Identity()}, box, origin, 9.0));
  };
  EXPECT_NEAR(gap({2, 0, 0}), 0.5, 1e-14);
  EXPECT_NEAR(gap({1.3, 2.4, 0}), 0.0, 1e-14);
  EXPECT_NEAR(gap({2, 3, 4}), std::sqrt(3.0) - 0.5, 1e-14);
  EXPECT_NEAR(gap({0.8, 0, 0}), -0.7, 1e-14);
  EXPECT_NEAR(gap({0, -1.9, 0}), -0.6, 1e-14);
}

TEST(CapsulePairs, CrossedOnePointParallelTwo) {
  const Shape capsule = Shape::capsule(0.1, 0.5);
  const auto crossed =
      contacts(capsule, origin, capsule, at(0.25, 0.1, 0.1, turn(M_PI / 2, Vec3::UnitX())), 0.1);
  ASSERT_EQ(crossed.size(), 1u);
  EXPECT_NEAR(crossed[0].gap, 0.05, 1e-12);
  EXPECT_NEAR((crossed[0].position - Vec3(0.125, 0, 0.1)).norm(), 0.0, 1e-12);

  const auto parallel = contacts(capsule, origin, capsule, at(0.19, 0, 0.3), 0.0);
  ASSERT_EQ(parallel.size(), 2u);
  EXPECT_NEAR(parallel[0].position.z(), -0.2, 1e-12);
  EXPECT_NEAR(parallel[1].position.z(), 0.5, 1e-12);
  for (const ContactPoint& point : parallel) EXPECT_NEAR(point.gap, -0.01, 1e-12);
}

TEST(CapsulePairs, AxesThatMeetGiveTheirCommonNormal) {
  const Shape capsule = Shape::capsule(0.1, 0.5);
  const auto points = contacts(capsule, origin, capsule, at(0, 0, 0.1, turn(M_PI / 2, Vec3::UnitX())), 0.0);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(std::abs(points[0].normal.x()), 1.0, 1e-12);
  EXPECT_NEAR(points[0].gap, -0.2, 1e-12);
  expect_valid(contacts(capsule, origin, capsule, origin, 0.0), 0.0);
}

TEST(CapsuleBox, LyingOnAFaceOverhangingIt) {
  const Shape capsule = Shape::capsule(0.1, 1.0), box = Shape::box({0.4, 0.5, 0.2});
  const auto points = contacts(capsule, at(0.1, 0.2, 0.29, turn(M_PI / 2, Vec3::UnitY())), box, origin, 0.0);
  ASSERT_EQ(points.size(), 2u);
  for (const ContactPoint& point : points) {
    EXPECT_NEAR(std::abs(point.position.x()), 0.4, 1e-12);
    EXPECT_NEAR(point.gap, -0.01, 1e-12);
    EXPECT_NEAR(point.normal.z(), -1.0, 1e-12);
  }
}

TEST(CapsuleBox, CrossingAnEdgeTouchesOnce) {
  // The box stands on an edge along y; the capsule lies across it along x, slightly above.
  const Shape capsule = Shape::capsule(0.1, 1.0), box = Shape::box({0.5, 0.5, 0.5});
  const double top = 0.5 * std::sqrt(2.0);
  const auto points = contacts(capsule, at(0, 0.1, top + 0.11, turn(M_PI / 2, Vec3::UnitY())), box,
                               {Vec3::Zero(), turn(M_PI / 4, Vec3::UnitY())}, 0.02);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(points[0].gap, 0.01, 1e-12);
  EXPECT_NEAR((points[0].position - Vec3(0, 0.1, top + 0.005)).norm(), 0.0, 1e-12);
}

TEST(CapsuleBox, DeepInsideLeavesByTheNearestFace) {
  const auto points =
      contacts(Shape::capsule(0.1, 0.2), at(0.35, 0, 0), Shape::box({0.4, 0.5, 0.6}), origin, 0.0);
  ASSERT_EQ(points.size(), 2u);
  for (const ContactPoint& point : points) {
    EXPECT_NEAR(point.gap, -0.15, 1e-12);
    EXPECT_NEAR(point.normal.x(), -1.0, 1e-12);
  }
}

TEST(BoxBox, AlignedStackHasFourCornersWithLastingFeatures) {
  const Shape box = Shape::box({0.5, 0.5, 0.5});
  const auto still = contacts(box, origin, box, at(0, 0, 1.0), 0.01);
  ASSERT_EQ(still.size(), 4u);
  expect_valid(still, 0.01);
  for (const ContactPoint& point : still) {
    EXPECT_NEAR(point.gap, 0.0, 1e-14);
    EXPECT_NEAR(std::abs(point.position.x()), 0.5, 1e-12);
    EXPECT_NEAR(std::abs(point.position.y()), 0.5, 1e-12);
    EXPECT_NEAR(point.normal.z(), 1.0, 1e-12);
  }
  Dice dice(5);
  for (int trial = 0; trial < 200; ++trial) {
    const double size = std::pow(10.0, dice.in(-14.0, -5.0));
    const Pose moved{Vec3(0, 0, 1) + dice.vector(size), turn(size, dice.direction())};
    const auto points = contacts(box, origin, box, moved, 0.01);
    EXPECT_EQ(points.size(), 4u);
    EXPECT_EQ(features(points), features(still)) << size;
  }
}

TEST(BoxBox, SmallBoxOnLargeOneKeepsItsCorners) {
  const Shape small = Shape::box({0.1, 0.1, 0.1}), large = Shape::box({1, 1, 0.5});
  const Mat3 yaw = turn(0.4, Vec3::UnitZ());
  const auto points = contacts(large, origin, small, at(0.3, 0.2, 0.599, yaw), 0.0);
  ASSERT_EQ(points.size(), 4u);
  for (const ContactPoint& point : points) {
    EXPECT_NEAR(point.gap, -0.001, 1e-12);
    const Vec3 corner = yaw.transpose() * (point.position - Vec3(0.3, 0.2, 0.599));
    EXPECT_NEAR(std::abs(corner.x()), 0.1, 1e-12);
    EXPECT_NEAR(std::abs(corner.y()), 0.1, 1e-12);
  }
}

TEST(BoxBox, TurnedByAnEighthOverlapsInAnOctagon) {
  const Shape box = Shape::box({0.5, 0.5, 0.5});
  const auto points = contacts(box, origin, box, at(0, 0, 0.999, turn(M_PI / 4, Vec3::UnitZ())), 0.0);
  ASSERT_EQ(points.size(), 8u);
  expect_valid(points, 0.0);
  for (const ContactPoint& point : points) EXPECT_NEAR(point.gap, -0.001, 1e-12);
}

TEST(BoxBox, TiltedBoxHasDifferentDepths) {
  const Shape box = Shape::box({0.5, 0.5, 0.5}), floor = Shape::box({2, 2, 0.5});
  const double tilt = 1e-3;
  const auto points = contacts(floor, origin, box, at(0, 0, 1.0, turn(tilt, Vec3::UnitX())), 0.01);
  ASSERT_EQ(points.size(), 4u);
  for (const ContactPoint& point : points) {
    const double height =
        0.5 - 0.5 * std::cos(tilt) + (point.position.y() > 0.0 ? 0.5 : -0.5) * std::sin(tilt);
    EXPECT_NEAR(point.gap, height, 1e-9);
  }
}

TEST(BoxBox, CrossedEdgesTouchInOnePoint) {
  // Two boxes standing on edges, the edges crossing at a right angle.
  const Shape box = Shape::box({0.5, 0.5, 0.5});
  const double top = 0.5 * std::sqrt(2.0);
  const auto points = contacts(box, {Vec3::Zero(), turn(M_PI / 4, Vec3::UnitX())}, box,
                               {Vec3(0.1, 0.2, 2 * top - 0.01), turn(M_PI / 4, Vec3::UnitY())}, 0.0);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(points[0].gap, -0.01, 1e-12);
  EXPECT_NEAR((points[0].position - Vec3(0.1, 0.0, top - 0.005)).norm(), 0.0, 0.21);
  EXPECT_NEAR(points[0].normal.z(), 1.0, 1e-12);
}

TEST(BoxBox, SameCentreStillParts) {
  const auto points = contacts(Shape::box({0.3, 0.2, 0.1}), origin, Shape::box({0.3, 0.2, 0.1}), origin, 0.0);
  expect_valid(points, 0.0);
  ASSERT_FALSE(points.empty());
  EXPECT_NEAR(deepest(points), -0.2, 1e-12);
}

}  // namespace
}  // namespace tribo::test
