// Shaped like the families BoxesStack, Capsules, Chain, Chute, 100_PR_PerioBox and 945_SP_Box_PL of FCLIB (Acary, Bremond and
// Huber 2018, Table 5): bodies that are dropped, flow down a chute, are sheared or pressed.
#include "tribo/scenes/granular_scenes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "tribo/base/random.h"
#include "tribo/collide/shapes/convex_hull.h"

namespace tribo::detail {

namespace {

void observe_flow(Scene& scene) {
  scene.observables = [](const Simulator& s) {
    double fastest = 0.0, highest = 0.0;
    for (Index b = 1; b < s.model().body_count(); ++b)
      highest = std::max(highest, s.kinematics().pose(b).position.z());
    for (Index t = 0; t < s.model().tree_count(); ++t)
      fastest = std::max(fastest, s.state().v.segment<3>(s.model().tree_dof(t)).norm());
    return std::vector<Observable>{{"contact_points", static_cast<double>(s.contacts().size()), ""},
                                   {"fastest", fastest, "m/s"},
                                   {"highest", highest, "m"},
                                   {"kinetic_energy", s.energy().kinetic, "J"}};
  };
}

// A plane whose free side is `inwards`, at the given distance from the origin against it.
void add_wall(World& world, const char* name, const Vec3& inwards, double distance,
              const Material& material) {
  const Mat3 turn = Quat::FromTwoVectors(Vec3::UnitZ(), inwards).toRotationMatrix();
  world.add_geom(
      {.name = name, .shape = Shape::plane(), .pose = {-distance * inwards, turn}, .material = material});
}

Mat3 random_turn(double most, Random& random) {
  Vec3 axis;
  for (int k = 0; k < 3; ++k) axis[k] = random.uniform(-1.0, 1.0);
  const double angle = random.uniform(0.0, most);
  return Eigen::AngleAxisd(angle, (axis + Vec3(0.0, 0.0, 1.5)).normalized()).toRotationMatrix();
}

// A convex polyhedron of about the given radius [m], from points on a dented sphere.
Shape random_rock(double radius, Random& random) {
  std::vector<Vec3> points;
  for (int k = 0; k < 14; ++k) {
    Vec3 p;
    for (int a = 0; a < 3; ++a) p[a] = random.uniform(-1.0, 1.0);
    points.push_back(radius * p / std::max(0.4, p.norm()));
  }
  return Shape::hull(ConvexHull::around(points));
}

std::uint64_t seed_of(const SceneValues& values) {
  return static_cast<std::uint64_t>(number(values, "seed"));
}

Scene make_box_drop(const SceneValues& values, double dt) {
  Scene scene = empty_scene("box-drop", dt, 0.005);
  const Index count = whole(values, "boxes");
  const Material material{.friction = number(values, "mu")};
  Random random(seed_of(values));
  const double side = 0.5, gap = 0.02;
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  for (Index i = 0; i < count; ++i) {
    Vec3 place(0.0, 0.0, (i + 0.5) * side + (i + 1) * gap);
    for (int k = 0; k < 2; ++k) place[k] = random.uniform(-0.05, 0.05) * side;
    const Mat3 turn = Eigen::AngleAxisd(random.uniform(-0.1, 0.1), Vec3::UnitZ()).toRotationMatrix();
    add_solid(builder, scene.world, "box" + std::to_string(i), Shape::box(Vec3::Constant(0.5 * side)), 1.0,
              {place, turn}, material);
  }
  finish_scene(scene, builder);
  scene.duration = 0.4 + 0.04 * count;
  observe_flow(scene);
  return scene;
}

Scene make_capsule_drop(const SceneValues& values, double dt) {
  Scene scene = empty_scene("capsule-drop", dt, 0.005);
  const Index count = whole(values, "capsules");
  const Material material{.friction = number(values, "mu")};
  Random random(seed_of(values));
  const double radius = 0.1, half = 0.25, pitch = 0.75;
  const auto across = std::max<Index>(2, static_cast<Index>(std::ceil(std::sqrt(count / 6.0))));
  const double box = 0.5 * across * pitch + 0.15;
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  add_wall(scene.world, "left", Vec3::UnitX(), box, material);
  add_wall(scene.world, "right", -Vec3::UnitX(), box, material);
  add_wall(scene.world, "front", Vec3::UnitY(), box, material);
  add_wall(scene.world, "back", -Vec3::UnitY(), box, material);
  for (Index i = 0; i < count; ++i) {
    const Index layer = i / (across * across), x = i % across, y = i / across % across;
    Vec3 place((x - 0.5 * (across - 1)) * pitch, (y - 0.5 * (across - 1)) * pitch, 0.4 + layer * pitch);
    for (int k = 0; k < 3; ++k) place[k] += random.uniform(-0.03, 0.03);
    add_solid(builder, scene.world, "capsule" + std::to_string(i), Shape::capsule(radius, half), 1.0,
              {place, random_turn(3.0, random)}, material);
  }
  finish_scene(scene, builder);
  scene.duration = 2.0;
  observe_flow(scene);
  return scene;
}

// Rocks that fall onto a slope between two walls and flow down it; the slope is the plane z = 0, gravity is turned.
Scene make_chute(const SceneValues& values, double dt) {
  Scene scene = empty_scene("chute", dt, 0.005);
  const Index count = whole(values, "rocks");
  const double angle = number(values, "angle") * std::numbers::pi / 180.0;
  const Material material{.friction = number(values, "mu")};
  Random random(seed_of(values));
  const double radius = 0.1, pitch = 0.23;
  const auto across = std::max<Index>(3, static_cast<Index>(std::lround(std::cbrt(count / 2.0))));
  const double half = 0.5 * across * pitch + 0.05;
  ModelBuilder builder;
  scene.world.gravity = kEarthGravity * Vec3(std::sin(angle), 0.0, -std::cos(angle));
  scene.world.add_geom({.name = "slope", .shape = Shape::plane(), .material = material});
  add_wall(scene.world, "left", Vec3::UnitY(), half, material);
  add_wall(scene.world, "right", -Vec3::UnitY(), half, material);
  // A sill that holds back what is lowest.
  scene.world.add_geom({.name = "sill",
                        .shape = Shape::box({0.1, half, 0.12}),
                        .pose = {Vec3(across * pitch + 0.4, 0.0, 0.12)},
                        .material = material});
  for (Index i = 0; i < count; ++i) {
    const Index along = 2 * across, layer = i / (across * along), x = i % along, y = i / along % across;
    Vec3 place((x - 0.5 * (along - 1)) * pitch, (y - 0.5 * (across - 1)) * pitch, 0.15 + layer * pitch);
    for (int k = 0; k < 3; ++k) place[k] += random.uniform(-0.01, 0.01);
    const Shape rock = random_rock(radius, random);
    add_solid(builder, scene.world, "rock" + std::to_string(i), rock, 2500.0 * rock.moments().volume,
              {place, random_turn(3.0, random)}, material);
  }
  finish_scene(scene, builder);
  scene.duration = 1.5;
  observe_flow(scene);
  return scene;
}

// Rocks between the floor and a heavy lid that is pushed to and fro: the lid is the body added last. Walls stand where a
// periodic cell would have its other side.
Scene make_shear_box(const SceneValues& values, double dt) {
  Scene scene = empty_scene("shear-box", dt, 0.002);
  const Index count = whole(values, "rocks");
  const Material material{.friction = number(values, "mu")};
  Random random(seed_of(values));
  const double radius = 0.05, pitch = 0.115;
  const auto across =
      std::max<Index>(2, static_cast<Index>(std::lround(std::cbrt(static_cast<double>(count)))));
  const double half = 0.5 * across * pitch + 0.03;
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  add_wall(scene.world, "left", Vec3::UnitX(), half, material);
  add_wall(scene.world, "right", -Vec3::UnitX(), half, material);
  add_wall(scene.world, "front", Vec3::UnitY(), half, material);
  add_wall(scene.world, "back", -Vec3::UnitY(), half, material);
  double top = 0.0;
  for (Index i = 0; i < count; ++i) {
    const Index layer = i / (across * across), x = i % across, y = i / across % across;
    Vec3 place((x - 0.5 * (across - 1)) * pitch, (y - 0.5 * (across - 1)) * pitch, 0.07 + layer * pitch);
    for (int k = 0; k < 3; ++k) place[k] += random.uniform(-0.005, 0.005);
    top = std::max(top, place.z());
    const Shape rock = random_rock(radius, random);
    add_solid(builder, scene.world, "rock" + std::to_string(i), rock, 2500.0 * rock.moments().volume,
              {place, random_turn(3.0, random)}, material);
  }
  const Vec3 lid(half - 0.02, half - 0.02, 0.05);
  const double lid_mass = 100.0;  // kg
  add_solid(builder, scene.world, "lid", Shape::box(lid), lid_mass, {Vec3(0.0, 0.0, top + 0.12)}, material);
  finish_scene(scene, builder);
  scene.duration = 1.0;
  scene.control = [lid_mass](Simulator& s) {
    const double phase = 2.0 * std::numbers::pi * s.state().time / 0.4;
    s.force()[s.model().tree_dof(s.model().tree_count() - 1)] =
        0.8 * lid_mass * kEarthGravity * std::sin(phase);
  };
  observe_flow(scene);
  return scene;
}

// Spheres poured into a box and pressed by a plate, the body added last.
Scene make_sphere_press(const SceneValues& values, double dt) {
  Scene scene = empty_scene("sphere-press", dt, 0.002);
  const Index count = whole(values, "spheres");
  const Material material{.friction = number(values, "mu")};
  Random random(seed_of(values));
  const double pitch = 0.105;
  const auto across =
      std::max<Index>(2, static_cast<Index>(std::lround(std::cbrt(static_cast<double>(count)))));
  const double half = 0.5 * across * pitch + 0.01;
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  add_wall(scene.world, "left", Vec3::UnitX(), half, material);
  add_wall(scene.world, "right", -Vec3::UnitX(), half, material);
  add_wall(scene.world, "front", Vec3::UnitY(), half, material);
  add_wall(scene.world, "back", -Vec3::UnitY(), half, material);
  double top = 0.0;
  for (Index i = 0; i < count; ++i) {
    const Index layer = i / (across * across), x = i % across, y = i / across % across;
    const double radius = random.uniform(0.038, 0.05);
    Vec3 place((x - 0.5 * (across - 1)) * pitch, (y - 0.5 * (across - 1)) * pitch, 0.06 + layer * pitch);
    for (int k = 0; k < 3; ++k) place[k] += random.uniform(-0.003, 0.003);
    top = std::max(top, place.z());
    add_solid(builder, scene.world, "sphere" + std::to_string(i), Shape::sphere(radius),
              2500.0 * 4.0 / 3.0 * std::numbers::pi * radius * radius * radius, {place}, material);
  }
  const Vec3 plate(half - 0.005, half - 0.005, 0.05);
  add_solid(builder, scene.world, "plate", Shape::box(plate), 500.0, {Vec3(0.0, 0.0, top + 0.11)}, material);
  finish_scene(scene, builder);
  scene.duration = 0.8;
  observe_flow(scene);
  return scene;
}

// Four capsules in a rectangle: a link along x whose ends the wires of its neighbours pass.
void add_link(ModelBuilder& builder, World& world, const std::string& name, const Pose& pose, double length,
              double width, double wire, const Material& material) {
  const Mat3 along_x = Quat::FromTwoVectors(Vec3::UnitZ(), Vec3::UnitX()).toRotationMatrix();
  const Mat3 along_y = Quat::FromTwoVectors(Vec3::UnitZ(), Vec3::UnitY()).toRotationMatrix();
  const Vec3 extent(length + wire, width + wire, wire);
  const Index body = builder.add_free_body(name, pose, uniform_inertia(Shape::box(extent), 0.1));
  for (const double side : {-1.0, 1.0}) {
    world.add_geom({.name = name + (side < 0 ? "_right" : "_left"),
                    .shape = Shape::capsule(wire, length),
                    .body = body,
                    .pose = {Vec3(0.0, side * width, 0.0), along_x},
                    .material = material});
    world.add_geom({.name = name + (side < 0 ? "_begin" : "_end"),
                    .shape = Shape::capsule(wire, width),
                    .body = body,
                    .pose = {Vec3(side * length, 0.0, 0.0), along_y},
                    .material = material});
  }
}

// Links in a row, each a quarter turn about the row from the one before; the first hangs on a peg and the row swings down.
Scene make_hanging_chain(const SceneValues& values, double dt) {
  Scene scene = empty_scene("hanging-chain", dt, 0.001);
  const Index links = whole(values, "links");
  const Material material{.friction = number(values, "mu")};
  Random random(seed_of(values));
  const double length = 0.05, width = 0.022,
               wire = 0.008;  // half length and half width of the centre line, radius: m
  const double pitch = 2.0 * length - 2.3 * wire;
  ModelBuilder builder;
  const Mat3 across = Quat::FromTwoVectors(Vec3::UnitZ(), Vec3::UnitY()).toRotationMatrix();
  const Mat3 quarter = Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3::UnitX()).toRotationMatrix();
  // The first link stands upright, so that the peg passes through it.
  scene.world.add_geom({.name = "peg",
                        .shape = Shape::capsule(wire, 3.0 * width),
                        .pose = {Vec3(-length + 2.3 * wire, 0.0, 0.0), across},
                        .material = material});
  for (Index i = 0; i < links; ++i) {
    const Mat3 turn = i % 2 == 0 ? quarter : Mat3(Mat3::Identity());
    const Mat3 slight = Eigen::AngleAxisd(random.uniform(-0.05, 0.05), Vec3::UnitX()).toRotationMatrix();
    add_link(builder, scene.world, "link" + std::to_string(i), {Vec3(i * pitch, 0.0, 0.0), slight * turn},
             length, width, wire, material);
  }
  finish_scene(scene, builder);
  scene.duration = 1.0;
  observe_flow(scene);
  return scene;
}

}  // namespace

std::vector<SceneInfo> granular_scene_infos() {
  const SceneParameter seed{"seed", 1, 0, 1e9, true, "of the random numbers"};
  const auto friction = [](double own) {
    return SceneParameter{"mu", own, 0.0, 10.0, false, "friction coefficient"};
  };
  return {{"box-drop",
           "boxes above one another, dropped into a stack that leans or falls",
           {{"boxes", 10, 1, 2000, true, "number of boxes"}, friction(0.7), seed},
           make_box_drop},
          {"capsule-drop",
           "capsules dropped into a bin",
           {{"capsules", 50, 1, 10000, true, "number of capsules"}, friction(0.7), seed},
           make_capsule_drop},
          {"chute",
           "rocks flowing down a slope between walls, over a sill",
           {{"rocks", 200, 1, 20000, true, "number of rocks"},
            {"angle", 25.0, 0.0, 80.0, false, "of the slope, degrees"},
            friction(1.0),
            seed},
           make_chute},
          {"shear-box",
           "rocks under a heavy lid that is pushed to and fro",
           {{"rocks", 100, 1, 10000, true, "number of rocks"}, friction(0.8), seed},
           make_shear_box},
          {"sphere-press",
           "spheres of different sizes in a box, pressed by a plate",
           {{"spheres", 300, 1, 20000, true, "number of spheres"}, friction(0.8), seed},
           make_sphere_press},
          {"hanging-chain",
           "links of round wire, the first on a peg; the chain swings down",
           {{"links", 10, 1, 500, true, "number of links"}, friction(0.3), seed},
           make_hanging_chain}};
}

}  // namespace tribo::detail
