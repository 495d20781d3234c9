// Many bodies thrown together: clutter (Castro et al. 2022 sec. VI-C), balls in a box (Mangoni sec. 5.3.1), a pile of
// mixed shapes. Their answer is not known; what must hold is that nothing escapes, sinks or keeps energy.
#include "tribo/scenes/piled_scenes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "tribo/base/random.h"
#include "tribo/collide/shapes/convex_hull.h"

namespace tribo::detail {

namespace {

// Draws stand in statements of their own: the order in which arguments are evaluated is the compiler's choice.
Vec3 grid_place(Index x, Index y, Index across, double pitch, double height, double noise, Random& random) {
  Vec3 place((x - 0.5 * (across - 1)) * pitch, (y - 0.5 * (across - 1)) * pitch, height);
  place.x() += random.uniform(-noise, noise);
  place.y() += random.uniform(-noise, noise);
  return place;
}

// In [-1, 1]^2 x [lowest, 1].
Vec3 random_vector(double lowest, Random& random) {
  Vec3 v;
  v.x() = random.uniform(-1.0, 1.0);
  v.y() = random.uniform(-1.0, 1.0);
  v.z() = random.uniform(lowest, 1.0);
  return v;
}

// Four planes facing inwards around a square of the given half side, and the floor.
void add_bin(World& world, double half, const Material& material, bool walls) {
  world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  if (!walls) return;
  const Vec3 inwards[4] = {Vec3::UnitX(), -Vec3::UnitX(), Vec3::UnitY(), -Vec3::UnitY()};
  for (Index k = 0; k < 4; ++k) {
    const Mat3 turn = Quat::FromTwoVectors(Vec3::UnitZ(), inwards[k]).toRotationMatrix();
    world.add_geom({.name = "wall" + std::to_string(k),
                    .shape = Shape::plane(),
                    .pose = {-half * inwards[k], turn},
                    .material = material});
  }
}

// What every pile reports.
void observe_pile(Scene& scene, double half, bool walls) {
  const auto deepest = std::make_shared<double>(0.0);
  scene.observe = [deepest](const Simulator&, const StepReport& r) {
    *deepest = std::max(*deepest, r.penetration);
  };
  scene.observables = [=](const Simulator& s) {
    Index escaped = 0;
    double highest = 0.0;
    for (Index b = 1; b < s.model().body_count(); ++b) {
      const Vec3& p = s.kinematics().pose(b).position;
      const bool outside = walls && (std::abs(p.x()) > half || std::abs(p.y()) > half);
      if (outside || p.z() < 0.0) ++escaped;
      highest = std::max(highest, p.z());
    }
    double fastest = 0.0;
    for (Index t = 0; t < s.model().tree_count(); ++t) {
      fastest = std::max(fastest, s.state().v.segment<3>(s.model().tree_dof(t)).norm());
    }
    return std::vector<Observable>{{"escaped", static_cast<double>(escaped), "bodies"},
                                   {"escaped_exact", 0.0, "bodies"},
                                   {"deepest_penetration", *deepest, "m"},
                                   {"highest", highest, "m"},
                                   {"fastest", fastest, "m/s"},
                                   {"kinetic_energy", s.energy().kinetic, "J"}};
  };
}

Scene make_clutter(const SceneValues& values, double dt) {
  Scene scene = empty_scene("clutter", dt, 0.01);
  const Index count = whole(values, "bodies");
  const bool walls = number(values, "walls") != 0.0;
  Random random(static_cast<std::uint64_t>(number(values, "seed")));
  // Near-rigid: the material is stiffer than any time step resolves. Columns per 10 bodies keep large clutters low.
  const Material material{
      .friction = 1.0, .stiffness = number(values, "stiffness"), .dissipation_time = scene.world.time_step};
  const Index columns = std::max<Index>(2, static_cast<Index>(std::ceil(std::sqrt(count / 10.0))));
  const double pitch = columns == 2 ? 0.3 : 0.25, half = columns == 2 ? 0.4 : 0.5 * columns * pitch + 0.05;
  ModelBuilder builder;
  add_bin(scene.world, half, material, walls);
  const Index per_layer = columns * columns;
  for (Index i = 0; i < count; ++i) {
    const Index layer = i / per_layer, x = i % per_layer % columns, y = i % per_layer / columns;
    const Vec3 place = grid_place(x, y, columns, pitch, 0.1 + 0.15 * layer, 0.01, random);
    const bool ball = random.uniform() < 0.5;
    const Shape shape = ball ? Shape::sphere(0.05) : Shape::box(Vec3::Constant(0.05));
    const Mat3 turn = ball ? Mat3(Mat3::Identity())
                           : Eigen::AngleAxisd(random.uniform(0.0, 0.3), Vec3(1.0, 2.0, 3.0).normalized())
                                 .toRotationMatrix();
    add_solid(builder, scene.world, "body" + std::to_string(i), shape, ball ? 0.524 : 1.0, {place, turn},
              material);
  }
  scene.world.friction_rule = FrictionRule::harmonic;
  finish_scene(scene, builder);
  scene.duration = 10.0;
  observe_pile(scene, half, walls);
  return scene;
}

Scene make_balls_in_box(const SceneValues& values, double dt) {
  Scene scene = empty_scene("balls-in-box", dt, 0.02);
  const Index count = whole(values, "balls");
  const double radius = 0.035, pitch = 0.075;
  // The thesis' container holds 119 balls per layer on one metre; larger numbers get a wider one of the same filling.
  const Index across = std::max<Index>(4, static_cast<Index>(std::ceil(std::sqrt(count / 5.0))));
  const double half = 0.5 * across * pitch + 0.01;
  const Material material{.friction = number(values, "mu")};
  Random random(static_cast<std::uint64_t>(number(values, "seed")));
  ModelBuilder builder;
  add_bin(scene.world, half, material, true);
  const double mass = 1000.0 * 4.0 / 3.0 * std::numbers::pi * radius * radius * radius;
  for (Index i = 0; i < count; ++i) {
    const Index layer = i / (across * across), x = i % across, y = i / across % across;
    const Vec3 place = grid_place(x, y, across, pitch, 0.04 + 0.08 * layer, 0.001, random);
    add_solid(builder, scene.world, "ball" + std::to_string(i), Shape::sphere(radius), mass, {place},
              material);
  }
  finish_scene(scene, builder);
  scene.duration = 1.0;
  observe_pile(scene, half, true);
  return scene;
}

Shape mixed_shape(Index kind, double size, Random& random) {
  switch (kind) {
    case 0:
      return Shape::sphere(size);
    case 1:
      return Shape::capsule(0.6 * size, 0.7 * size);
    case 2:
      return Shape::box({0.8 * size, 0.9 * size, 0.7 * size});
    case 3:
      return Shape::cylinder(0.8 * size, 0.8 * size);
    case 4:
      return Shape::ellipsoid({size, 0.8 * size, 0.6 * size});
    default: {
      std::vector<Vec3> points;
      for (Index k = 0; k < 16; ++k) {
        const Vec3 p = random_vector(-1.0, random);
        points.push_back(size * p / std::max(0.3, p.norm()));
      }
      return Shape::hull(ConvexHull::around(points));
    }
  }
}

Scene make_pile216(const SceneValues& values, double dt) {
  Scene scene = empty_scene("pile216", dt, 0.002);
  const Index side = whole(values, "side"), kinds = number(values, "hulls") != 0.0 ? 6 : 5;
  const double pitch = 0.12, half = 0.5 * side * pitch + 0.03;
  const Material material{.friction = number(values, "mu")};
  Random random(static_cast<std::uint64_t>(number(values, "seed")));
  ModelBuilder builder;
  add_bin(scene.world, half, material, true);
  for (Index i = 0; i < side * side * side; ++i) {
    const Index x = i % side, y = i / side % side, z = i / (side * side);
    const Shape shape = mixed_shape(i % kinds, random.uniform(0.04, 0.055), random);
    const Vec3 place = grid_place(x, y, side, pitch, 0.08 + z * pitch, 0.005, random);
    const Vec3 axis = random_vector(0.1, random);
    const Mat3 turn = Eigen::AngleAxisd(random.uniform(0.0, 3.0), axis.normalized()).toRotationMatrix();
    add_solid(builder, scene.world, "body" + std::to_string(i), shape, 1000.0 * shape.moments().volume,
              {place, turn}, material);
  }
  finish_scene(scene, builder);
  scene.duration = 2.0;
  observe_pile(scene, half, true);
  return scene;
}

}  // namespace

std::vector<SceneInfo> piled_scene_infos() {
  const SceneParameter seed{"seed", 1, 0, 1e9, true, "of the random numbers"};
  return {{"clutter",
           "spheres and boxes dropped in columns, near-rigid (Castro et al. 2022, Fig. 8)",
           {{"bodies", 40, 1, 100000, true, "number of bodies"},
            {"walls", 1, 0, 1, true, "1: in a bin, 0: on open ground"},
            {"stiffness", 1e12, 1.0, 1e15, false, "of the contacts, N/m"},
            seed},
           make_clutter},
          {"balls-in-box",
           "spheres of 70 mm dropped into a box (Mangoni, Table 5.3)",
           {{"balls", 100, 1, 200000, true, "number of balls"},
            {"mu", 0.0, 0.0, 10.0, false, "friction coefficient"},
            seed},
           make_balls_in_box},
          {"pile216",
           "mixed shapes dropped into a bin",
           {{"side", 6, 1, 20, true, "bodies along each edge: side^3 in all"},
            {"mu", 0.6, 0.0, 10.0, false, "friction coefficient"},
            {"hulls", 1, 0, 1, true, "1: convex hulls among them"},
            seed},
           make_pile216}};
}

}  // namespace tribo::detail
