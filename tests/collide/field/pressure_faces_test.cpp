// Forces of contact surfaces against integrals of p = E d / H.
#include "tribo/collide/field/pressure_faces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>

#include "tribo/base/errors.h"
#include "tribo/collide/field/inner_depth.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/distance_field.h"
#include "tribo/collide/shapes/solid.h"
#include "tribo/collide/shapes/triangle_mesh.h"

namespace tribo {
namespace {

using std::numbers::pi;

struct Body {
  Shape shape;
  PressureField field = {};
  Pose pose = {};
};

std::vector<PressureFace> faces_of(const Body& a, const Body& b, Index most = 0) {
  const PressedShape pa = pressed_shape(a.shape, a.field), pb = pressed_shape(b.shape, b.field);
  PressureFaces finder;
  std::vector<PressureFace> faces;
  finder.find({pa, a.pose}, {pb, b.pose}, most, faces);
  return faces;
}

struct Net {
  Vec3 force = Vec3::Zero(), torque = Vec3::Zero();  // on b, about the origin
  double area = 0.0, stiffness = 0.0;
};
Net net(const std::vector<PressureFace>& faces) {
  Net sum;
  for (const PressureFace& f : faces) {
    const Vec3 force = f.area * f.pressure * f.normal;
    sum.force += force;
    sum.torque += f.position.cross(force);
    sum.area += f.area;
    sum.stiffness += f.stiffness;
  }
  return sum;
}

Mat3 rotated(double angle, const Vec3& axis) {
  return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
}

constexpr double kModulus = 1e5, kRadius = 0.1;

// p = E (1 - rho / r) over the disc that a plane cuts at the distance a = r - d from the centre, rho^2 = s^2 + a^2:
// F = int 2 pi s p ds = pi E (R^2 - 2 (r^3 - a^3) / (3 r)), R^2 = r^2 - a^2.
double sphere_force(double depth) {
  const double r = kRadius, a = r - depth;
  return pi * kModulus * (r * r - a * a - 2.0 / (3.0 * r) * (r * r * r - a * a * a));
}

Body soft_sphere(double height, double cells) {
  return {Shape::sphere(kRadius),
          {.modulus = kModulus, .resolution = 2.0 * kRadius / cells},
          {Vec3(0.003, -0.007, height), rotated(0.7, {1.0, 2.0, -1.0})}};
}

TEST(PressureFaces, SphereOnRigidPlaneFollowsItsCurve) {
  const Body plane{Shape::plane()};
  for (const double depth : {0.01, 0.03, 0.06}) {
    const double exact = sphere_force(depth);
    double before = 0.0;
    for (const double cells : {10.0, 20.0, 40.0}) {
      const Net sum = net(faces_of(plane, soft_sphere(kRadius - depth, cells)));
      const double error = std::abs(sum.force.z() - exact) / exact;
      if (before > 0.0) {
        EXPECT_LT(error, 0.5 * before) << depth << " " << cells;
      }
      EXPECT_LT(sum.force.head<2>().norm(), 1e-12 * exact);
      before = error;
    }
    EXPECT_LT(before, 0.01) << depth;
  }
}

// The slope of the force is the stiffness but for the rim, where p = 0.
TEST(PressureFaces, StiffnessIsTheSlopeOfTheForce) {
  const Body plane{Shape::plane()};
  const double step = 1e-5, depth = 0.03;
  const Net sum = net(faces_of(plane, soft_sphere(kRadius - depth, 40.0)));
  const double slope = (sphere_force(depth + step) - sphere_force(depth - step)) / (2.0 * step);
  EXPECT_NEAR(sum.stiffness, slope, 0.01 * slope);
}

TEST(PressureFaces, RigidBoxInFoamCarriesAreaTimesPressureExactly) {
  const double thickness = 0.05;
  const Vec3 half(0.1, 0.06, 0.04);
  const Body foam{Shape::plane(), {.modulus = kModulus, .depth = thickness}};
  for (const double depth :
       {1e-9, 0.001, 0.0123, 0.09}) {  // 0.09: its lid is below the surface, too, and does not count
    const Body box{Shape::box(half), {}, {Vec3(0.3, -0.2, half.z() - depth), rotated(0.4, Vec3::UnitZ())}};
    const Net sum = net(faces_of(foam, box));
    const double exact = 4.0 * half.x() * half.y() * kModulus * depth / thickness;
    // The depth itself is known to a rounding of the half height.
    EXPECT_NEAR(sum.force.z(), exact, 1e-12 * exact + 1e-17 / depth * exact) << depth;
    EXPECT_LT(sum.force.head<2>().norm(), 1e-11 * exact);
    // Through the middle of the box.
    EXPECT_NEAR(sum.torque.y(), -0.3 * exact, 1e-10 * exact + 1e-17 / depth * exact);
  }
}

// A soft box is softer near its sides: F = E / H (A d - L d^2 / 2 + 4 d^3 / 3), L its outline.
TEST(PressureFaces, SoftBoxOnRigidPlaneConverges) {
  const Vec3 half(0.1, 0.1, 0.1);
  const double depth = 0.02;
  const double exact =
      kModulus / half.z() * (0.04 * depth - 0.4 * depth * depth + 4.0 / 3.0 * std::pow(depth, 3));
  double before = 0.0;
  for (const double resolution : {0.02, 0.01, 0.005}) {
    const Body box{Shape::box(half),
                   {.modulus = kModulus, .resolution = resolution},
                   {Vec3(0.0, 0.0, half.z() - depth)}};
    const double error = std::abs(net(faces_of({Shape::plane()}, box)).force.z() - exact) / exact;
    if (before > 0.0) {
      EXPECT_LT(error, 0.3 * before) << resolution;
    }
    before = error;
  }
  EXPECT_LT(before, 3e-4);
}

// By symmetry two equal spheres meet in a plane, each pressed as by a rigid one, over twice the way: half the stiffness.
TEST(PressureFaces, TwoEqualFieldsHaveHalfTheStiffness) {
  const double depth = 0.02;
  const Body below{Shape::sphere(kRadius), {.modulus = kModulus, .resolution = 0.01}};
  Body above = below;
  above.pose.position.z() = 2.0 * (kRadius - depth);
  const Net pair = net(faces_of(below, above));
  const Body plane{Shape::plane(), {}, {Vec3(0.0, 0.0, kRadius - depth), rotated(pi, Vec3::UnitX())}};
  const Net single = net(faces_of(below, plane));
  EXPECT_NEAR(pair.force.z(), single.force.z(), 1e-10 * single.force.z());
  EXPECT_NEAR(pair.stiffness, 0.5 * single.stiffness, 1e-6 * single.stiffness);
}

// Which one comes first changes the sign alone.
TEST(PressureFaces, OrderOfTheShapesDoesNotMatter) {
  const Body a{Shape::cylinder(0.1, 0.05), {.modulus = 1e5, .resolution = 0.008}, {}};
  const Body b{Shape::ellipsoid({0.08, 0.05, 0.06}),
               {.modulus = 4e5, .resolution = 0.01},
               {Vec3(0.03, 0.02, 0.1), rotated(0.5, {1.0, 1.0, 0.0})}};
  const Net one = net(faces_of(a, b)), two = net(faces_of(b, a));
  EXPECT_GT(one.force.z(), 1.0);
  EXPECT_LT((one.force + two.force).norm(), 1e-12 * one.force.norm());
  EXPECT_LT((one.torque + two.torque).norm(), 1e-12);
}

// The softer of two fields gives most of the way: c = H / E in series.
TEST(PressureFaces, BoxOnTwoFoamsInSeries) {
  const Vec3 half(0.1, 0.1, 0.05);
  const double gap = -0.004;
  const Body foam{Shape::plane(), {.modulus = 1e5, .depth = 0.05}};
  const Body box{Shape::box(half),
                 {.modulus = 3e5, .depth = 0.02, .resolution = 0.01},
                 {Vec3(0.0, 0.0, half.z() + gap)}};
  const double pressure = -gap / (0.05 / 1e5 + 0.02 / 3e5);
  double most = 0.0;
  for (const PressureFace& f : faces_of(foam, box)) most = std::max(most, f.pressure);
  EXPECT_NEAR(most, pressure, 1e-9 * pressure);
}

// The same body as other kinds of shapes.
TEST(PressureFaces, KindsOfShapesAgree) {
  const Body plane{Shape::plane()};
  const PressureField field{.modulus = kModulus, .depth = kRadius, .resolution = 0.01};
  const Pose pose{Vec3(0.0, 0.0, 0.08), rotated(0.3, Vec3::UnitX())};
  const double ball = net(faces_of(plane, {Shape::sphere(kRadius), field, pose})).force.z();
  for (const Shape& same : {Shape::capsule(kRadius, 0.0), Shape::ellipsoid(Vec3::Constant(kRadius)),
                            Solid::ball(kRadius).shape(0.02)}) {
    const double force = net(faces_of(plane, {same, field, pose})).force.z();
    EXPECT_NEAR(force, ball, 2e-3 * ball) << to_string(same.kind());
  }
  std::vector<Vec3> corners;
  for (const double x : {-0.1, 0.1})
    for (const double y : {-0.1, 0.1})
      for (const double z : {-0.1, 0.1}) corners.emplace_back(x, y, z);
  const double box = net(faces_of(plane, {Shape::box(Vec3::Constant(0.1)), field, pose})).force.z();
  const double hull = net(faces_of(plane, {Shape::hull(ConvexHull::around(corners)), field, pose})).force.z();
  EXPECT_NEAR(hull, box, 1e-9 * box);
  EXPECT_GT(box, 1.0);
}

// Any two shapes in any pose, soft against soft and against rigid: numbers, faces where both are, keys of their own, and the
// same in the other order.
TEST(PressureFaces, EveryPairOfShapesGivesSoundFaces) {
  std::vector<Vec3> corners;
  for (int k = 0; k < 12; ++k)
    corners.emplace_back(0.1 * std::cos(k), 0.1 * std::sin(1.7 * k), 0.08 * std::cos(2.3 * k));
  const std::vector<Shape> shapes{Shape::plane(),
                                  Shape::sphere(0.1),
                                  Shape::capsule(0.06, 0.08),
                                  Shape::box({0.1, 0.07, 0.05}),
                                  Shape::cylinder(0.08, 0.06),
                                  Shape::ellipsoid({0.1, 0.06, 0.08}),
                                  Shape::hull(ConvexHull::around(corners)),
                                  Solid::cylinder(0.07, 0.07).shape(0.03)};
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const auto vector = [&] { return Vec3(uniform(engine), uniform(engine), uniform(engine)); };
  std::size_t touched = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t j = std::max<std::size_t>(i, 1); j < shapes.size(); ++j) {
      for (int trial = 0; trial < 4; ++trial) {
        Body a{shapes[i],
               {.modulus = 1e5, .depth = 0.05, .resolution = 0.03},
               {0.06 * vector(), rotated(3.0, vector())}};
        Body b{shapes[j], {.resolution = 0.025}, {0.06 * vector(), rotated(3.0, vector())}};
        if (trial % 2 == 0) b.field.modulus = 3e5;
        const auto faces = faces_of(a, b);
        const Net sum = net(faces), other = net(faces_of(b, a));
        const Vec3 point = 0.1 * vector();
        ASSERT_EQ(detail::depth_at(shapes[j], point), detail::sample_depth(shapes[j], point).depth);
        ASSERT_TRUE(sum.force.allFinite() && sum.torque.allFinite()) << i << " " << j;
        ASSERT_LE((sum.force + other.force).norm(), 1e-9 * (1.0 + sum.force.norm())) << i << " " << j;
        std::set<std::uint64_t> keys;
        for (const PressureFace& f : faces) {
          ASSERT_TRUE(f.area > 0.0 && f.pressure > 0.0 && f.stiffness > 0.0);
          ASSERT_NEAR(f.normal.norm(), 1.0, 1e-12);
          ASSERT_TRUE(keys.insert(f.key).second);
          const Aabb box = shapes[j].bounds(b.pose);
          ASSERT_TRUE(((f.position - box.lower).array() > -0.03).all() &&
                      ((box.upper - f.position).array() > -0.03).all());
        }
        touched += faces.empty() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(touched, 100u);
}

// Halving the step halves the largest change: nothing jumps where a ball slides over the edge of a box.
TEST(PressureFaces, ForceIsContinuousUnderSliding) {
  const Body box{Shape::box({0.1, 0.1, 0.05})};
  const auto largest_change = [&](Index steps) {
    double most = 0.0;
    Vec3 before = Vec3::Zero();
    for (Index k = 0; k <= steps; ++k) {
      const double x = 0.08 + 0.08 * k / static_cast<double>(steps);
      const Body ball{Shape::sphere(kRadius),
                      {.modulus = kModulus, .resolution = 0.02},
                      {Vec3(x, 0.01, 0.13), rotated(0.2, Vec3::UnitX())}};
      const Vec3 force = net(faces_of(box, ball)).force;
      if (k > 0) most = std::max(most, (force - before).norm());
      before = force;
    }
    return most;
  };
  const double coarse = largest_change(100), fine = largest_change(400);
  EXPECT_GT(coarse, 0.0);
  EXPECT_LT(fine, 0.3 * coarse);
}

TEST(PressureFaces, KeysStayAndAreUnique) {
  const Body plane{Shape::plane()};
  const auto keys = [&](double height) {
    std::vector<std::uint64_t> list;
    for (const PressureFace& f : faces_of(plane, soft_sphere(height, 20.0))) list.push_back(f.key);
    return list;
  };
  const auto first = keys(0.0801), second = keys(0.0801 - 1e-7);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), first.size());
  EXPECT_GT(first.size(), 50u);
  std::vector<std::uint64_t> kept;
  const std::set<std::uint64_t> known(first.begin(), first.end());
  for (const std::uint64_t key : second) {
    if (known.contains(key)) kept.push_back(key);
  }
  EXPECT_GE(kept.size() + 2, second.size());
}

TEST(PressureFaces, MergedFacesKeepForceAndTorque) {
  const Body plane{Shape::plane()}, ball = soft_sphere(0.07, 30.0);
  const auto all = faces_of(plane, ball);
  const Net exact = net(all);
  for (const Index most : {40, 12, 3, 1}) {
    const auto few = faces_of(plane, ball, most);
    EXPECT_LE(static_cast<Index>(few.size()), most);
    const Net sum = net(few);
    EXPECT_NEAR(sum.force.z(), exact.force.z(), 1e-12 * exact.force.z());
    EXPECT_LT((sum.torque - exact.torque).norm(), 1e-12 * exact.force.z());
    EXPECT_NEAR(sum.stiffness, exact.stiffness, 1e-12 * exact.stiffness);
    EXPECT_NEAR(sum.area, exact.area, 1e-12);
  }
  EXPECT_GT(all.size(), 40u);
}

std::string refusal(const Shape& shape, const PressureField& field) {
  try {
    check_pressure_field("geom 'pad'", shape, field);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(PressureField, BadInputIsNamed) {
  const Shape ball = Shape::sphere(0.1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto names = [](const std::string& text, const std::string& word) {
    return text.find("geom 'pad'") != std::string::npos && text.find(word) != std::string::npos;
  };
  EXPECT_EQ(refusal(ball, {.modulus = 1e5}), "");
  EXPECT_EQ(refusal(ball, {}), "");
  for (const double modulus : {0.0, -1.0, nan})
    EXPECT_TRUE(names(refusal(ball, {.modulus = modulus}), "modulus"));
  EXPECT_TRUE(names(refusal(ball, {.modulus = 1e5, .depth = -1.0}), "depth"));
  EXPECT_TRUE(names(refusal(ball, {.modulus = 1e5, .resolution = nan}), "resolution"));
  EXPECT_TRUE(names(refusal(ball, {.modulus = 1e5, .resolution = 1e-6}), "resolution"));
  EXPECT_TRUE(names(refusal(ball, {.modulus = 1e5, .max_faces = -1}), "max_faces"));
  EXPECT_TRUE(names(refusal(Shape::plane(), {.modulus = 1e5}), "depth"));
  const auto mesh = TriangleMesh::make({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                       {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}});
  EXPECT_TRUE(names(refusal(Shape::mesh(mesh), {.modulus = 1e5}), "mesh"));
}

}  // namespace
}  // namespace tribo
