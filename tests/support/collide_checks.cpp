#include "tests/support/collide_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tribo::test {

Vec3 Dice::direction() {
  std::normal_distribution<double> normal;
  return Vec3(normal(engine_), normal(engine_), normal(engine_)).normalized();
}

Mat3 Dice::rotation() {
  std::normal_distribution<double> normal;
  return Quat(normal(engine_), normal(engine_), normal(engine_), normal(engine_))
      .normalized()
      .toRotationMatrix();
}

Mat3 turn(double angle, const Vec3& axis) {
  return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
}

std::vector<Vec3> box_corners(const Vec3& half, const Vec3& center) {
  std::vector<Vec3> corners;
  for (int k = 0; k < 8; ++k)
    corners.push_back(center + half.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
  return corners;
}

std::shared_ptr<const TriangleMesh> box_mesh(const Vec3& half, const Vec3& center) {
  return TriangleMesh::make(box_corners(half, center), {{0, 2, 1},
                                                        {1, 2, 3},
                                                        {4, 5, 6},
                                                        {5, 7, 6},
                                                        {0, 1, 4},
                                                        {1, 5, 4},
                                                        {2, 6, 3},
                                                        {3, 6, 7},
                                                        {0, 4, 2},
                                                        {2, 4, 6},
                                                        {1, 3, 5},
                                                        {3, 7, 5}});
}

std::vector<ContactPoint> contacts(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b,
                                   double margin, const NarrowPhaseSettings& settings) {
  NarrowPhase narrow(settings);
  std::vector<ContactPoint> points;
  narrow.collide(a, pose_a, b, pose_b, margin, points);
  return points;
}

double deepest(const std::vector<ContactPoint>& points) {
  double gap = std::numeric_limits<double>::infinity();
  for (const ContactPoint& point : points) gap = std::min(gap, point.gap);
  return gap;
}

const ContactPoint& deepest_point(const std::vector<ContactPoint>& points) {
  const ContactPoint* result = points.data();
  for (const ContactPoint& point : points)
    if (point.gap < result->gap) result = &point;
  return *result;
}

std::set<std::uint32_t> features(const std::vector<ContactPoint>& points) {
  std::set<std::uint32_t> result;
  for (const ContactPoint& point : points) result.insert(point.feature);
  return result;
}

void expect_valid(const std::vector<ContactPoint>& points, double margin) {
  for (const ContactPoint& point : points) {
    EXPECT_TRUE(point.position.allFinite() && point.normal.allFinite() && std::isfinite(point.gap));
    EXPECT_NEAR(point.normal.norm(), 1.0, 1e-12);
    EXPECT_LE(point.gap, margin);
  }
  EXPECT_EQ(features(points).size(), points.size());
}

}  // namespace tribo::test
