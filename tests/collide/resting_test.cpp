// Bodies at rest on each other: the manifold and its features must not change with noise in the poses; sizes and
// places far from one must not matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/collide_checks.h"
#include "tribo/collide/shapes/convex_hull.h"

namespace tribo::test {
namespace {

Shape box_hull(double half) { return Shape::hull(ConvexHull::around(box_corners(Vec3::Constant(half)))); }

struct Rest {
  const char* name;
  Shape below, above;
  double height;
  std::size_t points;
};

std::vector<Rest> rests() {
  const Shape box = Shape::box({0.5, 0.5, 0.5}), drum = Shape::cylinder(0.4, 0.5);
  return {{"box on box", box, box, 1.0, 4},
          {"box on hull", box_hull(0.5), box, 1.0, 4},
          {"hull on box", box, box_hull(0.5), 1.0, 4},
          {"hull on hull", box_hull(0.5), box_hull(0.5), 1.0, 4},
          {"cylinder on box", box, drum, 1.0, 8},
          {"cylinder on cylinder", drum, drum, 1.0, 8},
          {"cylinder on plane", Shape::plane(), drum, 0.5, 8},
          {"hull on plane", Shape::plane(), box_hull(0.5), 0.5, 4},
          {"box on plane", Shape::plane(), box, 0.5, 4}};
}

TEST(Resting, FeaturesAndPointsLast) {
  Dice dice(1);
  for (const Rest& rest : rests()) {
    const auto still =
        contacts(rest.below, Pose{}, rest.above, {Vec3(0, 0, rest.height), Mat3::Identity()}, 0.01);
    ASSERT_EQ(still.size(), rest.points) << rest.name;
    for (const ContactPoint& point : still) {
      EXPECT_NEAR(point.gap, 0.0, 1e-9) << rest.name;
      EXPECT_NEAR(point.normal.z(), 1.0, 1e-12) << rest.name;
    }
    for (int trial = 0; trial < 100; ++trial) {
      const double size = std::pow(10.0, dice.in(-14.0, -7.0));
      const Pose moved{Vec3(0, 0, rest.height) + dice.vector(size), turn(size, dice.direction())};
      const auto points = contacts(rest.below, Pose{}, rest.above, moved, 0.01);
      EXPECT_EQ(features(points), features(still)) << rest.name << " " << size;
      // Edges that nearly coincide cross anywhere; the points stay at the corners all the same.
      for (const ContactPoint& point : points) {
        const auto before = std::find_if(still.begin(), still.end(),
                                         [&](const ContactPoint& p) { return p.feature == point.feature; });
        if (before != still.end()) {
          EXPECT_LT((point.position - before->position).norm(), 10.0 * size) << rest.name << " " << size;
        }
      }
    }
  }
}

// A box across the edge of another, turned so little that two edges all but coincide and cross right beside a corner:
// whether the corner or the crossing is deeper by a hair, the point of contact is the corner.
TEST(Resting, CrossingsBesideACornerDoNotMoveIt) {
  const Shape box = Shape::box({0.5, 0.5, 0.5});
  const double angle = 1e-8;
  for (const double beside : {1e-5, 1e-4, 3e-4, 9e-4}) {
    std::vector<ContactPoint> before;
    for (const double tilt : {1e-10, -1e-10, 0.0}) {
      const Pose pose{Vec3(0.5, angle * (0.5 - beside), 1.0),
                      turn(angle, Vec3::UnitZ()) * turn(tilt, Vec3::UnitY())};
      const auto points = contacts(box, Pose{}, box, pose, 0.01);
      ASSERT_EQ(points.size(), 4u);
      for (const ContactPoint& old : before) {
        const auto same = std::find_if(points.begin(), points.end(),
                                       [&](const ContactPoint& p) { return p.feature == old.feature; });
        ASSERT_NE(same, points.end());
        EXPECT_LT((same->position - old.position).norm(), 1e-7) << beside << " " << tilt;
      }
      before = points;
    }
  }
}

TEST(Resting, TiltGivesEveryCornerItsGap) {
  for (const Shape& ground : {Shape::box({2, 2, 0.5}), Shape::plane()}) {
    const double top = ground.kind() == ShapeKind::box ? 0.5 : 0.0, tilt = 1e-3;
    const auto points =
        contacts(ground, Pose{}, box_hull(0.5), {Vec3(0, 0, top + 0.5), turn(tilt, Vec3::UnitX())}, 0.01);
    ASSERT_EQ(points.size(), 4u);
    for (const ContactPoint& point : points)
      EXPECT_NEAR(point.gap,
                  0.5 - 0.5 * std::cos(tilt) + (point.position.y() > 0.0 ? 0.5 : -0.5) * std::sin(tilt),
                  1e-9);
  }
}

TEST(Resting, SizeAndPlaceDoNotMatter) {
  for (const double scale : {1e-3, 1e3}) {
    const Shape box = Shape::box(Vec3::Constant(0.5 * scale)), hull = box_hull(0.5 * scale);
    const Shape drum = Shape::cylinder(0.4 * scale, 0.5 * scale);
    const Vec3 place = scale * Vec3(300, -200, 100);
    for (const Shape& above : {box, hull, drum}) {
      const Pose pose{place + Vec3(0.1 * scale, 0, 0.9999 * scale), turn(0.3, Vec3::UnitZ())};
      const auto points = contacts(box, {place, Mat3::Identity()}, above, pose, 0.0);
      ASSERT_GE(points.size(), 4u) << to_string(above.kind());
      expect_valid(points, 0.0);
      EXPECT_NEAR(deepest(points), -1e-4 * scale, 1e-9 * scale);
    }
  }
}

TEST(Resting, NeedlesAndPlatesStayFinite) {
  Dice dice(7);
  const std::vector<Shape> shapes{Shape::box({1.0, 1e-3, 1e-3}), Shape::box({1.0, 1.0, 1e-4}),
                                  Shape::cylinder(1e-3, 1.0),    Shape::cylinder(1.0, 1e-3),
                                  Shape::capsule(1e-3, 1.0),     Shape::ellipsoid({1.0, 0.01, 0.01})};
  for (const Shape& a : shapes)
    for (const Shape& b : shapes)
      for (int trial = 0; trial < 50; ++trial) {
        const auto points = contacts(a, Pose{}, b, dice.pose(0.3), 1e-3);
        expect_valid(points, 1e-3);
        EXPECT_LE(points.size(), 8u);
      }
}

TEST(Resting, ReductionKeepsTheSupportPolygon) {
  // A drum with 40 points on its rim, reduced to 8: still all around.
  std::vector<Vec3> corners;
  for (int k = 0; k < 40; ++k)
    for (const double z : {-0.2, 0.2})
      corners.push_back({std::cos(2 * M_PI * k / 40), std::sin(2 * M_PI * k / 40), z});
  const auto points = contacts(Shape::plane(), Pose{}, Shape::hull(ConvexHull::around(corners)),
                               {Vec3(0, 0, 0.2), Mat3::Identity()}, 1e-3);
  ASSERT_EQ(points.size(), 8u);
  for (int k = 0; k < 24; ++k) {
    const Vec3 direction(std::cos(2 * M_PI * k / 24), std::sin(2 * M_PI * k / 24), 0);
    double reach = -1.0;
    for (const ContactPoint& point : points) reach = std::max(reach, direction.dot(point.position));
    EXPECT_GT(reach, 0.8);
  }
}

}  // namespace
}  // namespace tribo::test
