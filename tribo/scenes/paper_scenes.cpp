// hit-wall: Carpentier et al. (2024) Fig. 1. single-ball, single-brick, stacked-spheres: Mangoni's thesis, Table 5.1 and
// sec. 5.3.3. critical-grasp: friction alone holds a cube; a share of the critical coefficient decides whether it falls.
#include "tribo/scenes/paper_scenes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include "tribo/control/gripper.h"
#include "tribo/control/phases.h"

namespace tribo::detail {

void follow_energy(Scene& scene) {
  struct Record {
    double begin = std::numeric_limits<double>::quiet_NaN(), most = -1e300;
  };
  const auto record = std::make_shared<Record>();
  const auto control = scene.control;
  const auto observe = scene.observe;
  const auto observables = scene.observables;
  scene.control = [=](Simulator& s) {
    if (s.step_count() == 0) *record = {s.energy().total()};
    control(s);
  };
  scene.observe = [=](const Simulator& s, const StepReport& r) {
    record->most = std::max(record->most, s.energy().total());
    observe(s, r);
  };
  scene.observables = [=](const Simulator& s) {
    std::vector<Observable> all = observables(s);
    all.push_back({"energy_gain", std::max(0.0, record->most - record->begin), "J"});
    all.push_back({"energy_gain_exact", 0.0, "J"});
    return all;
  };
}

namespace {

// Cubes of 1 kg to 1 kg times the ratio, heavy ones on light ones, and a ball of 10^3 kg that comes from the side.
Scene make_hit_wall(const SceneValues& values, double dt) {
  Scene scene = empty_scene("hit-wall", dt, 0.001);
  constexpr Index kRows = 3, kColumns = 5, kCount = kRows * kColumns;
  constexpr double kSide = 0.4, kPitch = kSide + 0.002;
  const double ratio = number(values, "mass-ratio"), radius = 0.18, ball_mass = number(values, "ball");
  const Material material{.friction = number(values, "mu")};
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  const Shape cube = Shape::box(Vec3::Constant(0.5 * kSide));
  for (Index k = 0; k < kCount; ++k) {
    const Index rank = 7 * k % kCount;  // every mass once, neighbours far apart
    const double mass = std::pow(ratio, static_cast<double>(rank) / (kCount - 1));
    const Vec3 place((k % kColumns - 0.5 * (kColumns - 1)) * kPitch, 0.0, (k / kColumns + 0.5) * kSide);
    add_solid(builder, scene.world, "cube" + std::to_string(k), cube, mass, {place}, material);
  }
  const Vec3 place(0.0, -radius - 0.5 * kSide - 0.5, 1.5 * kSide);
  const Index ball =
      add_solid(builder, scene.world, "ball", Shape::sphere(radius), ball_mass, {place}, material);
  finish_scene(scene, builder);
  const Index dof = scene.world.model.tree_dof(scene.world.model.body_tree(ball));
  scene.start.v[dof + 1] = number(values, "speed");
  scene.duration = 1.0;
  const Vector begin = scene.start.q;
  const auto deepest = std::make_shared<double>(0.0);
  scene.observe = [deepest](const Simulator&, const StepReport& r) {
    *deepest = std::max(*deepest, r.penetration);
  };
  scene.observables = [begin, deepest](const Simulator& s) {
    Index moved = 0;
    for (Index k = 0; k < kCount; ++k) {
      const Index q = s.model().joint_coordinate(s.model().joint_begin(k + 1));
      if ((s.state().q.segment<3>(q) - begin.segment<3>(q)).norm() > 0.01) ++moved;
    }
    return std::vector<Observable>{{"cubes_moved", static_cast<double>(moved), "cubes"},
                                   {"deepest_penetration", *deepest, "m"},
                                   {"kinetic_energy", s.energy().kinetic, "J"}};
  };
  follow_energy(scene);
  return scene;
}

// One body that lies on the floor without friction: what a warm start is worth where nothing changes.
Scene make_single(std::string_view name, const Shape& shape, double height, double mass, double dt) {
  Scene scene = empty_scene(name, dt, 0.02);
  ModelBuilder builder;
  const Material material{.friction = 0.0};
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  add_solid(builder, scene.world, "body", shape, mass, {Vec3(0.0, 0.0, height)}, material);
  finish_scene(scene, builder);
  scene.duration = 100.0 * scene.world.time_step;
  scene.observables = [height, mass](const Simulator& s) {
    return std::vector<Observable>{{"support_force", contact_force(s, 1).z(), "N"},
                                   {"support_force_exact", mass * kEarthGravity, "N"},
                                   {"drift", std::abs(s.state().q[2] - height), "m"},
                                   {"drift_exact", 0.0, "m"}};
  };
  return scene;
}

Scene make_single_ball(const SceneValues&, double dt) {
  const double radius = 0.035;
  return make_single("single-ball", Shape::sphere(radius), radius,
                     1000.0 * 4.0 / 3.0 * std::numbers::pi * std::pow(radius, 3), dt);
}

Scene make_single_brick(const SceneValues&, double dt) {
  const Vec3 half(0.1, 0.05, 0.03);
  return make_single("single-brick", Shape::box(half), half.z(), 1000.0 * 8.0 * half.prod(), dt);
}

// Spheres of water's density on a vertical guide. `decades` 0: all of 10^exponent kg; otherwise sphere k of 10^(k decades) kg.
Scene make_stacked_spheres(const SceneValues& values, double dt) {
  Scene scene = empty_scene("stacked-spheres", dt, 0.05);
  const Index count = whole(values, "spheres");
  const double decades = number(values, "decades");
  ModelBuilder builder;
  scene.world.add_geom(
      {.name = "floor", .shape = Shape::plane(), .material = {.friction = 0.0}, .frictionless = true});
  double height = 0.0, total = 0.0;
  for (Index k = 0; k < count; ++k) {
    const double mass = std::pow(10.0, decades > 0.0 ? decades * (k + 1) : number(values, "exponent"));
    const double radius = std::cbrt(3.0 * mass / (4.0 * std::numbers::pi * 1000.0));
    const std::string name = "sphere" + std::to_string(k);
    const Shape sphere = Shape::sphere(radius);
    height += radius;
    const Index body = builder.add_body({.name = name,
                                         .parent = 0,
                                         .position = Vec3(0.0, 0.0, height),
                                         .inertia = uniform_inertia(sphere, mass)});
    builder.add_joint({.name = name, .body = body, .kind = JointKind::slide, .axis = Vec3::UnitZ()});
    scene.world.add_geom(
        {.name = name, .shape = sphere, .body = body, .material = {.friction = 0.0}, .frictionless = true});
    height += radius;
    total += mass;
  }
  finish_scene(scene, builder);
  scene.duration = 1.0;
  scene.observables = [total, height](const Simulator& s) {
    const double weight = total * kEarthGravity;
    return std::vector<Observable>{{"ground_force", contact_force(s, 1, 0).z() / weight, "weights"},
                                   {"ground_force_exact", 1.0, "weights"},
                                   {"drift", s.state().q.cwiseAbs().maxCoeff() / height, "heights"},
                                   {"drift_exact", 0.0, "heights"}};
  };
  return scene;
}

// Two plates press a cube or a ball with a force F each. Friction carries its weight while 2 mu F >= m g, so mu_c = m g / (2 F).
// Below, a ball falls with g (1 - mu / mu_c). A cube falls at least so fast: with four corners on each plate its loads are
// not unique, and an uneven set of them turns it, which takes a share of the friction (some 0.1 %).
Scene make_critical_grasp(const SceneValues& values, double dt) {
  Scene scene = empty_scene("critical-grasp", dt, 0.002);
  const double share = number(values, "share"), grip = number(values, "force"), mass = number(values, "mass");
  const double critical = mass * kEarthGravity / (2.0 * grip), side = 0.05, height = 1.0;
  const Material material{.friction = share * critical};
  const Shape plate = Shape::box(Vec3(0.01, 0.05, height)),
              solid = number(values, "ball") != 0.0 ? Shape::sphere(0.5 * side)
                                                    : Shape::box(Vec3::Constant(0.5 * side));
  ModelBuilder builder;
  World& world = scene.world;
  for (const double way : {1.0, -1.0}) {
    const std::string name = way > 0.0 ? "right" : "left";
    const Index body = builder.add_body({.name = name,
                                         .parent = 0,
                                         .position = Vec3(way * (0.5 * side + 0.01), 0.0, height + 1.0),
                                         .inertia = uniform_inertia(plate, 1.0)});
    builder.add_joint({.name = name, .body = body, .kind = JointKind::slide, .axis = Vec3(way, 0.0, 0.0)});
    world.add_geom({.name = name, .shape = plate, .body = body, .material = material});
  }
  const double start = 1.0 + 2.0 * height - 0.1;
  const Index held = add_solid(builder, world, "held", solid, mass, {Vec3(0.0, 0.0, start)}, material);
  finish_scene(scene, builder);
  scene.duration = 1.0;
  scene.settings.tolerance = 1e-9;
  scene.control = [grip](Simulator& s) {
    s.force().setZero();
    add_grip(s.model(), {.first = 0, .second = 1, .centering = 200.0, .damping = 20.0}, s.state(), grip,
             s.force());
  };
  scene.observables = [=](const Simulator& s) {
    const double t = s.state().time, h = s.time_step();
    // Symplectic Euler falls g t (t + h) / 2 in steps of h.
    const double fall = share < 1.0 ? 0.5 * (1.0 - share) * kEarthGravity * t * (t + h) : 0.0;
    return std::vector<Observable>{{"fall", start - s.kinematics().pose(held).position.z(), "m"},
                                   {"fall_exact", fall, "m"},
                                   {"friction", material.friction, ""},
                                   {"critical_friction", critical, ""}};
  };
  return scene;
}

}  // namespace

std::vector<SceneInfo> paper_scene_infos() {
  return {
      {"hit-wall",
       "15 cubes of 1 to 10 000 kg hit by a ball of 1000 kg (Carpentier et al. 2024, Fig. 1)",
       {{"mass-ratio", 1e4, 1.0, 1e8, false, "mass of the heaviest cube over that of the lightest (1 kg)"},
        {"ball", 1e3, 1e-3, 1e8, false, "mass of the ball, kg"},
        {"speed", 5.0, 0.0, 100.0, false, "of the ball, m/s"},
        {"mu", 0.7, 0.0, 10.0, false, "friction coefficient"}},
       make_hit_wall},
      {"single-ball",
       "a sphere at rest on the floor, no friction (Mangoni, Table 5.1)",
       {},
       make_single_ball},
      {"single-brick", "a box at rest on the floor, no friction (Mangoni, Table 5.1)", {}, make_single_brick},
      {"stacked-spheres",
       "guided spheres on each other, of equal mass or each heavier than the one below (Mangoni, sec. 5.3.3)",
       {{"spheres", 10, 1, 1000, true, "number of spheres"},
        {"exponent", 2, -3, 15, false, "of ten: the mass of each in kg, where they are equal"},
        {"decades", 0, 0, 3, false, "a sphere is 10^decades times as heavy as the one below; 0: equal"}},
       make_stacked_spheres},
      {"critical-grasp",
       "a body held between two plates by a share of the friction that it needs: it falls below 1",
       {{"share", 1.01, 0.0, 100.0, false, "friction over the critical friction m g / (2 F)"},
        {"force", 10.0, 0.1, 1e4, false, "F of each plate, N"},
        {"mass", 0.5, 1e-3, 100.0, false, "of the body, kg"},
        {"ball", 0, 0, 1, true, "0: a cube, 1: a ball"}},
       make_critical_grasp}};
}

}  // namespace tribo::detail
