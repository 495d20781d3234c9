// Bounds and moments of the shapes against sampling, and what makers refuse.
#include "tribo/collide/shape.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/collide_checks.h"
#include "tribo/base/errors.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/distance_field.h"
#include "tribo/collide/shapes/height_field.h"
#include "tribo/collide/shapes/triangle_mesh.h"

namespace tribo::test {
namespace {

using Inside = std::function<bool(const Vec3&)>;

struct Solid {
  Shape shape;
  Inside inside;
};

std::vector<Solid> solids() {
  const Vec3 h(0.3, 0.5, 0.2), shift(0.1, 0.2, -0.3);
  const Inside moved_box = [=](const Vec3& p) { return ((p - shift).cwiseAbs().array() <= h.array()).all(); };
  return {
      {Shape::sphere(0.5), [](const Vec3& p) { return p.norm() <= 0.5; }},
      {Shape::capsule(0.3, 0.4),
       [](const Vec3& p) { return (p - Vec3(0, 0, std::clamp(p.z(), -0.4, 0.4))).norm() <= 0.3; }},
      {Shape::box(h), [=](const Vec3& p) { return (p.cwiseAbs().array() <= h.array()).all(); }},
      {Shape::cylinder(0.4, 0.5),
       [](const Vec3& p) { return std::hypot(p.x(), p.y()) <= 0.4 && std::abs(p.z()) <= 0.5; }},
      {Shape::ellipsoid(h), [=](const Vec3& p) { return p.cwiseQuotient(h).norm() <= 1.0; }},
      {Shape::hull(ConvexHull::around(box_corners(h, shift))), moved_box},
      {Shape::mesh(box_mesh(h, shift)), moved_box},
      {Shape::distance_field(DistanceField::around(box_mesh(h, shift), 0.1)), moved_box},
  };
}

TEST(Shape, MomentsMatchSampling) {
  Dice dice(1);
  for (const Solid& solid : solids()) {
    VolumeMoments sampled;
    Mat3 second = Mat3::Zero();
    const int count = 400000;
    int hits = 0;
    for (int k = 0; k < count; ++k) {
      const Vec3 p = dice.vector(0.8);
      if (!solid.inside(p)) continue;
      ++hits;
      sampled.center += p;
      second += p * p.transpose();
    }
    const double cell = 1.6 * 1.6 * 1.6 / count;
    sampled.center /= hits;
    second = cell * (second - hits * sampled.center * sampled.center.transpose());
    sampled.inertia = second.trace() * Mat3::Identity() - second;
    const VolumeMoments exact = solid.shape.moments();
    const auto name = to_string(solid.shape.kind());
    EXPECT_NEAR(exact.volume, hits * cell, 0.03 * exact.volume) << name;
    EXPECT_LT((exact.center - sampled.center).norm(), 0.01) << name;
    EXPECT_LT((exact.inertia - sampled.inertia).norm(), 0.04 * exact.inertia.norm()) << name;
  }
}

TEST(Shape, BoundsAreTight) {
  Dice dice(2);
  for (const Solid& solid : solids()) {
    const Pose pose = dice.pose(1.0);
    const Aabb box = solid.shape.bounds(pose);
    Aabb sampled{Vec3::Constant(9.0), Vec3::Constant(-9.0)};
    for (int k = 0; k < 200000; ++k) {
      const Vec3 p = dice.vector(0.8);
      if (!solid.inside(p)) continue;
      const Vec3 world = pose * p;
      sampled.lower = sampled.lower.cwiseMin(world);
      sampled.upper = sampled.upper.cwiseMax(world);
    }
    EXPECT_TRUE((box.lower.array() <= sampled.lower.array()).all() &&
                (box.upper.array() >= sampled.upper.array()).all())
        << to_string(solid.shape.kind());
    EXPECT_LT((sampled.lower - box.lower).maxCoeff(), 0.12);
    EXPECT_LT((box.upper - sampled.upper).maxCoeff(), 0.12);
  }
  EXPECT_TRUE(std::isinf(Shape::plane().bounds(Pose{}).upper.x()));
}

TEST(Shape, InsideOutMeshHasTheSameMoments) {
  const auto mesh = box_mesh({0.3, 0.5, 0.2}, {0.1, 0.2, -0.3});
  auto triangles = mesh->triangles();
  for (auto& t : triangles) std::swap(t[0], t[1]);
  const VolumeMoments outward = Shape::mesh(mesh).moments();
  const VolumeMoments inward = Shape::mesh(TriangleMesh::make(mesh->vertices(), triangles)).moments();
  EXPECT_NEAR(outward.volume, 8 * 0.3 * 0.5 * 0.2, 1e-14);
  EXPECT_NEAR(inward.volume, outward.volume, 1e-14);
  EXPECT_NEAR((inward.inertia - outward.inertia).norm(), 0.0, 1e-14);
  EXPECT_NEAR((outward.inertia - Shape::box({0.3, 0.5, 0.2}).moments().inertia).norm(), 0.0, 1e-14);
}

TEST(Shape, RefusesSizesThatMakeNoBody) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, nan, inf}) {
    EXPECT_THROW(Shape::sphere(bad), InvalidInput);
    EXPECT_THROW(Shape::capsule(bad, 1.0), InvalidInput);
    EXPECT_THROW(Shape::cylinder(1.0, bad), InvalidInput);
    EXPECT_THROW(Shape::box({1.0, bad, 1.0}), InvalidInput);
    EXPECT_THROW(Shape::ellipsoid({1.0, 1.0, bad}), InvalidInput);
  }
  EXPECT_NO_THROW(Shape::capsule(1.0, 0.0));
  EXPECT_THROW(Shape::hull(nullptr), InvalidInput);
  EXPECT_THROW(Shape::mesh(nullptr), InvalidInput);
  EXPECT_THROW(HeightField::make(2, 2, {0, 0, 0}, {1, 1, 1, 0}), InvalidInput);
  EXPECT_THROW(HeightField::make(1, 2, {0, 0}, {1, 1, 1, 0}), InvalidInput);
  EXPECT_THROW(TriangleMesh::make({Vec3::Zero()}, {{0, 0, 1}}), InvalidInput);
  EXPECT_THROW(NarrowPhase({.rim_points = 2}), InvalidInput);
}

TEST(TriangleMesh, FindsWhatBruteForceFinds) {
  Dice dice(3);
  std::vector<Vec3> vertices;
  std::vector<TriangleMesh::Triangle> triangles;
  for (int k = 0; k < 500; ++k) {
    const Vec3 center = dice.vector(1.0);
    for (int c = 0; c < 3; ++c) vertices.push_back(center + dice.vector(0.1));
    triangles.push_back({3 * k, 3 * k + 1, 3 * k + 2});
  }
  const auto mesh = TriangleMesh::make(vertices, triangles);
  for (int trial = 0; trial < 100; ++trial) {
    const Vec3 p = dice.vector(1.0), half = Vec3::Constant(dice.in(0.0, 0.3));
    const Aabb region{p - half, p + half};
    std::vector<Index> hits, expected;
    mesh->find(region, hits);
    for (Index t = 0; t < 500; ++t) {
      Aabb box{vertices[3 * t], vertices[3 * t]};
      for (int c = 1; c < 3; ++c) {
        box.lower = box.lower.cwiseMin(vertices[3 * t + c]);
        box.upper = box.upper.cwiseMax(vertices[3 * t + c]);
      }
      if (box.overlaps(region)) expected.push_back(t);
    }
    EXPECT_EQ(hits, expected);
  }
}

TEST(TriangleMesh, NeighboursOfABox) {
  const auto mesh = box_mesh({1, 1, 1}, {0, 0, 0});
  for (Index t = 0; t < 12; ++t)
    for (int k = 0; k < 3; ++k) {
      const Index other = mesh->neighbour(t, k);
      ASSERT_GE(other, 0);
      const double cosine = mesh->normal(t).dot(mesh->normal(other));
      EXPECT_TRUE(std::abs(cosine) < 1e-12 || std::abs(cosine - 1.0) < 1e-12);
    }
}

}  // namespace
}  // namespace tribo::test
