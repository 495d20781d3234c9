// Plane figures: values, gradients by finite differences, the bound of their slope, outlines.
#include "tribo/collide/shapes/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/collide_checks.h"
#include "tribo/base/errors.h"
#include "tribo/collide/shapes/profile_outline.h"

namespace tribo::test {
namespace {

Profile star() {
  std::vector<Vec2> corners;
  for (int k = 0; k < 10; ++k) {
    const double r = k % 2 == 0 ? 0.3 : 0.12, angle = 2.0 * M_PI * k / 10.0;
    corners.emplace_back(r * std::cos(angle), r * std::sin(angle));
  }
  return Profile::polygon(corners);
}

std::vector<Profile> figures() {
  const Profile circle = Profile::circle({0.05, -0.02}, 0.2);
  const Profile line = Profile::polyline({{-0.2, 0.0}, {0.0, 0.1}, {0.2, -0.1}});
  return {circle,
          line.rounded(0.03),
          star(),
          star().rounded(0.02),
          star().shell(0.02),
          star().moved({0.1, -0.2}),
          unite(circle, star()),
          intersect(circle, star()),
          subtract(star(), circle)};
}

TEST(Profile, SlopesAtMostOneAndItsGradientIsTheSlope) {
  Dice dice(1);
  for (const Profile& figure : figures()) {
    int smooth = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      const Vec2 p = dice.vector(0.5).head<2>(), q = p + dice.in(0.0, 0.1) * Vec2(dice.vector(1.0).head<2>());
      const auto at_p = figure.sample(p);
      EXPECT_LE(std::abs(at_p.distance - figure.sample(q).distance), (p - q).norm() * (1.0 + 1e-12));
      EXPECT_LE(at_p.gradient.norm(), 1.0 + 1e-12);
      // Where two parts are equally near there is no gradient: rare, and the difference says so.
      const double h = 1e-6;
      Vec2 slope;
      for (int k = 0; k < 2; ++k) {
        const Vec2 step = h * Vec2::Unit(k);
        slope[k] = (figure.sample(p + step).distance - figure.sample(p - step).distance) / (2.0 * h);
      }
      if ((slope - at_p.gradient).norm() < 1e-4) ++smooth;
    }
    EXPECT_GE(smooth, 1980);
  }
}

// The grid leaves out edges that cannot matter: the same values as from all edges, also on the heights of corners and on the
// bounds.
TEST(Profile, PolygonSeesTheNearestOfAllItsEdges) {
  Dice dice(5);
  for (int figure = 0; figure < 12; ++figure) {
    std::vector<Vec2> corners;
    const int count = 3 + 3 * figure;
    for (int k = 0; k < count; ++k) {
      const double angle = 2.0 * M_PI * k / count, r = dice.in(0.05, 0.4);
      // A comb of many teeth is far longer than wide.
      corners.emplace_back(r * std::cos(angle), (figure % 2 == 0 ? 1.0 : 0.05) * r * std::sin(angle));
    }
    const Profile polygon = Profile::polygon(corners);
    for (int trial = 0; trial < 2000; ++trial) {
      Vec2 p = dice.vector(0.45).head<2>();
      const Vec2& corner = corners[static_cast<std::size_t>(trial) % corners.size()];
      if (trial % 3 == 0) p.y() = corner.y();
      if (trial % 5 == 0) p.x() = corner.x();
      double nearest = 1e300;
      bool inside = false;
      for (std::size_t i = 0; i < corners.size(); ++i) {
        const Vec2 &a = corners[(i + corners.size() - 1) % corners.size()], &b = corners[i];
        const double t = std::clamp((p - a).dot(b - a) / (b - a).squaredNorm(), 0.0, 1.0);
        nearest = std::min(nearest, (p - a - t * (b - a)).norm());
        if ((a.y() > p.y()) != (b.y() > p.y()) &&
            p.x() < a.x() + (p.y() - a.y()) / (b.y() - a.y()) * (b.x() - a.x()))
          inside = !inside;
      }
      EXPECT_NEAR(polygon.sample(p).distance, inside ? -nearest : nearest, 1e-14);
    }
  }
}

TEST(Profile, DistancesOfSimpleFigures) {
  const Profile square = Profile::polygon({{0, 0}, {0, 1}, {1, 1}, {1, 0}});  // clockwise
  EXPECT_DOUBLE_EQ(square.sample({0.5, 0.2}).distance, -0.2);
  EXPECT_DOUBLE_EQ(square.sample({0.5, 1.25}).distance, 0.25);
  EXPECT_DOUBLE_EQ(square.sample({4.0, 5.0}).distance, 5.0);
  EXPECT_EQ(square.sample({1.0, 0.5}).gradient, Vec2(1.0, 0.0));
  const Profile line = Profile::polyline({{0, 0}, {1, 0}});
  EXPECT_DOUBLE_EQ(line.rounded(0.25).sample({-3.0, 4.0}).distance, 4.75);
  EXPECT_DOUBLE_EQ(square.shell(0.1).sample({0.5, 0.2}).distance, 0.15);
}

// A polygon's distance by brute force: the nearest of many points of its boundary.
TEST(Profile, PolygonAgreesWithItsBoundary) {
  Dice dice(3);
  const auto corners = star().corners();
  std::vector<Vec2> boundary;
  for (std::size_t k = 0; k < corners.size(); ++k)
    for (int i = 0; i < 2000; ++i)
      boundary.push_back(corners[k] + i / 2000.0 * (corners[(k + 1) % corners.size()] - corners[k]));
  for (int trial = 0; trial < 200; ++trial) {
    const Vec2 p = dice.vector(0.5).head<2>();
    double nearest = 1e9, turns = 0.0;
    for (std::size_t k = 0; k < boundary.size(); ++k) {
      nearest = std::min(nearest, (boundary[k] - p).norm());
      const Vec2 a = boundary[k] - p, b = boundary[(k + 1) % boundary.size()] - p;
      turns += std::atan2(a.x() * b.y() - a.y() * b.x(), a.dot(b));
    }
    const double expected = std::abs(turns) > M_PI ? -nearest : nearest;
    EXPECT_NEAR(star().sample(p).distance, expected, 2e-4);
  }
}

TEST(Profile, OutlinesLieOnTheBoundaryAndEncloseTheArea) {
  for (const Profile& figure : {Profile::circle({0, 0}, 0.3), star()}) {
    const Profile::Bounds region{Vec2(-0.5, -0.5), Vec2(0.5, 0.5)};
    const auto chains = detail::outline(figure, region, 0.05);
    ASSERT_EQ(chains.size(), 1u);
    EXPECT_EQ(chains[0].front(), chains[0].back());
    double area = 0.0;
    for (std::size_t k = 1; k < chains[0].size(); ++k) {
      const Vec2 &a = chains[0][k - 1], &b = chains[0][k];
      EXPECT_LE((b - a).norm(), 0.05 * (1.0 + 1e-9));
      EXPECT_NEAR(figure.sample(a).distance, 0.0, 1e-12);
      EXPECT_NEAR(figure.sample(0.5 * (a + b)).distance, 0.0, 5.1e-4);
      area += 0.5 * (a.x() * b.y() - a.y() * b.x());  // > 0: the solid is on the left
    }
    const bool round = figure.corners().empty();
    const double exact = round ? M_PI * 0.09 : 5.0 * 0.3 * 0.12 * std::sin(M_PI / 5.0);
    EXPECT_NEAR(area, exact, round ? 5e-4 : 1e-12);
  }
}

TEST(Profile, RefusesWhatIsNoFigure) {
  EXPECT_THROW(Profile::circle({0, 0}, 0.0), InvalidInput);
  EXPECT_THROW(Profile::polyline({{0, 0}}), InvalidInput);
  EXPECT_THROW(Profile::polyline({{0, 0}, {0, 0}}), InvalidInput);
  EXPECT_THROW(Profile::polygon({{0, 0}, {1, 1}, {2, 2}}), InvalidInput);
  EXPECT_THROW(Profile::polygon({{0, 0}, {1, NAN}, {2, 0}}), InvalidInput);
  EXPECT_THROW(intersect(Profile::circle({0, 0}, 1.0), Profile::circle({5, 0}, 1.0)), InvalidInput);
}

}  // namespace
}  // namespace tribo::test
