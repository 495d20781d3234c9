// Articulated scenes made of primitives: eight quadrupeds dropped (Lee et al. 2024 sec. VII-D), an arm pressing on a
// table with a known force.
#include "tribo/scenes/robot_scenes.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "tribo/multibody/dynamics.h"

namespace tribo::detail {

namespace {

constexpr double kThigh = 0.25, kShank = 0.25;  // m
const Vec3 kTrunkHalf(0.25, 0.08, 0.05);

// A link with a capsule from the origin of its frame to `end`.
Index add_link(ModelBuilder& builder, World& world, const std::string& name, Index parent,
               const Vec3& position, const Vec3& end, double radius, double mass, const Material& material) {
  const Shape shape = Shape::capsule(radius, 0.5 * end.norm());
  const Pose pose{0.5 * end, Quat::FromTwoVectors(Vec3::UnitZ(), end).toRotationMatrix()};
  const Index body = builder.add_body({.name = name,
                                       .parent = parent,
                                       .position = position,
                                       .inertia = uniform_inertia(shape, mass).placed(pose)});
  world.add_geom({.name = name, .shape = shape, .body = body, .pose = pose, .material = material});
  return body;
}

void add_hinge(ModelBuilder& builder, Index body, const std::string& name, const Vec3& axis, double lower,
               double upper) {
  builder.add_joint({.name = name,
                     .body = body,
                     .kind = JointKind::hinge,
                     .axis = axis,
                     .armature = 0.01,
                     .damping = 0.1,
                     .limited = true,
                     .lower = lower,
                     .upper = upper});
}

void add_leg(ModelBuilder& builder, World& world, const std::string& prefix, Index trunk, Index leg,
             const Material& material) {
  const double x = leg < 2 ? 0.2 : -0.2, side = leg % 2 == 0 ? 1.0 : -1.0;
  const std::string name = prefix + "leg" + std::to_string(leg);
  const Index hip = add_link(builder, world, name + "_hip", trunk, Vec3(x, side * kTrunkHalf.y(), 0.0),
                             Vec3(0.0, side * 0.08, 0.0), 0.04, 1.1, material);
  add_hinge(builder, hip, name + "_abduct", Vec3::UnitX(), -0.8, 0.8);
  const Index thigh = add_link(builder, world, name + "_thigh", hip, Vec3(0.0, side * 0.08, 0.0),
                               Vec3(0.0, 0.0, -kThigh), 0.03, 1.5, material);
  add_hinge(builder, thigh, name + "_pitch", Vec3::UnitY(), -1.5, 1.5);
  const Index shank = add_link(builder, world, name + "_shank", thigh, Vec3(0.0, 0.0, -kThigh),
                               Vec3(0.0, 0.0, -kShank), 0.02, 0.3, material);
  add_hinge(builder, shank, name + "_knee", Vec3::UnitY(), -2.6, -0.3);
}

Scene make_quadrupeds(const SceneValues& values, double dt) {
  Scene scene = empty_scene("quadrupeds", dt, 0.002);
  const Index count = whole(values, "robots");
  const Material material{.friction = number(values, "mu")};
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  const Shape trunk_shape = Shape::box(kTrunkHalf);
  for (Index r = 0; r < count; ++r) {
    const std::string prefix = "robot" + std::to_string(r) + "_";
    // Two by two in layers, so that the upper ones fall on the lower ones.
    const Vec3 place(0.65 * (r % 2), 0.45 * (r / 2 % 2), 0.6 + 0.7 * (r / 4));
    const Index trunk = builder.add_free_body(prefix + "trunk", {place}, uniform_inertia(trunk_shape, 5.0));
    scene.world.add_geom(
        {.name = prefix + "trunk", .shape = trunk_shape, .body = trunk, .material = material});
    for (Index leg = 0; leg < 4; ++leg) add_leg(builder, scene.world, prefix, trunk, leg, material);
  }
  finish_scene(scene, builder);
  for (Index j = 0; j < scene.world.model.joint_count(); ++j) {
    const JointDescription& joint = scene.world.model.joint(j);
    if (joint.kind != JointKind::hinge) continue;
    scene.start.q[scene.world.model.joint_coordinate(j)] = joint.upper < 0.0   ? -1.2
                                                           : joint.upper > 1.0 ? 0.6
                                                                               : 0.0;
  }
  scene.duration = 2.0;
  scene.observables = [](const Simulator& s) {
    double lowest = 1e300, mean = 0.0, limit = 0.0;
    Index trunks = 0;
    for (Index t = 0; t < s.model().tree_count(); ++t) {
      mean += s.kinematics().pose(s.model().tree_body(t)).position.z();
      ++trunks;
    }
    for (Index b = 1; b < s.model().body_count(); ++b)
      lowest = std::min(lowest, s.kinematics().center(b).z());
    for (Index j = 0; j < s.model().joint_count(); ++j) {
      const JointDescription& joint = s.model().joint(j);
      if (!joint.limited) continue;
      const double q = s.state().q[s.model().joint_coordinate(j)];
      limit = std::max({limit, joint.lower - q, q - joint.upper});
    }
    return std::vector<Observable>{{"trunk_height_mean", mean / std::max<Index>(1, trunks), "m"},
                                   {"lowest_centre", lowest, "m"},
                                   {"limit_violation", limit, "rad"},
                                   {"limit_violation_exact", 0.0, "rad"}};
  };
  return scene;
}

// Motors hold the weight and press with J^T F: the table must answer with F and nothing may creep.
Scene make_arm_press(const SceneValues& values, double dt) {
  Scene scene = empty_scene("arm-press", dt, 0.002);
  const double force = number(values, "force"), push = number(values, "push");
  const Material material{.friction = number(values, "mu")};
  ModelBuilder builder;
  World& world = scene.world;
  const double tip_radius = 0.03;
  const Index shoulder =
      add_link(builder, world, "upper_arm", 0, Vec3(0.0, 0.0, 0.5), Vec3(0.0, 0.0, 0.4), 0.04, 4.0, material);
  builder.add_joint(
      {.name = "base", .body = shoulder, .kind = JointKind::hinge, .axis = Vec3::UnitZ(), .armature = 0.01});
  builder.add_joint({.name = "shoulder",
                     .body = shoulder,
                     .kind = JointKind::hinge,
                     .axis = Vec3::UnitY(),
                     .armature = 0.01});
  const Index elbow = add_link(builder, world, "forearm", shoulder, Vec3(0.0, 0.0, 0.4), Vec3(0.0, 0.0, 0.4),
                               0.03, 2.5, material);
  builder.add_joint(
      {.name = "elbow", .body = elbow, .kind = JointKind::hinge, .axis = Vec3::UnitY(), .armature = 0.01});
  const Shape tip = Shape::sphere(tip_radius);
  const Index hand = builder.add_body({.name = "hand",
                                       .parent = elbow,
                                       .position = Vec3(0.0, 0.0, 0.45),
                                       .inertia = uniform_inertia(tip, 0.3)});
  world.add_geom({.name = "hand", .shape = tip, .body = hand, .material = material});
  for (Index joint = 0; joint < 3; ++joint)
    builder.add_actuator({.name = "motor" + std::to_string(joint), .joint = joint});
  finish_scene(scene, builder);
  scene.start.q << 0.3, 0.9, 1.3;
  Kinematics kinematics(world.model);
  Dynamics dynamics(world.model);
  kinematics.set_positions(scene.start.q);
  kinematics.set_velocities(scene.start.v);
  dynamics.set_positions(kinematics);
  const Vec3 place = kinematics.pose(hand).position;
  world.add_geom({.name = "table",
                  .shape = Shape::box({0.4, 0.4, 0.02}),
                  .pose = {Vec3(place.x(), place.y(), place.z() - tip_radius - 0.02)},
                  .material = material});
  world.excluded_bodies = {{0, shoulder}, {0, elbow}};
  // Static balance: bias = J^T (reaction) + torque, reaction = F z minus the sideways push.
  Vector bias;
  dynamics.bias(kinematics, world.gravity, bias);
  Eigen::Matrix<double, 3, Eigen::Dynamic> jacobian(3, 3);
  const Vec3 touch = place - Vec3(0.0, 0.0, tip_radius);
  kinematics.point_jacobian(hand, touch, jacobian);
  const Vector torque = bias - jacobian.transpose() * Vec3(-push, 0.0, force);
  scene.control = [torque](Simulator& s) { s.control() = torque; };
  scene.duration = 2.0;
  scene.observables = [=](const Simulator& s) {
    Vec3 reaction = Vec3::Zero();
    for (std::size_t c = 0; c < s.contacts().size(); ++c) {
      const double sign = s.contacts()[c].body_b == hand ? 1.0 : -1.0;
      reaction += sign * s.contact_impulses()[c] / s.time_step();
    }
    return std::vector<Observable>{{"press_force", reaction.z(), "N"},
                                   {"press_force_exact", force, "N"},
                                   {"friction_force", -reaction.x(), "N"},
                                   {"friction_force_exact", push, "N (while it sticks)"},
                                   {"creep", (s.kinematics().pose(hand).position - place).norm(), "m"},
                                   {"creep_exact", 0.0, "m"}};
  };
  return scene;
}

}  // namespace

std::vector<SceneInfo> robot_scene_infos() {
  return {{"quadrupeds",
           "18-dof robots of primitives dropped on each other (Lee et al. 2024, sec. VII-D)",
           {{"robots", 8, 1, 1000, true, "number of robots"},
            {"mu", 0.7, 0.0, 10.0, false, "friction coefficient"}},
           make_quadrupeds},
          {"arm-press",
           "a three-joint arm presses on a table with a known force and a sideways push",
           {{"force", 50.0, 0.0, 1000.0, false, "N, downwards"},
            {"push", 20.0, -1000.0, 1000.0, false, "N, sideways; sticks while |push| <= mu force"},
            {"mu", 0.8, 0.0, 10.0, false, "friction coefficient"}},
           make_arm_press}};
}

}  // namespace tribo::detail
