// Trees, frames, joints and replicates of MJCF.
#include <gtest/gtest.h>

#include <numbers>

#include "tests/io/loading.h"
#include "tribo/multibody/kinematics.h"

namespace tribo::test {
namespace {

constexpr double kDegree = std::numbers::pi / 180.0;

Pose reference_pose(const World& world, const std::string& body) {
  Kinematics kinematics(world.model);
  kinematics.set_positions(world.model.reference_coordinates());
  const Index index = world.model.find_body(body);
  EXPECT_GE(index, 0) << body;
  return kinematics.pose(index);
}

TEST(MjcfBodies, OrientationsInAllForms) {
  const World world = load_model(R"(<worldbody>
      <body name="quat" quat="0 0 0 2"/>
      <body name="axisangle" axisangle="0 0 3 180"/>
      <body name="xyaxes" xyaxes="-1 0 0 5 -2 0"/>
      <body name="euler" euler="0 0 180"/>
      <body name="zaxis" zaxis="1 0 0"/>
    </worldbody>)")
                          .world;
  const Mat3 half_turn = Vec3(-1, -1, 1).asDiagonal();
  for (const char* name : {"quat", "axisangle", "xyaxes", "euler"}) {
    EXPECT_TRUE(reference_pose(world, name).rotation.isApprox(half_turn, 1e-14)) << name;
  }
  EXPECT_TRUE((reference_pose(world, "zaxis").rotation * Vec3::UnitZ()).isApprox(Vec3::UnitX(), 1e-14));
}

TEST(MjcfBodies, EulerSequenceAndRadians) {
  const auto rotation = [](const std::string& sequence) {
    const World world = load_model("<compiler angle=\"radian\" eulerseq=\"" + sequence +
                                   "\"/><worldbody><body name=\"b\" euler=\".1 .2 .3\"/></worldbody>")
                            .world;
    return reference_pose(world, "b").rotation;
  };
  const auto turn = [](double angle, int axis) {
    return Eigen::AngleAxisd(angle, Vec3::Unit(axis)).toRotationMatrix();
  };
  EXPECT_TRUE(rotation("xyz").isApprox(turn(.1, 0) * turn(.2, 1) * turn(.3, 2), 1e-14));
  EXPECT_TRUE(rotation("XYZ").isApprox(turn(.3, 2) * turn(.2, 1) * turn(.1, 0), 1e-14));
  EXPECT_TRUE(rotation("zYx").isApprox(turn(.2, 1) * turn(.1, 2) * turn(.3, 0), 1e-14));
}

TEST(MjcfBodies, FramesMoveWhatTheyContain) {
  const World world = load_model(R"(<worldbody><frame pos="1 0 0" euler="0 0 90">
      <geom name="g" size=".1" pos="1 0 0"/>
      <frame pos="0 0 2">
        <body name="b" pos="1 0 0"><frame euler="0 0 90"><joint name="j" axis="1 0 0" pos="0 0 .5"/></frame>
          <geom size=".1"/></body>
      </frame></frame></worldbody>)")
                          .world;
  EXPECT_TRUE(world.geoms[0].pose.position.isApprox(Vec3(1, 1, 0), 1e-14));
  EXPECT_TRUE(reference_pose(world, "b").position.isApprox(Vec3(1, 1, 2), 1e-14));
  const JointDescription& joint = world.model.joint(world.model.find_joint("j"));
  EXPECT_TRUE(joint.axis.isApprox(Vec3::UnitY(), 1e-14));
  EXPECT_TRUE(joint.anchor.isApprox(Vec3(0, 0, .5), 1e-14));
}

TEST(MjcfBodies, JointsWithDegreesLimitsAndSprings) {
  const World world = load_model(R"(<worldbody><body>
      <joint name="hinge" range="-90 45" ref="30" springref="60" stiffness="2" damping=".3" armature=".1"
             frictionloss=".2" margin=".01"/>
      <joint name="slide" type="slide" axis="1 1 0" range="-90 45" ref="30"/>
      <joint name="ball" type="ball" range="0 60"/>
      <joint name="loose" limited="false" range="-1 1"/>
      <geom size=".1"/></body></worldbody>)")
                          .world;
  const auto joint = [&](const char* name) { return world.model.joint(world.model.find_joint(name)); };
  const JointDescription hinge = joint("hinge");
  EXPECT_TRUE(hinge.limited);
  EXPECT_DOUBLE_EQ(hinge.lower, -90 * kDegree);
  EXPECT_DOUBLE_EQ(hinge.upper, 45 * kDegree);
  EXPECT_DOUBLE_EQ(hinge.reference, 30 * kDegree);
  EXPECT_DOUBLE_EQ(hinge.spring_reference, 60 * kDegree);
  EXPECT_DOUBLE_EQ(hinge.dry_friction, 0.2);
  EXPECT_DOUBLE_EQ(hinge.limit_margin, 0.01);
  EXPECT_DOUBLE_EQ(joint("slide").upper, 45.0);
  EXPECT_DOUBLE_EQ(joint("slide").reference, 30.0);
  EXPECT_DOUBLE_EQ(joint("ball").upper, 60 * kDegree);
  EXPECT_FALSE(joint("loose").limited);
  EXPECT_EQ(world.model.dof_count(), 6);
}

// As in MuJoCo, a spring of a free joint pulls and turns its body to where it is described.
TEST(MjcfBodies, FreeJointsHaveSprings) {
  const Loaded loaded = load_model(R"(<worldbody>
      <body pos="1 2 3"><joint type="free" stiffness="5"/><geom size=".1"/></body>
    </worldbody>)");
  EXPECT_FALSE(loaded.warned_of("spring"));
  EXPECT_EQ(loaded.world.model.joint(0).stiffness, 5.0);
}

TEST(MjcfBodies, RangeWithoutAutolimitsMustSayLimited) {
  const std::string message = refusal(
      "<mujoco><compiler autolimits=\"false\"/>\n<worldbody><body>\n<joint range=\"0 "
      "1\"/></body></worldbody></mujoco>");
  EXPECT_TRUE(contains(message, "model.xml:3: <joint>")) << message;
}

TEST(MjcfBodies, ReplicatesAreNestedAndNamed) {
  const World world = load_model(R"(<worldbody><replicate count="12" offset="1 0 0" sep="_">
      <replicate count="2" euler="0 0 90" sep="-"><body name="b" pos="0 1 0"><joint name="j"/><geom size=".1"/></body>
      </replicate></replicate></worldbody><actuator><motor name="m" joint="j"/></actuator>)")
                          .world;
  ASSERT_EQ(world.model.body_count(), 25);
  EXPECT_EQ(world.model.body_name(1), "b-0_00");
  EXPECT_EQ(world.model.body_name(2), "b-1_00");
  EXPECT_EQ(world.model.body_name(24), "b-1_11");
  EXPECT_TRUE(reference_pose(world, "b-0_03").position.isApprox(Vec3(3, 1, 0), 1e-14));
  EXPECT_TRUE(reference_pose(world, "b-1_03").position.isApprox(Vec3(2, 0, 0), 1e-14));
  ASSERT_EQ(world.model.actuators().size(), 24u);
  const ActuatorDescription& motor = world.model.actuators()[3];
  EXPECT_EQ(motor.name, "m-1_01");
  EXPECT_EQ(world.model.joint(motor.joint).name, "j-1_01");
}

TEST(MjcfBodies, ReplicateTurnsAccumulate) {
  const World world = load_model(R"(<worldbody><replicate count="3" offset="1 0 0" euler="0 0 90">
      <body name="b"/></replicate></worldbody>)")
                          .world;
  EXPECT_TRUE(reference_pose(world, "b1").position.isApprox(Vec3(1, 0, 0), 1e-14));
  EXPECT_TRUE(reference_pose(world, "b2").position.isApprox(Vec3(1, 1, 0), 1e-14));
}

TEST(MjcfBodies, AbsurdReplicatesAreRefused) {
  EXPECT_TRUE(
      contains(refusal("<mujoco><worldbody><replicate count=\"99999999\"/></worldbody></mujoco>"), "count"));
  std::string deep = "<light/>";
  for (int k = 0; k < 9; ++k) deep = "<replicate count=\"1000\">" + deep + "</replicate>";
  EXPECT_TRUE(contains(refusal("<mujoco><worldbody>" + deep + "</worldbody></mujoco>"), "two million"));
}

TEST(MjcfBodies, FreeBodiesAndAlignment) {
  const World world = load_model(R"(<worldbody>
      <body name="a" pos="1 2 3"><freejoint align="true"/><geom name="g" type="box" size=".1 .2 .3" pos="1 0 0"/></body>
      <body name="b" pos="1 2 3"><joint type="free"/><geom size=".1"/></body></worldbody>)")
                          .world;
  EXPECT_TRUE(world.model.is_free_body(0));
  EXPECT_TRUE(reference_pose(world, "a").position.isApprox(Vec3(2, 2, 3), 1e-14));
  EXPECT_TRUE(world.geoms[0].pose.position.isZero(1e-14));
  EXPECT_TRUE(world.model.inertia(1).rotational.isDiagonal(1e-12));
  EXPECT_TRUE(reference_pose(world, "b").position.isApprox(Vec3(1, 2, 3), 1e-14));
}

TEST(MjcfBodies, AttachesBodiesOfOtherModels) {
  const TemporaryFolder folder;
  folder.write("arm.xml",
               R"(<mujoco model="arm"><compiler angle="radian"/><default><geom size=".3"/></default>
      <worldbody><geom name="floor" type="plane"/><body name="link" pos="0 0 1"><joint name="j" range="-1 1"/><geom name="g"/></body>
        <body name="other"><joint name="k"/><geom/></body></worldbody>
      <actuator><motor name="m" joint="j"/><motor name="n" joint="k"/></actuator></mujoco>)");
  const auto file = folder.write("main.xml", R"(<mujoco><asset><model file="arm.xml"/></asset><worldbody>
      <replicate count="2" offset="1 0 0"><attach model="arm" body="link" prefix="p_"/></replicate></worldbody></mujoco>)");
  LoadReport report;
  const World world = load_world(file, {}, report);
  EXPECT_TRUE(report.warnings.empty());
  ASSERT_EQ(world.model.body_count(), 3);
  EXPECT_EQ(world.model.body_name(2), "p_link1");
  EXPECT_TRUE(reference_pose(world, "p_link1").position.isApprox(Vec3(1, 0, 1), 1e-14));
  EXPECT_DOUBLE_EQ(world.model.joint(0).upper, 1.0);  // in the units of the attached file
  ASSERT_EQ(world.geoms.size(), 2u);
  EXPECT_DOUBLE_EQ(world.geoms[0].shape.radius(), 0.3);
  ASSERT_EQ(world.model.actuators().size(), 2u);  // what drives other bodies stays behind
  EXPECT_EQ(world.model.actuators()[1].name, "p_m1");
}

TEST(MjcfBodies, MissingModelsAreNamedWhereTheyAreWanted) {
  const std::string attach = "<worldbody><attach model=\"m\" body=\"b\"/></worldbody>";
  const std::string named =
      refusal("<mujoco>\n<asset><model name=\"m\" file=\"/none/m.xml\"/></asset>\n" + attach + "</mujoco>");
  EXPECT_TRUE(contains(named, "model.xml:3: <attach>: there is no file /none/m.xml")) << named;
  const std::string unnamed = refusal("<mujoco>\n<asset><model file=\"/none/m.xml\"/></asset></mujoco>");
  EXPECT_TRUE(contains(unnamed, "model.xml:2: <model>")) << unnamed;
}

TEST(MjcfBodies, ModelsThatAttachThemselvesAreRefused) {
  const TemporaryFolder folder;
  const auto file =
      folder.write("main.xml", R"(<mujoco model="main"><asset><model name="me" file="main.xml"/></asset>
      <worldbody><body name="b"><attach model="me" body="b" prefix="x"/></body></worldbody></mujoco>)");
  LoadReport report;
  EXPECT_THROW(load_world(file, {}, report), InvalidInput);
}

}  // namespace
}  // namespace tribo::test
