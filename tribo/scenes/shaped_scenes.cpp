#include "tribo/scenes/shaped_scenes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include "tribo/base/random.h"
#include "tribo/collide/narrow_phase.h"
#include "tribo/collide/shapes/ready_solids.h"
#include "tribo/scenes/dishware.h"

namespace tribo::detail {

namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;
constexpr double kSteel = 7850.0;  // kg/m^3
// Of the triangles of the surfaces, m: half a millimetre on the flanks of the thread would be finer than its clearance asks
// for, and the sagitta of both is taken out of the gap.
constexpr double kThreadSpacing = 0.0025;
constexpr double kMargin = 2e-4;  // m: contacts nearer than this take part

Mat3 about_z(double angle) { return Eigen::AngleAxisd(angle, Vec3::UnitZ()).toRotationMatrix(); }

// Surfaces are made once per process.
const Shape& bolt_shape() {
  static const Shape shape = threaded_bolt({}).shape(kThreadSpacing);
  return shape;
}
const Shape& nut_shape() {
  static const Shape shape = threaded_nut({}).shape(kThreadSpacing);
  return shape;
}

// The nut on the bolt's thread at a random turn, its flanks on one side of the clearance, tilted and shifted within a tenth of
// it.
Pose nut_pose(Random& random) {
  const ThreadShape thread;
  const double turn = random.uniform(-2.0, 2.0) * kTurn;
  const double play = thread.clearance / std::cos(kTurn / 12.0);  // axial, to where the flanks touch
  const double side = random.uniform() < 0.5 ? -1.0 : 1.0;
  const double shake = 0.1 * thread.clearance;
  Pose pose{Vec3(shake * random.uniform(-1.0, 1.0), shake * random.uniform(-1.0, 1.0),
                 thread.pitch * turn / kTurn + side * play),
            about_z(turn)};
  const double angle = shake / thread.diameter;
  pose.rotation = Eigen::AngleAxisd(angle * random.uniform(-1.0, 1.0), Vec3::UnitX()).toRotationMatrix() *
                  Eigen::AngleAxisd(angle * random.uniform(-1.0, 1.0), Vec3::UnitY()).toRotationMatrix() *
                  pose.rotation;
  return pose;
}

Scene make_bolt_nut(const SceneValues& values, double dt) {
  Scene scene = empty_scene("bolt-nut", dt, 1.0 / 240.0);
  const Material material{.friction = number(values, "mu")};
  Random random(static_cast<std::uint64_t>(number(values, "seed")));
  ModelBuilder builder;
  scene.world.margin = kMargin;
  scene.world.add_geom({.name = "bolt",
                        .shape = bolt_shape(),
                        .material = material,
                        .color = Color{0.55f, 0.57f, 0.6f, 1.0f}});
  const Shape& nut = nut_shape();
  const Index body =
      add_solid(builder, scene.world, "nut", nut, kSteel * nut.moments().volume, nut_pose(random), material);
  scene.world.geoms.back().color = Color{0.80f, 0.66f, 0.36f, 1.0f};
  finish_scene(scene, builder);
  scene.duration = 0.5;
  Kinematics kinematics(scene.world.model);
  kinematics.set_positions(scene.start.q);
  const Vec3 begin = kinematics.pose(body).position;
  scene.observables = [body, begin](const Simulator& s) {
    const double moved = (s.kinematics().pose(body).position - begin).norm();
    double deepest = 0.0;
    for (const Contact& c : s.contacts()) deepest = std::min(deepest, c.gap);
    return std::vector<Observable>{{"contacts", static_cast<double>(s.contacts().size()), ""},
                                   {"nut_moved", moved, "m"},
                                   {"deepest", -deepest, "m"},
                                   {"speed", s.state().v.head<3>().norm(), "m/s"}};
  };
  return scene;
}

Scene make_dishes(const SceneValues& values, double dt) {
  Scene scene = empty_scene("dishes", dt, 1.0 / 240.0);
  const Material material{.friction = number(values, "mu")};
  Random random(static_cast<std::uint64_t>(number(values, "seed")));
  const std::array<double, 4>& heights = stacked_heights();
  ModelBuilder builder;
  scene.world.margin = kMargin;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  for (std::size_t k = 0; k < 4; ++k) {
    add_dish(builder, scene.world, k, {Vec3(0.0, 0.0, heights[k]), about_z(random.uniform(0.0, kTurn))},
             material);
  }
  finish_scene(scene, builder);
  scene.duration = 0.5;
  const Index first = scene.world.model.body_count() - 4;
  scene.observables = [first, &heights](const Simulator& s) {
    double moved = 0.0, deepest = 0.0;
    for (Index k = 0; k < 4; ++k) {
      const Vec3 at = s.kinematics().pose(first + k).position;
      moved = std::max(moved, (at - Vec3(0.0, 0.0, heights[static_cast<std::size_t>(k)])).norm());
    }
    for (const Contact& c : s.contacts()) deepest = std::min(deepest, c.gap);
    return std::vector<Observable>{{"contacts", static_cast<double>(s.contacts().size()), ""},
                                   {"moved", moved, "m"},
                                   {"moved_exact", 0.0, "m"},
                                   {"deepest", -deepest, "m"}};
  };
  return scene;
}

}  // namespace

std::vector<SceneInfo> shaped_scene_infos() {
  const SceneParameter seed{"seed", 0, 0, 1e9, true, "of the configuration"};
  return {{"bolt-nut",
           "an M48 nut that hangs on a bolt by its thread, which friction locks",
           {{"mu", 0.2, 0.0, 10.0, false, "friction coefficient"}, seed},
           make_bolt_nut},
          {"dishes",
           "bowl, bowl, plate (0.1 kg each) and a pot of 5 kg, stacked",
           {{"mu", 0.3, 0.0, 10.0, false, "friction coefficient"}, seed},
           make_dishes}};
}

}  // namespace tribo::detail
