#include "tribo/multibody/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/random_model.h"
#include "tribo/base/errors.h"
#include "tribo/multibody/model_builder.h"

namespace tribo {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const RigidInertia kSolid{1.0, Vec3::Zero(), Mat3::Identity()};

// Builds and returns the message of the InvalidInput.
std::string message_of(const std::function<void(ModelBuilder&)>& describe) {
  ModelBuilder builder;
  try {
    describe(builder);
    builder.build();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

std::string body_message(BodyDescription body) {
  return message_of([&](ModelBuilder& builder) {
    body.name = "arm";
    builder.add_body(body);
    builder.add_joint({.body = 1});
  });
}

std::string joint_message(JointDescription joint) {
  return message_of([&](ModelBuilder& builder) {
    builder.add_body({.inertia = kSolid});
    joint.name = "elbow";
    joint.body = 1;
    builder.add_joint(joint);
  });
}

void expect_contains(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks " << part;
}

TEST(Model, NumbersTreesDofsAndBodies) {
  ModelBuilder builder;
  const Index wall = builder.add_body({.name = "wall"});
  const Index arm = builder.add_body({.name = "arm", .parent = wall, .inertia = kSolid});
  builder.add_joint(
      {.name = "a", .body = arm, .kind = JointKind::hinge, .axis = Vec3(0, 0, 5), .damping = 2.0});
  builder.add_joint({.name = "b", .body = arm, .kind = JointKind::ball, .armature = 0.5});
  const Index tool = builder.add_body({.name = "tool", .parent = arm, .inertia = kSolid});
  const Index left = builder.add_body({.name = "left", .parent = tool, .inertia = kSolid});
  builder.add_joint({.name = "l", .body = left, .kind = JointKind::slide, .reference = 0.2});
  const Index right = builder.add_body({.name = "right", .parent = tool, .inertia = kSolid});
  builder.add_joint({.name = "r", .body = right, .kind = JointKind::slide, .dry_friction = 3.0});
  const Index crate = builder.add_free_body("crate", {Vec3(1, 2, 3), Mat3::Identity()}, kSolid);
  const Model model = builder.build();

  EXPECT_EQ(model.body_count(), 7);
  EXPECT_EQ(model.tree_count(), 2);
  EXPECT_EQ(model.dof_count(), 12);
  EXPECT_EQ(model.coordinate_count(), 14);
  EXPECT_EQ(model.body_tree(wall), -1);
  EXPECT_EQ(model.body_dof(wall), -1);
  EXPECT_EQ(model.body_tree(tool), 0);
  EXPECT_EQ(model.body_dof(tool), 3);
  EXPECT_EQ(model.joint_begin(tool), model.joint_end(tool));
  EXPECT_EQ(model.dof_parent(0), -1);
  EXPECT_EQ(model.dof_parent(4), 3);
  EXPECT_EQ(model.dof_parent(5), 3);
  EXPECT_EQ(model.dof_parent(6), -1);
  EXPECT_EQ(model.dof_joint(3), model.find_joint("b"));
  EXPECT_EQ(model.tree_body(0), arm);
  EXPECT_EQ(model.tree_body_end(0), right + 1);
  EXPECT_EQ(model.tree_dof_count(0), 6);
  EXPECT_FALSE(model.is_free_body(0));
  EXPECT_TRUE(model.is_free_body(1));
  EXPECT_EQ(model.find_body("crate"), crate);
  EXPECT_EQ(model.find_body("nobody"), -1);
  EXPECT_EQ(model.joint(0).axis, Vec3::UnitZ());
  EXPECT_EQ(model.damping()[0], 2.0);
  EXPECT_EQ(model.armature()[3], 0.5);
  EXPECT_EQ(model.dry_friction()[5], 3.0);
  EXPECT_EQ(model.total_mass(), 5.0);
  Vector reference(14);
  reference << 0, 1, 0, 0, 0, 0.2, 0, 1, 2, 3, 1, 0, 0, 0;
  EXPECT_EQ(model.reference_coordinates(), reference);
}

TEST(Model, EmptyAndStaticModelsAreModels) {
  ModelBuilder builder;
  EXPECT_EQ(builder.build().dof_count(), 0);
  builder.add_body({.name = "floor"});
  const Model model = builder.build();
  EXPECT_EQ(model.body_count(), 2);
  EXPECT_EQ(model.tree_count(), 0);
  EXPECT_EQ(initial_state(model).q.size(), 0);
}

TEST(Model, InertiasMoveAndAddUp) {
  test::Random random(1);
  const RigidInertia a = test::random_inertia(random), b = test::random_inertia(random);
  const Pose pose{random.vec3(), test::random_rotation(random).toRotationMatrix()};
  // The kinetic energy of a motion does not depend on the frame or on how the masses are grouped.
  const auto energy = [](const RigidInertia& i, const Vec3& v, const Vec3& w) {
    return 0.5 * i.mass * (v + w.cross(i.center)).squaredNorm() + 0.5 * w.dot(i.rotational * w);
  };
  const Vec3 v = random.vec3(), w = random.vec3();
  EXPECT_NEAR(energy(a + b, v, w), energy(a, v, w) + energy(b, v, w), 1e-14);
  const Vec3 outer_w = pose.rotation * w, outer_v = pose.rotation * v - outer_w.cross(pose.position);
  EXPECT_NEAR(energy(a.placed(pose), outer_v, outer_w), energy(a, v, w), 1e-14);
  const RigidInertia nothing = RigidInertia{} + RigidInertia{};
  EXPECT_EQ(nothing.mass, 0.0);
  EXPECT_TRUE(nothing.center.allFinite());
}

TEST(Model, BadBodiesAreNamed) {
  expect_contains(body_message({.parent = 1, .inertia = kSolid}), {"body 1 \"arm\"", "parent is 1"});
  expect_contains(body_message({.position = Vec3(0, kNan, 0), .inertia = kSolid}),
                  {"body 1 \"arm\"", "position"});
  expect_contains(body_message({.rotation = Quat(0, 0, 0, 0), .inertia = kSolid}), {"rotation"});
  expect_contains(body_message({.inertia = {-1.0, Vec3::Zero(), Mat3::Identity()}}), {"mass is -1"});
  expect_contains(body_message({.inertia = {1.0, Vec3(kNan, 0, 0), Mat3::Identity()}}), {"centre of mass"});
  Mat3 skewed = Mat3::Identity();
  skewed(0, 1) = 0.1;
  expect_contains(body_message({.inertia = {1.0, Vec3::Zero(), skewed}}), {"not symmetric"});
  expect_contains(body_message({.inertia = {1.0, Vec3::Zero(), Vec3(1, -1, 1).asDiagonal()}}),
                  {"negative eigenvalue -1"});
}

TEST(Model, BodiesThatMoveNeedInertia) {
  expect_contains(body_message({}), {"body 1 \"arm\"", "no mass"});
  expect_contains(body_message({.inertia = RigidInertia::point(1.0, {0, 0, 1})}),
                  {"hinge joint", "rotational inertia"});
  EXPECT_EQ(body_message({.inertia = RigidInertia::point(1.0, {0, 1, 0})}), "accepted");
  // What is welded to a body counts, and so does what hangs on it by joints.
  EXPECT_EQ(message_of([](ModelBuilder& b) {
              b.add_body({});
              b.add_joint({.body = 1});
              b.add_body({.parent = 1, .inertia = kSolid});
            }),
            "accepted");
  expect_contains(message_of([](ModelBuilder& b) {
                    b.add_free_body("dust", {}, RigidInertia::point(1.0, Vec3::Zero()));
                  }),
                  {"dust", "free joint"});
  EXPECT_EQ(message_of([](ModelBuilder& b) {
              b.add_body({});
              b.add_joint({.body = 1, .armature = 0.1});
            }),
            "accepted");
}

TEST(Model, BadJointsAreNamed) {
  EXPECT_EQ(joint_message({}), "accepted");
  expect_contains(joint_message({.axis = Vec3::Zero()}), {"joint 0 \"elbow\"", "axis is zero"});
  expect_contains(joint_message({.anchor = Vec3(kNan, 0, 0)}), {"anchor"});
  expect_contains(joint_message({.armature = -1.0}), {"armature is -1"});
  expect_contains(joint_message({.damping = kNan}), {"damping"});
  expect_contains(joint_message({.limited = true, .lower = 1.0, .upper = -1.0}),
                  {"limits [1, -1] are crossed"});
  expect_contains(joint_message({.limited = true, .lower = kNan, .upper = 1.0}), {"crossed"});
  expect_contains(joint_message({.kind = JointKind::ball, .limited = true}), {"largest angle"});
  expect_contains(joint_message({.kind = JointKind::free, .limited = true}), {"no limits"});
}

TEST(Model, OrderOfPiecesIsChecked) {
  expect_contains(message_of([](ModelBuilder& b) {
                    b.add_body({.inertia = kSolid});
                    b.add_body({.inertia = kSolid});
                    b.add_body({.name = "late", .parent = 1, .inertia = kSolid});
                  }),
                  {"body 3 \"late\"", "before its next sibling"});
  expect_contains(message_of([](ModelBuilder& b) { b.add_joint({.name = "x", .body = 0}); }),
                  {"\"x\"", "world"});
  expect_contains(message_of([](ModelBuilder& b) {
                    b.add_body({.inertia = kSolid});
                    b.add_body({.inertia = kSolid});
                    b.add_joint({.name = "x", .body = 1});
                  }),
                  {"\"x\"", "added last"});
  expect_contains(message_of([](ModelBuilder& b) {
                    b.add_body({.inertia = kSolid});
                    b.add_joint({.body = 1, .kind = JointKind::free});
                    b.add_joint({.body = 1});
                  }),
                  {"only joint"});
  expect_contains(message_of([](ModelBuilder& b) {
                    b.add_body({.inertia = kSolid});
                    b.add_body({.parent = 1, .inertia = kSolid});
                    b.add_joint({.body = 2, .kind = JointKind::free});
                  }),
                  {"body 2", "hangs on the world"});
}

TEST(Model, BadTendonsActuatorsAndSitesAreNamed) {
  const auto with_joint = [](const std::function<void(ModelBuilder&)>& more) {
    return message_of([&](ModelBuilder& b) {
      b.add_body({.inertia = kSolid});
      b.add_joint({.body = 1});
      b.add_joint({.body = 1, .kind = JointKind::ball, .armature = 1.0});
      more(b);
    });
  };
  using Builder = ModelBuilder&;
  expect_contains(with_joint([](Builder b) { b.add_tendon({.name = "t"}); }), {"tendon 0 \"t\"", "no terms"});
  expect_contains(with_joint([](Builder b) { b.add_tendon({.terms = {{7, 1.0}}}); }), {"no joint 7"});
  expect_contains(with_joint([](Builder b) { b.add_tendon({.terms = {{1, 1.0}}}); }), {"ball joint"});
  expect_contains(with_joint([](Builder b) { b.add_actuator({.name = "m"}); }),
                  {"actuator 0 \"m\"", "exactly one"});
  expect_contains(with_joint([](Builder b) { b.add_actuator({.joint = 5}); }), {"no joint 5"});
  expect_contains(with_joint([](Builder b) { b.add_actuator({.tendon = 0}); }), {"no tendon 0"});
  expect_contains(
      with_joint([](Builder b) { b.add_actuator({.joint = 0, .force_lower = 1, .force_upper = 0}); }),
      {"force limits", "crossed"});
  expect_contains(with_joint([](Builder b) { b.add_site({.name = "s", .body = 9}); }),
                  {"site 0 \"s\"", "no body 9"});
  EXPECT_EQ(with_joint([](Builder b) {
              b.add_tendon({.name = "t", .terms = {{0, 1.0}}});
              b.add_actuator({.tendon = 0});
              b.add_site({.name = "s", .body = 1});
            }),
            "accepted");
}

}  // namespace
}  // namespace tribo
