#include "tribo/multibody/tendon_path.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/random.h"
#include "tribo/base/errors.h"
#include "tribo/multibody/model_builder.h"
#include "tribo/multibody/state.h"
#include "tribo/multibody/tendon_wrap.h"

namespace tribo {
namespace {

constexpr double kPi = std::numbers::pi;
using Kind = TendonPoint::Kind;
using detail::Wrap;
using detail::wrap_around;

TendonPoint site(Index body, const Vec3& position) { return {.body = body, .pose = {position}}; }

double whole_length(const Vec3& a, const Vec3& b, const std::optional<Wrap>& wrap) {
  return wrap ? (wrap->first - a).norm() + wrap->length + (b - wrap->second).norm() : (b - a).norm();
}

// Over a disc of radius 1: down from (-1, -2) and (1, -2), half a turn on top of two straight parts of 2.
TEST(TendonWrap, GoesRoundCircles) {
  for (const bool cylinder : {false, true}) {
    const Vec3 a(-1, -2, 0), b(1, -2, 0), up(0, 3, 0), down(0, -3, 0);
    const auto over = wrap_around(a, b, {}, 1.0, cylinder, &up);
    ASSERT_TRUE(over);
    EXPECT_NEAR(over->length, kPi, 1e-14);
    EXPECT_NEAR((over->first - Vec3(-1, 0, 0)).norm(), 0.0, 1e-14);
    EXPECT_NEAR((over->second - Vec3(1, 0, 0)).norm(), 0.0, 1e-14);
    // The line is below the disc, on the side that is asked for, or there is no side.
    EXPECT_FALSE(wrap_around(a, b, {}, 1.0, cylinder, &down));
    EXPECT_FALSE(wrap_around(a, b, {}, 1.0, cylinder, nullptr));
    // From inside nothing is wrapped.
    EXPECT_FALSE(wrap_around(Vec3(0.5, 0, 0), b, {}, 1.0, cylinder, nullptr));
    // Through the middle, a little above it: over the top. Each tangent from distance 2 leaves an angle of acos(1/2).
    const Vec3 left(-2 * std::cos(0.1), 2 * std::sin(0.1), 0), right(2 * std::cos(0.1), 2 * std::sin(0.1), 0);
    const auto middle = wrap_around(left, right, {}, 1.0, cylinder, nullptr);
    ASSERT_TRUE(middle);
    EXPECT_NEAR(middle->length, kPi - 0.2 - 2.0 * std::acos(0.5), 1e-14);
    EXPECT_NEAR(whole_length(left, right, middle), 2 * std::sqrt(3.0) + middle->length, 1e-14);
  }
}

// On a cylinder the string is straight on the unrolled surface: half a turn and a rise.
TEST(TendonWrap, ClimbsCylindersAsAHelix) {
  const Vec3 a(-1, -2, 0), b(1, -2, 3), side(0, 5, 0);
  const Pose shape{Vec3(0.3, 0.2, 0.1),
                   Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()).toRotationMatrix()};
  const Vec3 sa = shape * a, sb = shape * b, ss = shape * side;
  const auto wrap = wrap_around(sa, sb, shape, 1.0, true, &ss);
  ASSERT_TRUE(wrap);
  EXPECT_NEAR(whole_length(sa, sb, wrap), std::hypot(4.0 + kPi, 3.0), 1e-13);
}

// Round a sphere the string lies in the plane of the centre and its ends, and no detour over the surface is shorter.
TEST(TendonWrap, GoesRoundSpheresTheShortestWay) {
  test::Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const auto place = [&] { return Vec3(random.vec3().normalized() * random.uniform(1.01, 4.0)); };
    const Vec3 a = place(), b = place();
    const auto wrap = wrap_around(a, b, {}, 1.0, false, nullptr);
    const double angle = std::acos(a.normalized().dot(b.normalized()));
    const double free = std::acos(1.0 / a.norm()) + std::acos(1.0 / b.norm());
    ASSERT_EQ(wrap.has_value(), angle > free);
    if (!wrap) continue;
    EXPECT_NEAR(wrap->length, angle - free, 1e-12);
    EXPECT_NEAR(wrap->first.dot(a - wrap->first), 0.0, 1e-12);  // tangent
    EXPECT_NEAR(wrap->second.dot(b - wrap->second), 0.0, 1e-12);
    EXPECT_NEAR(wrap->first.dot(a.cross(b)), 0.0, 1e-12);
  }
}

// Held inside, the string touches in one point, where it is as short as it can be with a point on the circle.
TEST(TendonWrap, TouchesTheInsideInOnePoint) {
  test::Random random(6);
  int wraps = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Vec3 a(random.uniform(-3, 3), random.uniform(-3, 3), 0),
        b(random.uniform(-3, 3), random.uniform(-3, 3), 0);
    const Vec3 inside = Vec3::Zero();
    const auto wrap = wrap_around(a, b, {}, 1.0, true, &inside);
    if (!wrap) continue;
    ++wraps;
    EXPECT_EQ(wrap->length, 0.0);
    EXPECT_EQ(wrap->first, wrap->second);
    EXPECT_NEAR(wrap->first.norm(), 1.0, 1e-12);
    double shortest = 1e9;
    for (int k = 0; k < 20000; ++k) {
      const Vec3 p(std::cos(k * kPi / 1e4), std::sin(k * kPi / 1e4), 0);
      shortest = std::min(shortest, (p - a).norm() + (b - p).norm());
    }
    EXPECT_NEAR(whole_length(a, b, wrap), shortest, 1e-6);
  }
  EXPECT_GT(wraps, 50);
}

// A tree with a free joint, a hinge, a ball and a slide, and a second one.
Model mechanism() {
  ModelBuilder builder;
  const RigidInertia inertia{1.0, Vec3(0.1, 0, 0), 0.1 * Mat3::Identity()};
  const Index base = builder.add_free_body("base", {Vec3(0.1, 0.2, 0.3)}, inertia);
  const Index arm =
      builder.add_body({.name = "arm", .parent = base, .position = {0.4, 0, 0}, .inertia = inertia});
  builder.add_joint({.name = "hinge", .body = arm, .axis = {0, 1, 0.2}, .anchor = {0.1, 0, 0}});
  const Index hand =
      builder.add_body({.name = "hand", .parent = arm, .position = {0.5, 0, 0}, .inertia = inertia});
  builder.add_joint({.name = "ball", .body = hand, .kind = JointKind::ball});
  const Index other = builder.add_body({.name = "other", .position = {0, 1, 0}, .inertia = inertia});
  builder.add_joint({.name = "slide", .body = other, .kind = JointKind::slide, .axis = {1, 1, 0}});
  std::vector<TendonPoint> path;
  path.push_back(site(0, {-0.5, 0, 0}));
  path.push_back({.kind = Kind::cylinder, .body = base, .pose = {Vec3(0, 0.1, 0)}, .radius = 0.2});
  path.push_back(site(hand, {0.3, 0.3, -0.1}));
  path.push_back({.kind = Kind::sphere,
                  .body = arm,
                  .radius = 0.15,
                  .has_side = true,
                  .side_body = arm,
                  .side = {0, 0, 1}});
  path.push_back(site(other, {0, 0.2, -0.3}));
  path.push_back({.kind = Kind::pulley, .divisor = 2.5});
  path.push_back(site(base, {0, 0, 0.4}));
  path.push_back({.kind = Kind::sphere, .body = hand, .radius = 0.12, .has_side = true, .side_body = hand});
  path.push_back(site(arm, {0.2, -0.3, 0}));
  path.push_back(site(arm, {0.1, -0.3, 0}));
  builder.add_tendon({.name = "string", .path = path});
  return builder.build();
}

TEST(TendonPath, GradientIsTheDerivativeOfTheLength) {
  const Model model = mechanism();
  const TendonDescription& tendon = model.tendons()[0];
  Kinematics kinematics(model);
  const auto length_at = [&](const Vector& q, Vector* gradient) {
    kinematics.set_positions(q);
    Vector unused = Vector::Zero(model.dof_count());
    Vector& g = gradient != nullptr ? *gradient : unused;
    return add_tendon_gradient(kinematics, tendon, {g.data(), static_cast<std::size_t>(g.size())});
  };
  test::Random random(11);
  for (int trial = 0; trial < 50; ++trial) {
    Vector q = model.reference_coordinates();
    integrate(model, random.vector(model.dof_count()), 1.0, q);
    Vector gradient = Vector::Zero(model.dof_count());
    length_at(q, &gradient);
    const double h = 1e-6;
    for (Index d = 0; d < model.dof_count(); ++d) {
      const Vector v = Vector::Unit(model.dof_count(), d);
      Vector plus = q, minus = q;
      integrate(model, v, h, plus);
      integrate(model, v, -h, minus);
      const double slope = (length_at(plus, nullptr) - length_at(minus, nullptr)) / (2.0 * h);
      EXPECT_NEAR(gradient[d], slope, 1e-7) << "trial " << trial << ", dof " << d;
    }
  }
}

// What moves all points of a string alike does not change its length, and has no term, not even a rounding error.
TEST(TendonPath, DependsOnDofsBetweenItsBodiesOnly) {
  const Model model = mechanism();
  TendonDescription tendon;
  tendon.path = {
      site(1, {0, 0, 0}), {.kind = Kind::sphere, .body = 2, .radius = 0.1}, site(3, {0.1, 0.2, 0.3})};
  EXPECT_EQ(tendon_dofs(model, tendon), (std::vector<Index>{6, 7, 8, 9}));
  tendon.path = {site(2, {0, 0, 0}), site(2, {1, 0, 0})};
  EXPECT_TRUE(tendon_dofs(model, tendon).empty());
  EXPECT_EQ(tendon_dofs(model, model.tendons()[0]).size(), 11u);
}

TEST(TendonPath, ImpossiblePathsAreRefused) {
  const auto refusal = [](std::vector<TendonPoint> path) -> std::string {
    ModelBuilder builder;
    builder.add_free_body("body", {}, {1.0, Vec3::Zero(), Mat3::Identity()});
    builder.add_tendon({.name = "string", .path = std::move(path)});
    try {
      builder.build();
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "built";
  };
  const TendonPoint a = site(0, {0, 0, 0}), b = site(1, {1, 0, 0}), ball{.kind = Kind::sphere, .radius = 1.0},
                    pulley{.kind = Kind::pulley, .divisor = 2.0};
  EXPECT_EQ(refusal({a, ball, b, pulley, a, b}), "built");
  EXPECT_EQ(refusal({pulley, a, b}), "built");
  for (const auto& path :
       std::vector<std::vector<TendonPoint>>{{a},
                                             {ball, b},
                                             {a, ball},
                                             {a, ball, ball, b},
                                             {a, b, pulley},
                                             {a, pulley, a, b},
                                             {a, b, pulley, a},
                                             {a, b, pulley, pulley, a, b},
                                             {a, {.kind = Kind::sphere}, b},
                                             {a, site(2, {0, 0, 0})},
                                             {pulley, a, b, {.kind = Kind::pulley, .divisor = 0.0}, a, b}}) {
    EXPECT_NE(refusal(path).find("\"string\""), std::string::npos);
  }
}

}  // namespace
}  // namespace tribo
