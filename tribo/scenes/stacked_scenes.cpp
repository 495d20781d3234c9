// Scenes at rest: their exact answer is that nothing moves.
#include "tribo/scenes/stacked_scenes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

namespace tribo::detail {

namespace {

// Where the bodies began, to tell how far they have moved.
struct Drift {
  std::vector<Vec3> begin;

  explicit Drift(const Scene& scene) {
    Kinematics kinematics(scene.world.model);
    kinematics.set_positions(scene.start.q);
    for (Index b = 1; b < scene.world.model.body_count(); ++b) begin.push_back(kinematics.pose(b).position);
  }
  double largest(const Simulator& simulator) const {
    double drift = 0.0;
    for (std::size_t b = 0; b < begin.size(); ++b) {
      const Vec3 moved = simulator.kinematics().pose(static_cast<Index>(b) + 1).position - begin[b];
      drift = std::max(drift, moved.norm());
    }
    return drift;
  }
};

double fastest(const Simulator& simulator) {
  return simulator.state().v.size() > 0 ? simulator.state().v.cwiseAbs().maxCoeff() : 0.0;
}

// Boxes that should stay where they are; `top` is the highest one.
void expect_rest(Scene& scene, Index top, double top_height) {
  const auto drift = std::make_shared<Drift>(scene);
  scene.observables = [drift, top, top_height](const Simulator& s) {
    return std::vector<Observable>{{"top_height", s.kinematics().pose(top).position.z(), "m"},
                                   {"top_height_exact", top_height, "m"},
                                   {"drift", drift->largest(s), "m"},
                                   {"drift_exact", 0.0, "m"},
                                   {"fastest", fastest(s), "m/s or rad/s"}};
  };
}

Scene make_stack(const SceneValues& values, double dt) {
  Scene scene = empty_scene("stack", dt, 0.002);
  const Index count = whole(values, "boxes");
  const double side = number(values, "side"), ratio = number(values, "mass-ratio");
  const Material material{.friction = number(values, "mu")};
  const Shape box = Shape::box(Vec3::Constant(0.5 * side));
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  for (Index i = 0; i < count; ++i) {
    const double mass = count > 1 ? std::pow(ratio, static_cast<double>(i) / (count - 1)) : 1.0;
    add_solid(builder, scene.world, "box" + std::to_string(i), box, mass, {Vec3(0.0, 0.0, (i + 0.5) * side)},
              material);
  }
  finish_scene(scene, builder);
  scene.duration = 10.0;
  expect_rest(scene, count, (count - 0.5) * side);
  return scene;
}

Scene make_pyramid(const SceneValues& values, double dt) {
  Scene scene = empty_scene("pyramid", dt, 0.002);
  const Index levels = whole(values, "levels");
  const double side = 0.1, pitch = 0.11;
  const Material material{.friction = number(values, "mu")};
  const Shape box = Shape::box(Vec3::Constant(0.5 * side));
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  Index top = 0;
  for (Index level = 0; level < levels; ++level) {
    for (Index i = 0; i < levels - level; ++i) {
      const Vec3 place((i - 0.5 * (levels - level - 1)) * pitch, 0.0, (level + 0.5) * side);
      top = add_solid(builder, scene.world, "box" + std::to_string(level) + "_" + std::to_string(i), box, 1.0,
                      {place}, material);
    }
  }
  finish_scene(scene, builder);
  scene.duration = 5.0;
  expect_rest(scene, top, (levels - 0.5) * side);
  return scene;
}

Scene make_wall(const SceneValues& values, double dt) {
  Scene scene = empty_scene("wall", dt, 0.002);
  const Index rows = whole(values, "rows"), columns = whole(values, "columns");
  const Vec3 half(0.1, 0.05, 0.04);
  const Material material{.friction = number(values, "mu")};
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  Index top = 0;
  // Running bond: every other row begins and ends with half a brick. A millimetre between neighbours.
  const double pitch = 2.0 * half.x() + 0.001;
  const Vec3 short_half(0.5 * half.x() - 0.0005, half.y(), half.z());
  for (Index r = 0; r < rows; ++r) {
    const bool shifted = r % 2 == 1;
    for (Index c = 0; c < columns + (shifted ? 1 : 0); ++c) {
      const bool cut = shifted && (c == 0 || c == columns);
      const double inset = cut ? (c == 0 ? 0.25 : -0.25) * pitch : 0.0;
      const double x = (c - (shifted ? 0.5 : 0.0)) * pitch + inset;
      top = add_solid(builder, scene.world, "brick" + std::to_string(r) + "_" + std::to_string(c),
                      Shape::box(cut ? short_half : half), cut ? 1.0 : 2.0,
                      {Vec3(x, 0.0, (2.0 * r + 1.0) * half.z())}, material);
    }
  }
  finish_scene(scene, builder);
  scene.duration = 5.0;
  expect_rest(scene, top, (2.0 * rows - 1.0) * half.z());
  return scene;
}

Scene make_dominos(const SceneValues& values, double dt) {
  Scene scene = empty_scene("dominos", dt, 0.002);
  const Index count = whole(values, "dominos");
  const Vec3 half(0.004, 0.012, 0.024);
  const Material material{.friction = number(values, "mu")};
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  for (Index i = 0; i < count; ++i) {
    add_solid(builder, scene.world, "domino" + std::to_string(i), Shape::box(half), 0.01,
              {Vec3(i * number(values, "spacing"), 0.0, half.z())}, material);
  }
  finish_scene(scene, builder);
  // The first one turns about its lower front edge.
  const double spin = number(values, "push");
  scene.start.v[0] = spin * half.z();
  scene.start.v[4] = spin;
  scene.start.v[2] = spin * half.x();
  scene.duration = 0.5 + 0.06 * count;
  scene.observables = [count](const Simulator& s) {
    Index fallen = 0;
    for (Index b = 1; b <= count; ++b) {
      if (std::abs(s.kinematics().pose(b).rotation(2, 2)) < std::cos(0.25 * std::numbers::pi)) ++fallen;
    }
    return std::vector<Observable>{{"fallen", static_cast<double>(fallen), "dominos"},
                                   {"fallen_exact", static_cast<double>(count), "dominos"},
                                   {"fastest", fastest(s), "m/s or rad/s"}};
  };
  return scene;
}

Scene make_cylinder_stand(const SceneValues& values, double dt) {
  Scene scene = empty_scene("cylinder-stand", dt, 0.002);
  const double radius = number(values, "radius"), half = 0.5 * number(values, "height");
  const Material material{.friction = number(values, "mu")};
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  add_solid(builder, scene.world, "cylinder", Shape::cylinder(radius, half), 1.0, {Vec3(0.0, 0.0, half)},
            material);
  finish_scene(scene, builder);
  scene.duration = 5.0;
  scene.observables = [half](const Simulator& s) {
    const Mat3& turn = s.kinematics().pose(1).rotation;
    return std::vector<Observable>{{"height", s.kinematics().pose(1).position.z(), "m"},
                                   {"height_exact", half, "m"},
                                   {"tilt", std::acos(std::clamp(turn(2, 2), -1.0, 1.0)), "rad"},
                                   {"tilt_exact", 0.0, "rad"},
                                   {"contact_points", static_cast<double>(s.contacts().size()), ""},
                                   {"fastest", fastest(s), "m/s or rad/s"}};
  };
  return scene;
}

}  // namespace

std::vector<SceneInfo> stacked_scene_infos() {
  const SceneParameter friction{"mu", 0.5, 0.0, 10.0, false, "friction coefficient"};
  return {{"stack",
           "a tower of boxes at rest; the top must stay where it is",
           {{"boxes", 10, 1, 2000, true, "number of boxes"},
            {"side", 0.1, 1e-3, 100.0, false, "side of the boxes, m"},
            {"mass-ratio", 1.0, 1e-8, 1e8, false, "mass of the top box over that of the bottom box (1 kg)"},
            friction},
           make_stack},
          {"pyramid",
           "boxes in a plane, each resting on two",
           {{"levels", 6, 1, 60, true, "boxes in the lowest row"}, friction},
           make_pyramid},
          {"wall",
           "bricks in running bond",
           {{"rows", 6, 1, 100, true, "rows of bricks"},
            {"columns", 8, 1, 200, true, "bricks per row"},
            friction},
           make_wall},
          {"dominos",
           "a row of dominos; the first is pushed, all must fall",
           {{"dominos", 20, 1, 5000, true, "number of dominos"},
            {"spacing", 0.025, 0.0085, 0.045, false, "from one to the next, m"},
            {"push", 4.0, 0.0, 50.0, false, "angular velocity of the first, rad/s"},
            friction},
           make_dominos},
          {"cylinder-stand",
           "a cylinder standing on its rim",
           {{"radius", 0.05, 1e-3, 10.0, false, "m"}, {"height", 0.2, 1e-3, 20.0, false, "m"}, friction},
           make_cylinder_stand}};
}

}  // namespace tribo::detail
