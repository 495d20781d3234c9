// Bodies from formulas: slope, gradients, exact inertia, surfaces, contacts.
#include "tribo/collide/shapes/solid.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/collide_checks.h"
#include "tribo/base/errors.h"
#include "tribo/collide/shapes/distance_field.h"
#include "tribo/collide/shapes/ready_solids.h"
#include "tribo/collide/shapes/volume_moments.h"

namespace tribo::test {
namespace {

struct Named {
  const char* name;
  Solid solid;
};

Solid spring() { return Solid::helix(Profile::circle({0.3, 0.0}, 0.05), 0.2, 0.2, 0.5); }

std::vector<Named> bodies() {
  const Solid box = Solid::box({0.3, 0.2, 0.1}), ball = Solid::ball(0.25);
  std::vector<Named> list{{"box", box},
                          {"ball", ball},
                          {"cylinder", Solid::cylinder(0.2, 0.3)},
                          {"rounded", box.rounded(0.05)},
                          {"shell", ball.shell(0.05)},
                          {"moved", box.moved({Vec3(0.1, 0.2, -0.1), Dice(1).rotation()})},
                          {"union", unite(box, ball)},
                          {"intersection", intersect(box, ball)},
                          {"difference", subtract(box, ball)},
                          {"spring", spring()}};
  for (const ReadySolid& ready : ready_solids()) list.push_back({ready.name.data(), ready_solid(ready.name)});
  return list;
}

TEST(Solid, SlopesAtMostOneAndItsGradientIsTheSlope) {
  for (const auto& [name, solid] : bodies()) {
    SCOPED_TRACE(name);
    Dice dice(2);
    const Vec3 middle = 0.5 * (solid.bounds().upper + solid.bounds().lower);
    const double size = (solid.bounds().upper - solid.bounds().lower).maxCoeff();
    int smooth = 0;
    for (int trial = 0; trial < 3000; ++trial) {
      const Vec3 p = middle + dice.vector(0.7 * size);
      const Vec3 q = p + size * std::pow(10.0, dice.in(-5.0, -0.5)) * dice.direction();
      const auto at_p = solid.sample(p);
      EXPECT_LE(std::abs(at_p.distance - solid.distance(q)), (p - q).norm() * (1.0 + 1e-9));
      EXPECT_LE(at_p.gradient.norm(), 1.0 + 1e-12);
      const double h = 1e-6 * size;
      Vec3 slope;
      for (int k = 0; k < 3; ++k)
        slope[k] =
            (solid.distance(p + h * Vec3::Unit(k)) - solid.distance(p - h * Vec3::Unit(k))) / (2.0 * h);
      if ((slope - at_p.gradient).norm() < 1e-3) ++smooth;
    }
    EXPECT_GE(smooth, 2970);
  }
}

// A lower bound must not be a poor one: next to the surface it is the distance, to 1 %, but for edges.
TEST(Solid, IsTheDistanceNextToTheSurface) {
  for (const auto& [name, solid] : bodies()) {
    SCOPED_TRACE(name);
    const double size = (solid.bounds().upper - solid.bounds().lower).maxCoeff();
    const auto field = DistanceField::of(solid, 0.05 * size);
    const auto& vertices = field->surface().vertices();
    const double steepest = std::string(name) == "spring" ? 0.9 : 0.99;  // a steep lead costs more
    int good = 0;
    for (const Vec3& v : vertices) {
      const auto s = solid.sample(v);
      EXPECT_NEAR(s.distance, 0.0, 1e-6 * size);
      if (s.gradient.norm() > steepest) ++good;
    }
    EXPECT_GE(good, 0.99 * static_cast<double>(vertices.size()));
  }
}

void expect_same(const VolumeMoments& a, const VolumeMoments& b, double accuracy) {
  const double length = std::sqrt(b.inertia.trace() / b.volume);
  EXPECT_NEAR(a.volume, b.volume, accuracy * b.volume);
  EXPECT_LE((a.center - b.center).norm(), accuracy * length);
  EXPECT_LE((a.inertia - b.inertia).norm(), accuracy * b.inertia.norm());
}

TEST(Solid, RevolvedMomentsAreExact) {
  const auto exact = [](const Solid& solid) { return *solid.exact_moments(); };
  expect_same(exact(Solid::ball(0.3)), Shape::sphere(0.3).moments(), 1e-10);
  expect_same(exact(Solid::cylinder(0.2, 0.7)), Shape::cylinder(0.2, 0.7).moments(), 1e-10);
  expect_same(exact(Solid::box({1, 2, 3})), Shape::box({1, 2, 3}).moments(), 1e-15);
  const Profile line = Profile::polyline({{0, -0.3}, {0, 0.3}});
  expect_same(exact(Solid::revolve(line.rounded(0.1))), Shape::capsule(0.1, 0.3).moments(), 1e-10);
  // Torus: V = 2 pi^2 R r^2, I_zz = V (R^2 + 3/4 r^2), I_xx = V (R^2 / 2 + 5/8 r^2).
  const double ring = 0.4, wire = 0.1, volume = 2.0 * M_PI * M_PI * ring * wire * wire;
  VolumeMoments torus{.volume = volume, .center = Vec3(0, 0, 5.0)};
  const double across = volume * (0.5 * ring * ring + 0.625 * wire * wire);
  torus.inertia = Vec3(across, across, volume * (ring * ring + 0.75 * wire * wire)).asDiagonal();
  expect_same(exact(Solid::revolve(Profile::circle({ring, 5.0}, wire))), torus, 1e-10);
  // A tube by difference of figures against the difference of cylinders.
  const auto block = [](double r) { return Profile::polygon({{-r, -0.5}, {r, -0.5}, {r, 0.5}, {-r, 0.5}}); };
  const VolumeMoments outer = Shape::cylinder(0.5, 0.5).moments(),
                      inner = Shape::cylinder(0.3, 0.5).moments();
  const VolumeMoments tube{outer.volume - inner.volume, Vec3::Zero(), outer.inertia - inner.inertia};
  const Profile hole = Profile::polygon({{-0.3, -1}, {0.3, -1}, {0.3, 1}, {-0.3, 1}});
  expect_same(exact(Solid::revolve(subtract(block(0.5), hole))), tube, 1e-10);
}

// Dishes have no closed form: random points.
TEST(Solid, DishMomentsMatchSampling) {
  for (const char* name : {"bowl", "plate", "pot", "bottle"}) {
    SCOPED_TRACE(name);
    const Solid solid = ready_solid(name);
    const Aabb& box = solid.bounds();
    Dice dice(5);
    VolumeMoments sampled;
    Mat3 second = Mat3::Zero();
    const int count = 1000000;
    int hits = 0;
    for (int k = 0; k < count; ++k) {
      Vec3 p;
      for (int i = 0; i < 3; ++i) p[i] = dice.in(box.lower[i], box.upper[i]);
      if (solid.distance(p) > 0.0) continue;
      ++hits;
      sampled.center += p;
      second += p * p.transpose();
    }
    sampled.center /= hits;
    second = second / hits - sampled.center * sampled.center.transpose();
    sampled.volume = (box.upper - box.lower).prod() * hits / count;
    sampled.inertia = sampled.volume * (second.trace() * Mat3::Identity() - second);
    expect_same(sampled, *solid.exact_moments(), 0.01);
    // The surface, too, and ever better: with a quarter of the error when twice as fine.
    const auto error = [&](double spacing) {
      const Triangles t = solid.surface(spacing);
      return std::abs(detail::surface_moments(t.vertices, t.faces).volume / solid.exact_moments()->volume -
                      1.0);
    };
    EXPECT_LT(error(0.004), 0.01);
    EXPECT_LT(error(0.002), 0.5 * error(0.004));
  }
}

TEST(Solid, SurfacesOfCombinationsAreClosedEnoughToWeigh) {
  const Solid box = Solid::box({0.3, 0.3, 0.3}), ball = Solid::ball(0.15).moved({Vec3(0.3, 0, 0)});
  const double half_ball = 2.0 / 3.0 * M_PI * 0.15 * 0.15 * 0.15;
  const auto volume = [](const Solid& solid) { return DistanceField::of(solid, 0.02)->moments().volume; };
  EXPECT_NEAR(volume(subtract(box, ball)), 0.216 - half_ball, 1e-4);
  EXPECT_NEAR(volume(unite(box, ball)), 0.216 + half_ball, 1e-4);
  EXPECT_NEAR(volume(intersect(box, ball)), half_ball, 1e-4);
  EXPECT_NEAR(volume(box.rounded(0.1)),
              0.216 + 6 * 0.36 * 0.1 + 3 * M_PI * 0.01 * 0.6 + 4.0 / 3.0 * M_PI * 1e-3, 2e-3);
}

// The rod of a bolt: every section is the same figure, so its volume is that of the thread's mean square radius.
TEST(Solid, ThreadHasItsVolume) {
  const double d = 0.048, p = 0.005, h = 0.08, height = 0.5 * std::sqrt(3.0) * p;
  const double major = 0.5 * d, minor = major - 0.625 * height;
  // Over one pitch: P/8 at the major, P/4 at the minor radius, 5/16 P twice in between.
  const double mean_square =
      major * major / 8 + minor * minor / 4 + 0.625 * (major * major + major * minor + minor * minor) / 3;
  const Solid rod = threaded_bolt({.diameter = d, .pitch = p, .length = h, .head_height = 0.0});
  const double chamfered = 2 * 2e-6;  // m^3, most that the ends can lack
  const double volume = DistanceField::of(rod, 0.002)->moments().volume;
  EXPECT_LT(volume, M_PI * mean_square * h * 1.001);
  EXPECT_GT(volume, M_PI * mean_square * h * 0.999 - chamfered);
}

// The nut fits: on the axis at every phase that the bolt's thread allows, its gap is the clearance.
TEST(Solid, NutFitsOnTheBolt) {
  const Shape bolt = threaded_bolt({}).shape(0.003), nut = threaded_nut({.clearance = 2e-4}).shape(0.003);
  for (const double turn_by : {0.0, 1.0, 4.0}) {
    const Pose on{Vec3(0, 0, 0.005 * turn_by / (2.0 * M_PI)), turn(turn_by, Vec3::UnitZ())};
    const auto points = contacts(bolt, Pose{}, nut, on, 4e-4);
    ASSERT_GE(points.size(), 60u);
    EXPECT_LE(points.size(), 120u);
    EXPECT_NEAR(deepest(points), 2e-4, 1e-5);
    Pose out_of_phase = on;
    out_of_phase.position.z() += 1e-3;
    EXPECT_NEAR(deepest(contacts(bolt, Pose{}, nut, out_of_phase, 4e-4)), 2e-4 - 1e-3 * std::cos(M_PI / 6),
                5e-5);
  }
}

TEST(Solid, BallsTouchAsBalls) {
  Dice dice(7);
  const Shape a = Solid::ball(0.2).shape(0.02), b = Solid::ball(0.1).shape(0.02);
  for (int trial = 0; trial < 10; ++trial) {
    const Vec3 direction = dice.direction();
    const Pose pose{(0.3 - 1e-3) * direction, dice.rotation()};
    const auto points = contacts(a, Pose{}, b, pose, 1e-3);
    ASSERT_FALSE(points.empty());
    EXPECT_NEAR(deepest(points), -1e-3, 1e-4);  // the chords alone: up to 6e-4
  }
}

// A bowl in a bowl rests on a ring, not on a patch of seams: depths agree all around.
TEST(Solid, NestedBowlsTouchAllAround) {
  const Shape bowl = ready_solid("bowl").shape(0.006);
  // Moved up by t / cos(slope) the conical walls of both touch; the floors are then apart.
  const double slope = std::atan2(0.055, 0.035), lift = 0.005 / std::cos(slope);
  const auto points = contacts(bowl, Pose{}, bowl, {Vec3(0, 0, lift - 2e-5), turn(0.1, Vec3::UnitZ())}, 1e-5);
  EXPECT_GE(points.size(), 60u);
  EXPECT_NEAR(deepest(points), -2e-5 * std::cos(slope), 5e-6);
}

TEST(Solid, RefusesWhatIsNoBody) {
  EXPECT_THROW(Solid::ball(-1.0), InvalidInput);
  EXPECT_THROW(Solid::box({1, 0, 1}), InvalidInput);
  EXPECT_THROW(Solid::revolve(Profile::circle({-2, 0}, 1.0)), InvalidInput);
  EXPECT_THROW(Solid::revolve(Profile::polygon({{0, 0}, {1, 0}, {1, 1}, {0, 1}})), InvalidInput);
  EXPECT_THROW(Solid::helix(Profile::circle({0.3, 0.05}, 0.05), 0.2, 0.2, 0.5), InvalidInput);
  EXPECT_THROW(Solid::helix(Profile::circle({0.3, 0.0}, 0.05), 0.2, 0.28, 0.5), InvalidInput);
  EXPECT_THROW(intersect(Solid::ball(1.0), Solid::ball(1.0).moved({Vec3(5, 0, 0)})), InvalidInput);
  EXPECT_THROW(Solid::ball(1.0).shape(0.0), InvalidInput);
  EXPECT_THROW(ready_solid("teapot"), InvalidInput);
  EXPECT_THROW(ready_solid("nut", {{"colour", 1.0}}), InvalidInput);
  EXPECT_THROW(ready_solid("nut", {{"pitch", -1.0}}), InvalidInput);
  EXPECT_THROW(ready_solid("bottle", {{"height", 0.01}}), InvalidInput);
}

}  // namespace
}  // namespace tribo::test
