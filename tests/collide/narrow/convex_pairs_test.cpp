// Every pair of convex kinds against a slow independent signed distance, and the properties of its manifold.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "tests/support/allocation_counter.h"
#include "tests/support/collide_checks.h"
#include "tribo/collide/shapes/convex_hull.h"

namespace tribo::test {
namespace {

// Farthest reach of the shape along a unit direction of the world, relative to its position.
double reach(const Shape& shape, const Pose& pose, const Vec3& direction) {
  const Vec3 n = pose.rotation.transpose() * direction, s = shape.size();
  switch (shape.kind()) {
    case ShapeKind::sphere:
      return s.x();
    case ShapeKind::capsule:
      return s.x() + s.y() * std::abs(n.z());
    case ShapeKind::box:
      return s.dot(n.cwiseAbs());
    case ShapeKind::cylinder:
      return s.x() * std::hypot(n.x(), n.y()) + s.y() * std::abs(n.z());
    case ShapeKind::ellipsoid:
      return s.cwiseProduct(n).norm();
    default:
      break;
  }
  double most = -1e300;
  for (const Vec3& vertex : shape.hull().vertices()) most = std::max(most, n.dot(vertex));
  return most;
}

double separation(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, const Vec3& n) {
  return n.dot(pose_b.position - pose_a.position) - reach(a, pose_a, n) - reach(b, pose_b, -n);
}

// The signed distance is the largest separation over all directions. A value found by sampling and refining is
// below it, up to about 1e-3.
double sampled_distance(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, Dice& dice) {
  double result = -1e300;
  for (int start = 0; start < 6; ++start) {
    Vec3 n = Vec3::UnitZ();
    double best = -1e300;
    const auto attempt = [&](const Vec3& direction) {
      if (const double s = separation(a, pose_a, b, pose_b, direction); s > best) best = s, n = direction;
    };
    for (int k = 0; k < 150; ++k) attempt(dice.direction());
    for (double step = 0.3; step > 1e-7; step *= 0.7)
      for (int k = 0; k < 12; ++k) attempt((n + step * dice.direction()).normalized());
    result = std::max(result, best);
  }
  return result;
}

std::shared_ptr<const ConvexHull> random_hull(unsigned seed, int count) {
  Dice dice(seed);
  std::vector<Vec3> points;
  for (int k = 0; k < count; ++k) points.push_back(0.3 * dice.direction().cwiseProduct(Vec3(1.0, 0.8, 0.6)));
  return ConvexHull::around(points);
}

Shape sample_shape(int which) {
  switch (which) {
    case 0:
      return Shape::sphere(0.25);
    case 1:
      return Shape::capsule(0.12, 0.3);
    case 2:
      return Shape::box({0.3, 0.2, 0.15});
    case 3:
      return Shape::cylinder(0.2, 0.25);
    case 4:
      return Shape::ellipsoid({0.3, 0.2, 0.15});
    case 5:
      return Shape::hull(random_hull(7, 20));
    default:
      return Shape::hull(random_hull(8, 200));
  }
}
constexpr int shape_count = 7;

class ConvexPairs : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  Shape a = sample_shape(std::get<0>(GetParam())), b = sample_shape(std::get<1>(GetParam()));
  Dice dice{static_cast<unsigned>(17 * std::get<0>(GetParam()) + std::get<1>(GetParam()))};

  // Poses at which the signed distance is about `gap`.
  std::pair<Pose, Pose> near_contact(double gap) {
    const Pose pose_a = dice.pose(1.0);
    Pose pose_b{pose_a.position, dice.rotation()};
    const Vec3 n = dice.direction();
    pose_b.position += n * (gap + reach(a, pose_a, n) + reach(b, pose_b, -n)) + 0.05 * dice.vector(1.0);
    return {pose_a, pose_b};
  }
};

// Two bounds that meet: the deepest gap is the separation along its own normal, and no direction separates more.
TEST_P(ConvexPairs, GapIsTheSignedDistance) {
  const double margin = 0.1;
  for (int trial = 0; trial < 25; ++trial) {
    const auto [pose_a, pose_b] = near_contact(dice.in(-0.15, 0.05));
    const double distance = sampled_distance(a, pose_a, b, pose_b, dice);
    const auto points = contacts(a, pose_a, b, pose_b, margin);
    if (distance > margin) {
      EXPECT_TRUE(points.empty());
      continue;
    }
    if (distance > margin - 1e-3) continue;
    ASSERT_FALSE(points.empty()) << distance;
    expect_valid(points, margin);
    const ContactPoint& deep = deepest_point(points);
    EXPECT_NEAR(deep.gap, separation(a, pose_a, b, pose_b, deep.normal), 1e-6);
    EXPECT_GE(deep.gap, distance - 1e-6);
  }
}

TEST_P(ConvexPairs, SwappedShapesGiveTheSameContact) {
  for (int trial = 0; trial < 40; ++trial) {
    const auto [pose_a, pose_b] = near_contact(dice.in(-0.05, 0.02));
    const auto forward = contacts(a, pose_a, b, pose_b, 0.03),
               backward = contacts(b, pose_b, a, pose_a, 0.03);
    ASSERT_EQ(forward.empty(), backward.empty());
    if (forward.empty()) continue;
    EXPECT_NEAR(deepest(forward), deepest(backward), 1e-6);
    EXPECT_NEAR((forward[0].normal + backward[0].normal).norm(), 0.0, a.kind() == b.kind() ? 1e-2 : 1e-12);
  }
}

TEST_P(ConvexPairs, MovingBothTogetherMovesTheContacts) {
  for (int trial = 0; trial < 40; ++trial) {
    const auto [pose_a, pose_b] = near_contact(dice.in(-0.05, 0.02));
    const Pose motion = dice.pose(3.0);
    const auto before = contacts(a, pose_a, b, pose_b, 0.03);
    const auto after = contacts(a, motion * pose_a, b, motion * pose_b, 0.03);
    ASSERT_EQ(before.empty(), after.empty());
    if (before.empty()) continue;
    EXPECT_NEAR(deepest(before), deepest(after), 1e-6);
    EXPECT_NEAR((motion.rotation * deepest_point(before).normal - deepest_point(after).normal).norm(), 0.0,
                1e-6);
  }
}

TEST_P(ConvexPairs, ClosingTheGapBringsThemToTouch) {
  for (int trial = 0; trial < 40; ++trial) {
    auto [pose_a, pose_b] = near_contact(dice.in(-0.05, 0.02));
    const auto points = contacts(a, pose_a, b, pose_b, 0.03);
    if (points.empty()) continue;
    const ContactPoint& deep = deepest_point(points);
    pose_b.position -= deep.gap * deep.normal;
    const auto closed = contacts(a, pose_a, b, pose_b, 0.03);
    ASSERT_FALSE(closed.empty());
    EXPECT_NEAR(deepest(closed), 0.0, 2e-6);
  }
}

TEST_P(ConvexPairs, DegeneratePosesGiveFiniteContacts) {
  const Mat3 quarter = turn(M_PI / 2, Vec3::UnitX()), third = turn(2.0 * M_PI / 3, Vec3(1, 1, 1));
  for (const Mat3& rotation : {Mat3(Mat3::Identity()), quarter, third})
    for (const Vec3& offset :
         {Vec3(0, 0, 0), Vec3(1e-13, 0, 0), Vec3(0.1, 0, 0), Vec3(0, 0.2, 0), Vec3(0, 0, 0.3)}) {
      const auto points = contacts(a, Pose{}, b, Pose{offset, rotation}, 0.01);
      if (sampled_distance(a, Pose{}, b, Pose{offset, rotation}, dice) < 0.0) {
        ASSERT_FALSE(points.empty());
      }
      EXPECT_LE(points.size(), 8u);
      expect_valid(points, 0.01);
    }
}

TEST_P(ConvexPairs, WarmCallsDoNotAllocate) {
  NarrowPhase narrow;
  std::vector<ContactPoint> points;
  points.reserve(64);
  std::vector<std::pair<Pose, Pose>> poses;
  for (int k = 0; k < 20; ++k) poses.push_back(near_contact(dice.in(-0.05, 0.02)));
  for (int round = 0; round < 2; ++round) {
    const std::size_t before = allocation_count();
    for (const auto& [pose_a, pose_b] : poses) {
      points.clear();
      narrow.collide(a, pose_a, b, pose_b, 0.03, points);
    }
    if (round > 0 && counts_allocations()) {
      EXPECT_EQ(allocation_count(), before);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConvexPairs,
                         testing::Combine(testing::Range(0, shape_count), testing::Range(0, shape_count)),
                         [](const auto& instance) {
                           const auto name = [](int k) {
                             return std::string(to_string(sample_shape(k).kind())) + (k == 6 ? "_large" : "");
                           };
                           return name(std::get<0>(instance.param)) + "_" + name(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace tribo::test
