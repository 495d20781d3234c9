#include "tribo/scenes/walking_scenes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include "tribo/base/random.h"
#include "tribo/collide/shapes/height_field.h"
#include "tribo/control/phases.h"
#include "tribo/control/trot.h"
#include "tribo/scenes/limbs.h"
#include "tribo/sim/attach.h"
#include "tribo/sim/contact/initial_overlaps.h"

namespace tribo::detail {

namespace {

// ----- the ground -----------------------------------------------------------------------------------------------------

constexpr double kCell = 0.05;                 // m, of the height field: above the feet's diameter
constexpr double kBump = 0.25;                 // m between the random heights: about a foot's step
constexpr double kBehind = 1.0, kAside = 1.2;  // m of ground behind the start and to both sides
constexpr double kFlat = 0.3;  // m around the start; the roughness grows to its full size over as much

double smooth(double s) { return s * s * (3.0 - 2.0 * s); }

// Random heights between 0 and 1 on a lattice, smooth between them.
class Bumps {
 public:
  Bumps(std::uint64_t seed, double width, double depth)
      : columns_(static_cast<Index>(width / kBump) + 2), values_() {
    Random random(seed);
    const Index rows = static_cast<Index>(depth / kBump) + 2;
    for (Index k = 0; k < rows * columns_; ++k) values_.push_back(random.uniform());
  }
  double at(double x, double y) const {  // m from the corner
    const double u = x / kBump, v = y / kBump;
    const Index i = static_cast<Index>(u), j = static_cast<Index>(v);
    const double s = smooth(u - i), t = smooth(v - j);
    const double near = value(j, i) + s * (value(j, i + 1) - value(j, i));
    const double far = value(j + 1, i) + s * (value(j + 1, i + 1) - value(j + 1, i));
    return near + t * (far - near);
  }

 private:
  double value(Index row, Index column) const {
    return values_[static_cast<std::size_t>(row * columns_ + column)];
  }
  Index columns_;
  std::vector<double> values_;
};

// Bumps of `roughness` from top to bottom on a slope that begins ahead of the start; z = 0 at the start.
Geom rough_ground(double length, double roughness, double slope, std::uint64_t seed) {
  const double width = kBehind + length, depth = 2.0 * kAside;
  const Index columns = static_cast<Index>(width / kCell) + 1, rows = static_cast<Index>(depth / kCell) + 1;
  const double half_x = 0.5 * kCell * (columns - 1), half_y = 0.5 * kCell * (rows - 1);
  const Bumps bumps(seed, width, depth);
  std::vector<double> heights;
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < columns; ++c) {
      const double x = c * kCell - kBehind, y = r * kCell - half_y;
      const double grown = smooth(std::clamp((std::hypot(x, y) - kFlat) / kFlat, 0.0, 1.0));
      heights.push_back(roughness * grown * (bumps.at(c * kCell, r * kCell) - 0.5) +
                        slope * std::max(0.0, x - kFlat));
    }
  }
  const auto [low, high] = std::ranges::minmax(heights);
  const double span = std::max(high - low, 1e-6);
  for (double& h : heights) h = (h - low) / span;
  const auto field = HeightField::make(rows, columns, std::move(heights), {half_x, half_y, span, 0.5});
  return {.name = "ground",
          .shape = Shape::height_field(field),
          .pose = {Vec3(half_x - kBehind, 0.0, low)},
          .color = Color{0.62f, 0.58f, 0.50f, 1.0f}};
}

// ----- the robot ------------------------------------------------------------------------------------------------------

// Masses, lengths and limits of a Unitree A1.
constexpr double kThigh = 0.2, kShank = 0.2, kHipOut = 0.08505, kFootRadius = 0.02;  // m
constexpr double kEffort = 33.5;                                                     // N m

void add_leg_hinge(ModelBuilder& builder, Index body, const std::string& name, const Vec3& axis, double lower,
                   double upper, double damping) {
  builder.add_joint({.name = name,
                     .body = body,
                     .kind = JointKind::hinge,
                     .axis = axis,
                     .armature = 0.01,
                     .damping = damping,
                     .limited = true,
                     .lower = lower,
                     .upper = upper,
                     .dry_friction = 0.2});
}

void add_quadruped(ModelBuilder& builder, World& world, const Material& material) {
  const RigidInertia inertia{4.713, Vec3::Zero(), Vec3(0.0159, 0.0378, 0.0457).asDiagonal()};
  const Index trunk = builder.add_free_body("trunk", {Vec3(0.0, 0.0, 0.4)}, inertia);
  world.add_geom({.name = "trunk",
                  .shape = Shape::box(Vec3(0.2, 0.07, 0.055)),
                  .body = trunk,
                  .material = material,
                  .color = Color{0.25f, 0.27f, 0.31f, 1.0f}});
  for (Index leg = 0; leg < 4; ++leg) {
    const double ahead = leg < 2 ? 1.0 : -1.0, side = leg % 2 == 0 ? 1.0 : -1.0;
    const std::string name = std::string(leg < 2 ? "F" : "R") + (leg % 2 == 0 ? "L" : "R");
    const Index hip = add_limb(builder, world,
                               {name + "_hip", trunk, Vec3(ahead * 0.183, side * 0.047, 0.0),
                                Vec3(0.0, side * kHipOut, 0.0), 0.035, 0.696},
                               material);
    add_leg_hinge(builder, hip, name + "_hip_joint", Vec3::UnitX(), -0.802851, 0.802851, 1.0);
    const Index thigh =
        add_limb(builder, world,
                 {name + "_thigh", hip, Vec3(0.0, side * kHipOut, 0.0), Vec3(0.0, 0.0, -kThigh), 0.02, 1.013},
                 material);
    add_leg_hinge(builder, thigh, name + "_thigh_joint", Vec3::UnitY(), -1.0472, 4.18879, 2.0);
    const Index shank = add_limb(
        builder, world,
        {name + "_calf", thigh, Vec3(0.0, 0.0, -kThigh), Vec3(0.0, 0.0, -kShank), 0.01, 0.226}, material);
    add_leg_hinge(builder, shank, name + "_calf_joint", Vec3::UnitY(), -2.69653, -0.916298, 2.0);
    world.add_geom({.name = name + "_foot",
                    .shape = Shape::sphere(kFootRadius),
                    .body = shank,
                    .pose = {Vec3(0.0, 0.0, -kShank)},
                    .material = material,
                    .color = Color{0.85f, 0.45f, 0.20f, 1.0f}});
  }
}

// Crouched: thighs and shanks 0.9 rad from the vertical, or the model's keyframe; feet on the ground.
double stand(Scene& scene, const Quadruped& robot, const World* model) {
  const Model& own = scene.world.model;
  for (const QuadrupedLeg& leg : robot.legs) {
    for (std::size_t k = 0; k < 3; ++k) {
      constexpr std::array<double, 3> kCrouch{0.0, 0.9, -1.8};
      const Index at = own.joint_coordinate(leg.joints[k]);
      // The robot was added first: its coordinates are those of the model.
      scene.start.q[at] =
          model != nullptr && !model->keyframes.empty() ? model->keyframes[0].state.q[at] : kCrouch[k];
    }
  }
  Kinematics kinematics(own);
  kinematics.set_positions(scene.start.q);
  double lowest = 1e300;
  for (const QuadrupedLeg& leg : robot.legs) {
    const Vec3 center = kinematics.pose(leg.foot) * leg.foot_center;
    lowest = std::min(lowest, center.z() - leg.foot_radius);
  }
  const Index root = own.joint_coordinate(own.joint_begin(robot.trunk));
  scene.start.q[root + 2] -= lowest - 1e-4;
  return kinematics.pose(robot.trunk).position.z() - lowest;
}

// ----- what is observed -----------------------------------------------------------------------------------------------

struct WalkRecord {
  bool fell = false;
  double slip = 0.0, tilt = 0.0;  // m, rad
};

void observe_walk(const Simulator& s, const Quadruped& robot, double height, WalkRecord& record) {
  const double weight = s.model().total_mass() * kEarthGravity;
  const Pose& trunk = s.kinematics().pose(robot.trunk);
  record.tilt = std::max(record.tilt, std::acos(std::clamp(trunk.rotation(2, 2), -1.0, 1.0)));
  double lowest_foot = 1e300;
  for (const QuadrupedLeg& leg : robot.legs)
    lowest_foot =
        std::min(lowest_foot, (s.kinematics().pose(leg.foot) * leg.foot_center).z() - leg.foot_radius);
  if (record.tilt > 1.0 || trunk.position.z() - lowest_foot < 0.35 * height) record.fell = true;
  for (std::size_t c = 0; c < s.contacts().size(); ++c) {
    const Contact& contact = s.contacts()[c];
    const Index body = std::max(contact.body_a, contact.body_b);
    const double pressed = s.contact_impulses()[c].dot(contact.normal) / s.time_step();
    if (std::abs(pressed) < 0.02 * weight) continue;
    if (body == robot.trunk) record.fell = true;
    const Vec3& velocity = s.contact_details()[c].velocity;
    record.slip += s.time_step() * (velocity - velocity.dot(contact.normal) * contact.normal).norm();
  }
}

// The controller with the world that it refers to.
struct Walker {
  Walker(const World& own, const Quadruped& robot, const TrotSettings& settings)
      : world(own), trot(world, robot, settings) {}
  World world;
  Trot trot;
};

// Robot and ground; returns how high the trunk stands above the feet, m.
double build_walk(Scene& scene, const SceneValues& values, const Robots& robots, double length) {
  World& world = scene.world;
  const Material material{.friction = number(values, "mu")};
  ModelBuilder builder;
  const World* model = robots.find("quadruped");
  if (model != nullptr) {
    attach(builder, world, *model, {.actuators = false});
  } else {
    add_quadruped(builder, world, material);
  }
  finish_scene(scene, builder);
  const Quadruped robot = find_quadruped(world);
  const double height = stand(scene, robot, model);
  for (const InitialOverlap& overlap : initial_overlaps(world, scene.start)) exclude(world, overlap);
  Geom ground = rough_ground(length, number(values, "roughness"),
                             std::tan(number(values, "slope") * std::numbers::pi / 180.0),
                             static_cast<std::uint64_t>(number(values, "seed")));
  // All of it above z = 0, where viewers draw their floor.
  scene.start.q[world.model.joint_coordinate(world.model.joint_begin(robot.trunk)) + 2] -=
      ground.pose.position.z();
  ground.pose.position.z() = 0.0;
  ground.material = material;
  ground.material.priority = 10;  // the friction is the ground's, whatever a model says of its feet
  world.add_geom(std::move(ground));
  return height;
}

// Walks ahead over ground it does not see.
Scene make_rough_walk(const SceneValues& values, double dt, const Robots& robots) {
  Scene scene = empty_scene("rough-walk", dt, 0.002);
  const double speed = number(values, "speed"), duration = 8.0;
  const double height = build_walk(scene, values, robots, duration * std::max(0.3, speed) + 1.0);
  const World& world = scene.world;
  const Quadruped robot = find_quadruped(world);
  const auto walker = std::make_shared<Walker>(
      world, robot,
      TrotSettings{.height = 1.05 * height, .friction = 0.8 * number(values, "mu"), .effort = kEffort});
  const auto record = std::make_shared<WalkRecord>();
  const TrotCommand command{.velocity = Vec2(speed, 0.0)};
  scene.control = [=](Simulator& s) {
    if (s.step_count() == 0) {
      walker->trot.restart();
      *record = {};
    }
    std::array<double, 4> pressed{};
    for (std::size_t k = 0; k < 4; ++k) pressed[k] = contact_force(s, robot.legs[k].foot).z();
    s.force().setZero();
    walker->trot.add_force(s.kinematics(), s.state(), command, pressed, s.force());
  };
  scene.observe = [=](const Simulator& s, const StepReport&) { observe_walk(s, robot, height, *record); };
  scene.duration = duration;
  const double begin = scene.start.q[world.model.joint_coordinate(world.model.joint_begin(robot.trunk))];
  scene.observables = [=](const Simulator& s) {
    const Vec3& place = s.kinematics().pose(robot.trunk).position;
    const double walked = place.x() - begin;
    return std::vector<Observable>{{"distance", walked, "m"},
                                   {"distance_asked", speed * s.state().time, "m"},
                                   {"fell", record->fell ? 1.0 : 0.0, ""},
                                   {"fell_exact", 0.0, ""},
                                   {"slip", record->slip, "m, all feet together"},
                                   {"steps", static_cast<double>(walker->trot.swings()), "of all feet"},
                                   {"aside", place.y(), "m"},
                                   {"largest_tilt", record->tilt, "rad"}};
  };
  return scene;
}

}  // namespace

std::vector<SceneInfo> walking_scene_infos() {
  return {
      {"rough-walk",
       "a quadruped of 12 kg trots over rough ground that it does not see (Carpentier et al. 2024, Fig. 3)",
       {{"speed", 0.4, 0.0, 1.0, false, "asked for, m/s"},
        {"roughness", 0.06, 0.0, 0.3, false, "of the ground from top to bottom, m"},
        {"slope", 0.0, 0.0, 30.0, false, "of the ground, degrees uphill"},
        {"seed", 1, 0, 1e6, true, "of the ground"},
        {"mu", 0.7, 0.0, 10.0, false, "friction coefficient of the ground"}},
       make_rough_walk,
       {{"quadruped", "unitree_a1", "a1.xml"}}}};
}

}  // namespace tribo::detail
