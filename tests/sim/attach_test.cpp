#include "tribo/sim/attach.h"

#include <gtest/gtest.h>

#include "tribo/base/errors.h"
#include "tribo/scenes/scene.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

// A hinge with a motor and a tendon beside a free ball, on a table of the world's.
World small_world() {
  World world;
  ModelBuilder builder;
  const Index arm = builder.add_body({.name = "arm",
                                      .position = Vec3(0.3, 0.0, 0.4),
                                      .inertia = RigidInertia::point(1.0, Vec3(0.1, 0.0, 0.0))});
  builder.add_joint({.name = "pivot", .body = arm, .axis = Vec3::UnitY(), .armature = 0.01});
  builder.add_site({.name = "hook", .body = 0, .pose = {Vec3(0.0, 0.0, 1.0)}});
  const Index ball =
      builder.add_free_body("ball", {Vec3(0.0, 0.0, 0.3)}, uniform_inertia(Shape::sphere(0.1), 0.5));
  builder.add_actuator({.name = "motor", .joint = 0});
  TendonDescription string{.name = "string", .stiffness = 30.0};
  string.path = {{.body = 0, .pose = {Vec3(0.0, 0.0, 1.0)}}, {.body = arm, .pose = {Vec3(0.2, 0.0, 0.0)}}};
  builder.add_tendon(string);
  world.model = builder.build();
  world.add_geom({.name = "table", .shape = Shape::box(Vec3(1.0, 1.0, 0.1)), .pose = {Vec3(0.0, 0.0, 0.05)}});
  world.add_geom({.name = "ball", .shape = Shape::sphere(0.1), .body = ball});
  world.add_geom({.name = "arm", .shape = Shape::capsule(0.02, 0.1), .body = arm});
  return world;
}

// Attached at a pose turned about the vertical, everything moves as it does alone, turned.
TEST(Attach, MovesAsItDoesAlone) {
  const World other = small_world();
  const Pose pose{Vec3(1.0, 2.0, 0.0), Eigen::AngleAxisd(0.7, Vec3::UnitZ()).toRotationMatrix()};
  World world;
  ModelBuilder builder;
  builder.add_free_body("before", {Vec3(0.0, 0.0, 9.0)}, uniform_inertia(Shape::sphere(0.1), 1.0));
  const Attached added = attach(builder, world, other, {.pose = pose});
  builder.add_free_body("after", {Vec3(0.0, 5.0, 9.0)}, uniform_inertia(Shape::sphere(0.1), 1.0));
  world.model = builder.build();
  EXPECT_EQ(added.body, 2);
  EXPECT_EQ(added.joint, 1);
  EXPECT_EQ(added.body_count, 2);
  Simulator alone(other), together(world);
  for (int k = 0; k < 150; ++k) {
    alone.control()[0] = together.control()[added.actuator] = 0.4;
    alone.step();
    together.step();
  }
  ASSERT_GT(alone.contacts().size(), 0u);
  for (Index b = 1; b <= added.body_count; ++b) {
    const Pose wanted = pose * alone.kinematics().pose(b);
    const Pose& got = together.kinematics().pose(added.body + b - 1);
    EXPECT_LE((wanted.position - got.position).norm(), 1e-9) << b;
    EXPECT_LE((wanted.rotation - got.rotation).norm(), 1e-9) << b;
  }
}

// A robot without its motors has the joints alone.
TEST(Attach, LeavesActuatorsOut) {
  World world;
  ModelBuilder builder;
  const Attached added = attach(builder, world, small_world(), {.actuators = false});
  world.model = builder.build();
  EXPECT_EQ(added.actuator_count, 0);
  EXPECT_TRUE(world.model.actuators().empty());
  EXPECT_EQ(world.geoms.size(), 3u);
}

// A gripper hangs on the arm added before; what floats cannot.
TEST(Attach, HangsOnABody) {
  World gripper;
  {
    ModelBuilder fingers;
    const Index finger = fingers.add_body({.name = "finger",
                                           .position = Vec3(0.0, 0.0, 0.1),
                                           .inertia = uniform_inertia(Shape::sphere(0.02), 0.1)});
    fingers.add_joint({.name = "slide", .body = finger, .kind = JointKind::slide});
    gripper.model = fingers.build();
    gripper.add_geom({.name = "hand", .shape = Shape::sphere(0.05)});
  }
  World world;
  ModelBuilder builder;
  const Index arm = builder.add_body(
      {.name = "arm", .position = Vec3(0.0, 0.0, 1.0), .inertia = uniform_inertia(Shape::sphere(0.1), 1.0)});
  builder.add_joint({.name = "pivot", .body = arm, .axis = Vec3::UnitY()});
  const Attached added = attach(builder, world, gripper, {.body = arm, .pose = {Vec3(0.5, 0.0, 0.0)}});
  world.model = builder.build();
  EXPECT_EQ(world.model.body_parent(added.body), arm);
  EXPECT_EQ(world.geoms[0].body, arm);
  EXPECT_EQ(world.geoms[0].pose.position, Vec3(0.5, 0.0, 0.0));
  Kinematics kinematics(world.model);
  kinematics.set_positions(world.model.reference_coordinates());
  EXPECT_LE((kinematics.pose(added.body).position - Vec3(0.5, 0.0, 1.1)).norm(), 1e-14);
  ModelBuilder again;
  again.add_body({.name = "arm", .inertia = uniform_inertia(Shape::sphere(0.1), 1.0)});
  again.add_joint({.name = "pivot", .body = 1});
  EXPECT_THROW(attach(again, world, small_world(), {.body = 1}), InvalidInput);
}

// What does not move is left out: the ball stays where it hangs, names carry the prefix, and what acts on a joint that is not
// there is refused.
TEST(Attach, LeavesOutWhatDoesNotMove) {
  World other = small_world();
  World world;
  ModelBuilder builder;
  const AttachOptions options{.actuators = true, .prefix = "a_", .moves = [](const JointDescription& joint) {
                                return joint.kind == JointKind::hinge;
                              }};
  const Attached added = attach(builder, world, other, options);
  world.model = builder.build();
  EXPECT_EQ(added.joint_count, 1);
  EXPECT_EQ(world.model.dof_count(), 1);
  EXPECT_EQ(world.model.find_joint("a_pivot"), 0);
  const Index ball = world.model.find_body("a_ball");
  ASSERT_GT(ball, 0);
  Kinematics kinematics(world.model);
  kinematics.set_positions(world.model.reference_coordinates());
  EXPECT_EQ(kinematics.pose(ball).position, Vec3(0.0, 0.0, 0.3));
  EXPECT_EQ(world.model.actuators().size(), 1u);
  other.joint_couplings.push_back({.name = "stop", .first = 0});
  ModelBuilder again;
  World none;
  EXPECT_THROW(attach(again, none, other, {.moves = [](const JointDescription&) { return false; }}),
               InvalidInput);
}

}  // namespace
}  // namespace tribo
