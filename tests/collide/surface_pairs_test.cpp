// Meshes, height fields and distance fields against convex shapes and each other.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/allocation_counter.h"
#include "tests/support/collide_checks.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/distance_field.h"
#include "tribo/collide/shapes/height_field.h"
#include "tribo/collide/shapes/triangle_mesh.h"

namespace tribo::test {
namespace {

// A square sheet in z = 0, `cells` x `cells`, or any height over it.
template <class Height>
std::shared_ptr<const TriangleMesh> sheet(int cells, double half, Height&& height) {
  std::vector<Vec3> vertices;
  std::vector<TriangleMesh::Triangle> triangles;
  for (int y = 0; y <= cells; ++y)
    for (int x = 0; x <= cells; ++x) {
      const double px = half * (2.0 * x / cells - 1.0), py = half * (2.0 * y / cells - 1.0);
      vertices.push_back({px, py, height(px, py)});
    }
  for (int y = 0; y < cells; ++y)
    for (int x = 0; x < cells; ++x) {
      const int v = y * (cells + 1) + x;
      triangles.push_back({v, v + 1, v + cells + 1});
      triangles.push_back({v + cells + 2, v + cells + 1, v + 1});
    }
  return TriangleMesh::make(vertices, triangles);
}

double flat(double, double) { return 0.0; }

std::vector<Shape> flat_grounds() {
  return {Shape::mesh(sheet(7, 2.0, flat)),
          Shape::height_field(HeightField::make(8, 8, std::vector<double>(64, 0.0), {2.0, 2.0, 1.0, 0.5}))};
}

std::vector<Shape> bodies() {
  return {Shape::sphere(0.2),
          Shape::capsule(0.1, 0.3),
          Shape::box({0.3, 0.2, 0.15}),
          Shape::cylinder(0.2, 0.25),
          Shape::ellipsoid({0.3, 0.2, 0.1}),
          Shape::hull(ConvexHull::around(box_corners({0.3, 0.2, 0.15})))};
}

// On a flat ground of triangles, seams must not be felt: the same normal and depth as on a plane.
TEST(FlatGround, IsLikeAPlane) {
  Dice dice(1);
  for (const Shape& ground : flat_grounds())
    for (const Shape& body : bodies())
      for (int trial = 0; trial < 60; ++trial) {
        Pose pose{0.8 * dice.vector(1.0), dice.rotation()};
        pose.position.z() = 0.0;
        pose.position.z() = -body.bounds(pose).lower.z() + dice.in(-0.02, 0.004);
        const auto points = contacts(body, pose, ground, Pose{}, 0.005);
        const auto exact = contacts(body, pose, Shape::plane(), Pose{}, 0.005);
        ASSERT_FALSE(points.empty());
        expect_valid(points, 0.005);
        for (const ContactPoint& point : points)
          EXPECT_NEAR(point.normal.z(), -1.0, 1e-9) << to_string(body.kind());
        EXPECT_NEAR(deepest(points), deepest(exact), 1e-6) << to_string(body.kind());
      }
}

TEST(FlatGround, LyingBoxRestsOnItsCorners) {
  for (const Shape& ground : flat_grounds()) {
    const auto points = contacts(Shape::box({0.3, 0.2, 0.1}),
                                 {Vec3(0.05, 0.1, 0.0999), turn(0.3, Vec3::UnitZ())}, ground, Pose{}, 1e-3);
    ASSERT_GE(points.size(), 4u);
    EXPECT_LE(points.size(), 8u);
    double widest = 0.0;
    for (const ContactPoint& p : points)
      for (const ContactPoint& q : points) widest = std::max(widest, (p.position - q.position).norm());
    EXPECT_NEAR(widest, 2.0 * std::hypot(0.3, 0.2), 1e-6);
    for (const ContactPoint& point : points) EXPECT_NEAR(point.gap, -1e-4, 1e-9);
  }
}

TEST(MeshPairs, BoxOverTheEdgeOfAMeshBlockIsNotPushedSideways) {
  // A block 1 x 1 x 1 of triangles; a box lies on it, half over the edge, a little too deep.
  const auto block = box_mesh(Vec3::Constant(0.5));
  for (const double overhang : {0.4, 0.5, 0.6}) {
    const auto points = contacts(Shape::box({0.2, 0.2, 0.1}), {Vec3(overhang, 0, 0.5999), Mat3::Identity()},
                                 Shape::mesh(block), Pose{}, 1e-3);
    ASSERT_GE(points.size(), 3u);
    for (const ContactPoint& point : points) {
      EXPECT_NEAR(point.normal.z(), -1.0, 1e-9);
      EXPECT_NEAR(point.gap, -1e-4, 1e-9);
    }
  }
}

TEST(HeightFieldPairs, BallOnASlopeAndInAValley) {
  std::vector<double> slope, valley;
  for (int row = 0; row < 9; ++row)
    for (int column = 0; column < 9; ++column) {
      slope.push_back(column / 8.0);
      valley.push_back(std::abs(column - 4) / 4.0);
    }
  // Slope 1 : 2 along x.
  const Shape ramp = Shape::height_field(HeightField::make(9, 9, slope, {1.0, 1.0, 1.0, 0.1}));
  const Vec3 up = Vec3(-0.5, 0, 1).normalized();
  const Vec3 center = Vec3(0.1, 0.05, 0.55) + 0.199 * up;
  const auto on_ramp = contacts(Shape::sphere(0.2), {center, Mat3::Identity()}, ramp, Pose{}, 0.01);
  ASSERT_FALSE(on_ramp.empty());
  EXPECT_NEAR(deepest(on_ramp), -0.001, 1e-9);
  for (const ContactPoint& point : on_ramp) EXPECT_NEAR((point.normal + up).norm(), 0.0, 1e-6);
  // Slopes 1 : 1 on both sides of x = 0: two contacts with normals at right angles.
  const Shape groove = Shape::height_field(HeightField::make(9, 9, valley, {1.0, 1.0, 1.0, 0.1}));
  const auto in_groove = contacts(
      Shape::sphere(0.2), {Vec3(0, 0.05, 0.199 * std::sqrt(2.0)), Mat3::Identity()}, groove, Pose{}, 0.0);
  ASSERT_EQ(in_groove.size(), 2u);
  EXPECT_NEAR(in_groove[0].normal.dot(in_groove[1].normal), 0.0, 1e-9);
  for (const ContactPoint& point : in_groove) EXPECT_NEAR(point.gap, -0.001, 1e-9);
}

TEST(HeightFieldPairs, ShapesUnderTheSurfaceAreFound) {
  const Shape ground = flat_grounds()[1];
  const auto points =
      contacts(Shape::sphere(0.1), {Vec3(0.1, 0.05, -0.15), Mat3::Identity()}, ground, Pose{}, 0.0);
  ASSERT_FALSE(points.empty());
  EXPECT_NEAR(deepest(points), -0.25, 1e-9);
  EXPECT_NEAR(points[0].normal.z(), -1.0, 1e-9);
}

TEST(MeshPairs, MeshOnMesh) {
  const Shape ground = Shape::mesh(sheet(5, 1.0, flat));
  const auto block = box_mesh(Vec3::Constant(0.2));
  const auto points = contacts(Shape::mesh(block), {Vec3(0.03, 0.04, 0.201), turn(0.2, Vec3::UnitZ())},
                               ground, Pose{}, 0.005);
  ASSERT_GE(points.size(), 4u);
  expect_valid(points, 0.005);
  EXPECT_NEAR(deepest(points), 0.001, 1e-9);
}

TEST(DistanceField, InterpolatesTheDistanceAndItsGradient) {
  Dice dice(2);
  const Shape ball = Shape::sphere(0.3), box = Shape::box({0.3, 0.2, 0.25});
  const auto field = DistanceField::of(ball, 0.02);
  for (int trial = 0; trial < 300; ++trial) {
    const Vec3 p = dice.in(0.2, 0.35) * dice.direction();
    const auto sample = field->sample(p);
    EXPECT_NEAR(sample.distance, p.norm() - 0.3, 5e-4);
    EXPECT_LT((sample.gradient - p.normalized()).norm(), 0.06);
  }
  EXPECT_NEAR(field->sample({2.0, 0, 0}).distance, 1.7, 0.02);
  // The surface lies on the ball and encloses its volume.
  for (const Vec3& v : field->surface().vertices()) EXPECT_NEAR(v.norm(), 0.3, 1e-5);
  EXPECT_NEAR(field->moments().volume, ball.moments().volume, 0.01 * ball.moments().volume);
  for (Index t = 0; t < static_cast<Index>(field->surface().triangles().size()); ++t)
    for (int k = 0; k < 3; ++k) EXPECT_GE(field->surface().neighbour(t, k), 0);
  EXPECT_NEAR(DistanceField::of(box, 0.03)->moments().volume, box.moments().volume,
              0.02 * box.moments().volume);
}

TEST(DistanceField, OfAMeshKnowsInsideAndOutside) {
  Dice dice(3);
  std::vector<Vec3> points;
  for (int k = 0; k < 40; ++k) points.push_back(0.3 * dice.direction());
  const auto hull = ConvexHull::around(points);
  const auto field = DistanceField::of(Shape::hull(hull), 0.03);
  for (int trial = 0; trial < 300; ++trial) {
    const Vec3 p = dice.vector(0.3);
    double planes = -1e9;
    for (Index f = 0; f < hull->face_count(); ++f)
      planes = std::max(planes, hull->face_normal(f).dot(p) - hull->face_offset(f));
    const double d = field->sample(p).distance;
    if (planes < 0.0)
      EXPECT_NEAR(d, planes, 0.012);  // inside, the nearest plane is the distance
    else
      EXPECT_GE(d, planes - 0.012);
  }
}

// Two rings (tori) linked like a chain touch inside the hole: no convex piece would find that.
TEST(DistanceField, LinkedRingsTouchInTheHole) {
  const auto torus = [](const Vec3& p) { return std::hypot(std::hypot(p.x(), p.y()) - 0.3, p.z()) - 0.08; };
  const Aabb region{Vec3(-0.45, -0.45, -0.15), Vec3(0.45, 0.45, 0.15)};
  const Shape ring = Shape::distance_field(DistanceField::bake(torus, region, 0.015));
  // The second ring, upright, hangs in the first: its tube rests on the inner side of the first tube.
  const double pull = 2.0 * (0.3 - 0.08) + 2e-4;
  const Pose upright{Vec3(pull + 0.0, 0, 0), turn(M_PI / 2, Vec3::UnitX())};
  const auto points = contacts(ring, Pose{}, ring, upright, 1e-3);
  ASSERT_FALSE(points.empty());
  EXPECT_LE(points.size(), 120u);
  expect_valid(points, 1e-3);
  EXPECT_NEAR(deepest(points), -2e-4, 3e-4);
  for (const ContactPoint& point : points) {
    EXPECT_NEAR((point.position - Vec3(0.22, 0, 0)).norm(), 0.0, 0.03);
    EXPECT_LT(point.normal.x(), -0.9);
  }
  EXPECT_TRUE(contacts(ring, Pose{}, ring, {Vec3(0.3, 0, 0), upright.rotation}, 1e-3).empty());
}

TEST(DistanceField, AgreesWithTheExactShapes) {
  Dice dice(5);
  const Shape ball = Shape::sphere(0.2), field = Shape::distance_field(DistanceField::of(ball, 0.02));
  const Shape ground = Shape::mesh(sheet(5, 1.0, flat));
  const Shape terrain = flat_grounds()[1];
  for (int trial = 0; trial < 20; ++trial) {
    const Pose pose{Vec3(dice.in(-0.3, 0.3), dice.in(-0.3, 0.3), 0.195), dice.rotation()};
    const Pose other{pose.position + 0.396 * dice.direction(), dice.rotation()};
    EXPECT_NEAR(deepest(contacts(field, pose, field, other, 0.01)), -0.004, 1.5e-3);
    EXPECT_NEAR(deepest(contacts(ball, pose, field, other, 0.01)), -0.004, 1e-3);
    EXPECT_NEAR(deepest(contacts(field, pose, Shape::plane(), Pose{}, 0.01)), -0.005, 1e-3);
    EXPECT_NEAR(deepest(contacts(field, pose, ground, Pose{}, 0.01)), -0.005, 1e-3);
    EXPECT_NEAR(deepest(contacts(field, pose, terrain, Pose{}, 0.01)), -0.005, 1e-3);
  }
}

TEST(SurfacePairs, PairsWithoutMeaningGiveNothing) {
  const Shape plane = Shape::plane(), terrain = flat_grounds()[1];
  EXPECT_TRUE(contacts(plane, Pose{}, plane, Pose{}, 0.1).empty());
  EXPECT_TRUE(contacts(plane, Pose{}, terrain, Pose{}, 0.1).empty());
  EXPECT_TRUE(contacts(terrain, Pose{}, terrain, Pose{}, 0.1).empty());
}

TEST(SurfacePairs, WarmCallsDoNotAllocate) {
  const Shape field = Shape::distance_field(DistanceField::of(Shape::sphere(0.2), 0.04));
  std::vector<Shape> grounds = flat_grounds();
  grounds.push_back(field);
  NarrowPhase narrow;
  std::vector<ContactPoint> points;
  points.reserve(4096);
  for (int round = 0; round < 2; ++round) {
    const std::size_t before = allocation_count();
    for (const Shape& ground : grounds)
      for (const Shape& body : {Shape::box({0.2, 0.2, 0.2}), Shape::cylinder(0.2, 0.2), field}) {
        points.clear();
        narrow.collide(body, {Vec3(0, 0, 0.19), Mat3::Identity()}, ground, Pose{}, 1e-3, points);
        EXPECT_FALSE(points.empty());
      }
    if (round > 0) {
      EXPECT_EQ(allocation_count(), before);
    }
  }
}

}  // namespace
}  // namespace tribo::test
