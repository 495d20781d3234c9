// Hulls: convex, closed, containing their points, with true polygons as faces.
#include "tribo/collide/shapes/convex_hull.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/collide_checks.h"
#include "tribo/base/errors.h"

namespace tribo::test {
namespace {

void expect_sound(const ConvexHull& hull, std::span<const Vec3> points, double tolerance) {
  for (Index f = 0; f < hull.face_count(); ++f) {
    EXPECT_NEAR(hull.face_normal(f).norm(), 1.0, 1e-12);
    EXPECT_GE(hull.face(f).size(), 3u);
    for (const Vec3& p : points) EXPECT_LE(hull.face_normal(f).dot(p) - hull.face_offset(f), tolerance);
    for (const Index v : hull.face(f))
      EXPECT_NEAR(hull.face_normal(f).dot(hull.vertices()[v]), hull.face_offset(f), tolerance);
  }
  // Euler: V - E + F = 2.
  EXPECT_EQ(static_cast<Index>(hull.vertices().size()) - hull.edge_count() + hull.face_count(), 2);
  for (Index v = 0; v < static_cast<Index>(hull.vertices().size()); ++v) {
    EXPECT_GE(hull.faces_at(v).size(), 3u);
    EXPECT_EQ(hull.faces_at(v).size(), hull.neighbours(v).size());
  }
}

std::vector<Vec3> grid_box(int per_side, const Mat3& rotation) {
  std::vector<Vec3> points;
  for (int x = 0; x < per_side; ++x)
    for (int y = 0; y < per_side; ++y)
      for (int z = 0; z < per_side; ++z)
        points.push_back(rotation *
                         (Vec3(x, y, z) * (2.0 / (per_side - 1)) - Vec3::Ones()).cwiseProduct(Vec3(1, 2, 3)));
  return points;
}

TEST(ConvexHull, BoxOfManyPointsHasSixFaces) {
  Dice dice(1);
  for (const int per_side : {2, 3, 5, 8})
    for (int trial = 0; trial < 10; ++trial) {
      const auto points = grid_box(per_side, trial == 0 ? Mat3(Mat3::Identity()) : dice.rotation());
      const auto hull = ConvexHull::around(points);
      EXPECT_EQ(hull->vertices().size(), 8u);
      EXPECT_EQ(hull->face_count(), 6);
      EXPECT_EQ(hull->edge_count(), 12);
      expect_sound(*hull, points, 1e-9);
      EXPECT_NEAR(hull->moments().volume, 48.0, 1e-9);
    }
}

TEST(ConvexHull, RandomPoints) {
  Dice dice(2);
  for (const int count : {4, 5, 10, 50, 400, 2000}) {
    std::vector<Vec3> on_sphere, in_cube;
    for (int k = 0; k < count; ++k)
      on_sphere.push_back(dice.direction()), in_cube.push_back(dice.vector(1.0));
    const auto sphere = ConvexHull::around(on_sphere);
    EXPECT_EQ(static_cast<int>(sphere->vertices().size()), count);
    expect_sound(*sphere, on_sphere, 2e-6);
    expect_sound(*ConvexHull::around(in_cube), in_cube, 2e-6);
  }
}

TEST(ConvexHull, RoughPlanesOfSinglePrecisionMerge) {
  auto points = grid_box(6, turn(0.7, Vec3(1, 2, 3)));
  for (Vec3& p : points) p = p.cast<float>().cast<double>();
  const auto hull = ConvexHull::around(points);
  EXPECT_EQ(hull->face_count(), 6);
  expect_sound(*hull, points, 3e-6);
}

TEST(ConvexHull, CylinderOfManySides) {
  std::vector<Vec3> points;
  for (int k = 0; k < 64; ++k)
    for (const double z : {-1.0, 0.0, 1.0})
      points.push_back({std::cos(2 * M_PI * k / 64), std::sin(2 * M_PI * k / 64), z});
  const auto hull = ConvexHull::around(points);
  EXPECT_EQ(hull->face_count(), 66);
  EXPECT_EQ(hull->vertices().size(), 128u);
  expect_sound(*hull, points, 1e-9);
}

TEST(ConvexHull, SupportIsTheFarthestVertex) {
  Dice dice(3);
  for (const int count : {10, 300}) {
    std::vector<Vec3> points;
    for (int k = 0; k < count; ++k) points.push_back(dice.direction());
    const auto hull = ConvexHull::around(points);
    Index hint = 0;
    for (int trial = 0; trial < 200; ++trial) {
      const Vec3 direction = dice.direction();
      double most = -1e9;
      for (const Vec3& p : points) most = std::max(most, direction.dot(p));
      hint = hull->support(direction, hint);
      EXPECT_NEAR(direction.dot(hull->vertices()[hint]), most, 1e-12);
    }
  }
}

TEST(ConvexHull, RefusesFlatAndBrokenPoints) {
  EXPECT_THROW(ConvexHull::around(std::vector<Vec3>(3, Vec3::Zero())), InvalidInput);
  EXPECT_THROW(ConvexHull::around(std::vector<Vec3>(10, Vec3::Ones())), InvalidInput);
  std::vector<Vec3> flat, line;
  for (int k = 0; k < 10; ++k)
    flat.push_back({std::cos(k), std::sin(k), 0.5}), line.push_back(k * Vec3(1, 2, 3));
  EXPECT_THROW(ConvexHull::around(flat), InvalidInput);
  EXPECT_THROW(ConvexHull::around(line), InvalidInput);
  flat.push_back({0, 0, std::nan("")});
  EXPECT_THROW(ConvexHull::around(flat), InvalidInput);
}

}  // namespace
}  // namespace tribo::test
