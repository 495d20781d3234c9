#include "studies/collide_scenes.h"

#include <cmath>

#include "tribo/collide/shapes/convex_hull.h"

namespace tribo::bench {

namespace {

std::shared_ptr<const ConvexHull> round_hull(int vertices) {
  std::mt19937 engine(5);
  std::normal_distribution<double> normal;
  std::vector<Vec3> points;
  for (int k = 0; k < vertices; ++k)
    points.push_back(0.25 * Vec3(normal(engine), normal(engine), normal(engine)).normalized());
  return ConvexHull::around(points);
}

// Moves b along a random direction until the shapes overlap by a thousandth of their size.
void settle(PairScene& scene, std::mt19937& engine) {
  std::normal_distribution<double> normal;
  NarrowPhase narrow;
  std::vector<ContactPoint> points;
  const auto rotation = [&] {
    return Quat(normal(engine), normal(engine), normal(engine), normal(engine))
        .normalized()
        .toRotationMatrix();
  };
  while (scene.poses.size() < 64) {
    Pose a{Vec3::Zero(), scene.a.kind() == ShapeKind::plane ? Mat3::Identity() : rotation()},
        b{Vec3::Zero(), rotation()};
    const Vec3 direction = scene.a.kind() == ShapeKind::plane
                               ? Vec3::UnitZ()
                               : Vec3(normal(engine), normal(engine), normal(engine)).normalized();
    double low = 0.0, high = 2.0;
    for (int k = 0; k < 40; ++k) {
      b.position = 0.5 * (low + high) * direction;
      points.clear();
      narrow.collide(scene.a, a, scene.b, b, 0.0, points);
      (points.empty() ? high : low) = 0.5 * (low + high);
    }
    b.position = (low - 3e-4) * direction;
    scene.poses.emplace_back(a, b);
  }
}

}  // namespace

std::vector<PairScene> pair_scenes() {
  const Shape plane = Shape::plane(), sphere = Shape::sphere(0.25), capsule = Shape::capsule(0.12, 0.3),
              box = Shape::box({0.3, 0.2, 0.15}), cylinder = Shape::cylinder(0.2, 0.25),
              ellipsoid = Shape::ellipsoid({0.3, 0.2, 0.15}), hull = Shape::hull(round_hull(32)),
              large = Shape::hull(round_hull(256));
  std::vector<PairScene> scenes;
  const auto add = [&](const char* name, const Shape& a, const Shape& b) {
    scenes.push_back({name, a, b, {}});
  };
  add("plane-sphere", plane, sphere);
  add("plane-capsule", plane, capsule);
  add("plane-box", plane, box);
  add("plane-cylinder", plane, cylinder);
  add("plane-hull32", plane, hull);
  add("sphere-sphere", sphere, sphere);
  add("sphere-capsule", sphere, capsule);
  add("sphere-box", sphere, box);
  add("sphere-hull32", sphere, hull);
  add("capsule-capsule", capsule, capsule);
  add("capsule-box", capsule, box);
  add("capsule-hull32", capsule, hull);
  add("box-box", box, box);
  add("box-cylinder", box, cylinder);
  add("box-ellipsoid", box, ellipsoid);
  add("box-hull32", box, hull);
  add("cylinder-cylinder", cylinder, cylinder);
  add("ellipsoid-ellipsoid", ellipsoid, ellipsoid);
  add("hull32-hull32", hull, hull);
  add("hull256-hull256", large, large);
  std::mt19937 engine(11);
  for (PairScene& scene : scenes) settle(scene, engine);
  // Boxes at rest: face on face, the case of every stack.
  PairScene stack{"box-box stacked", box, box, {}};
  std::uniform_real_distribution<double> small(-1e-4, 1e-4);
  for (int k = 0; k < 64; ++k)
    stack.poses.push_back({Pose{}, Pose{Vec3(small(engine), small(engine), 0.2999), Mat3::Identity()}});
  scenes.push_back(stack);
  return scenes;
}

std::vector<Aabb> pile_bounds(Index bodies, bool mixed_sizes) {
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  std::vector<Aabb> bounds;
  const int side = static_cast<int>(std::ceil(std::cbrt(bodies)));
  for (Index k = 0; k < bodies; ++k) {
    const Vec3 cell(k % side, (k / side) % side, k / (side * side));
    const double radius = mixed_sizes ? 0.5 * std::pow(10.0, -0.5 * (1.0 + unit(engine))) : 0.5;
    const Vec3 center = cell + 0.1 * Vec3(unit(engine), unit(engine), unit(engine));
    bounds.push_back({center.array() - radius, center.array() + radius});
  }
  return bounds;
}

void move(std::vector<Aabb>& bounds, double by) {
  std::mt19937 engine(9);  // the same directions in every step
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  for (Aabb& box : bounds) {
    const Vec3 shift = by * (box.upper - box.lower).x() * Vec3(unit(engine), unit(engine), unit(engine));
    box.lower += shift, box.upper += shift;
  }
}

}  // namespace tribo::bench
