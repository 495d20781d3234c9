// Sections of MJCF that refer to bodies, joints and geoms by name; options, keyframes, includes, messages.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/io/loading.h"

namespace tribo::test {
namespace {

const std::string kArm = R"(<worldbody><site name="s0" pos="0 0 3"/>
  <body name="a" pos="0 0 1"><joint name="j" axis="0 1 0" ref="10"/><geom name="ga" size=".1" friction=".4"/>
    <site name="s1" pos="1 0 0"/>
    <body name="b" pos="0 0 1"><joint name="k" type="slide"/><geom name="gb" size=".1" friction=".6"/></body></body>
  <body name="c" pos="0 5 0"><freejoint/><geom name="gc" size=".1" contype="0" conaffinity="0"/></body></worldbody>)";

World arm(const std::string& sections) { return load_model(kArm + sections).world; }

TEST(MjcfSections, PairsAndExcludes) {
  const World world = arm(R"(<contact><pair geom1="ga" geom2="gc"/>
      <pair geom1="ga" geom2="gb" friction=".9 .9" condim="1" margin=".01" gap=".02"/><exclude body1="a" body2="c"/></contact>)");
  ASSERT_EQ(world.geoms.size(), 3u);  // gc is there because a pair names it
  ASSERT_EQ(world.pairs.size(), 2u);
  EXPECT_EQ(world.pairs[0].material.friction, 1.0);  // the larger one, gc's default
  EXPECT_FALSE(world.pairs[0].frictionless);
  EXPECT_EQ(world.pairs[1].material.friction, 0.9);
  EXPECT_TRUE(world.pairs[1].frictionless);
  const World slippery =
      arm(R"(<contact><pair geom1="ga" geom2="gc" condim="6" friction=".9 .2 .01 .002 .003"/>
      <pair geom1="ga" geom2="gb" condim="4" friction=".7"/></contact>)");
  EXPECT_EQ(slippery.pairs[0].friction_rows, 6);
  EXPECT_EQ(slippery.pairs[0].second_friction, 0.2);
  EXPECT_EQ(slippery.pairs[0].material.torsional, 0.01);
  EXPECT_EQ(slippery.pairs[0].material.rolling, 0.002);
  EXPECT_EQ(slippery.pairs[0].second_rolling, 0.003);
  EXPECT_EQ(slippery.pairs[1].friction_rows, 4);
  EXPECT_LT(slippery.pairs[1].second_friction, 0.0);  // as along the first tangent
  EXPECT_EQ(world.pairs[1].thickness, 0.01);
  EXPECT_EQ(world.pairs[1].margin, 0.02);
  ASSERT_EQ(world.excluded_bodies.size(), 1u);
  EXPECT_EQ(world.excluded_bodies[0], std::make_pair(Index{1}, Index{3}));
}

TEST(MjcfSections, ConnectsAndWelds) {
  const World world =
      arm(R"(<equality><connect body1="a" body2="c" anchor="1 0 0"/><connect site1="s0" site2="s1"/>
      <weld body1="a" body2="c"/><weld body1="c" relpose="1 2 3 0 1 0 0" anchor="0 0 1"/>
      <weld site1="s0" site2="s1"/><weld body1="a" body2="b" active="false"/></equality>)");
  ASSERT_EQ(world.connects.size(), 2u);
  EXPECT_TRUE(world.connects[0].second_anchor.isApprox(Vec3(1, -5, 1), 1e-14));
  EXPECT_EQ(world.connects[1].first, 0);
  EXPECT_TRUE(world.connects[1].second_anchor.isApprox(Vec3(1, 0, 0), 1e-14));
  ASSERT_EQ(world.welds.size(), 3u);
  EXPECT_TRUE(world.welds[0].first_frame.position.isApprox(Vec3(0, 5, -1), 1e-14));
  EXPECT_TRUE(world.welds[1].first_frame.position.isApprox(Vec3(1, 2, 3), 1e-14));
  EXPECT_TRUE(world.welds[1].second_frame.position.isApprox(Vec3(0, 0, 1), 1e-14));
  EXPECT_EQ(world.welds[1].second, 0);
}

TEST(MjcfSections, CouplingsAndTendons) {
  const World world =
      arm(R"(<tendon><fixed name="t" stiffness="3" range="-1 2" damping=".1" frictionloss=".2">
        <joint joint="j" coef="2"/><joint joint="k" coef="-1"/></fixed><fixed name="u"><joint joint="k" coef="1"/></fixed></tendon>
      <equality><joint joint1="k" joint2="j" polycoef="0 3 1"/><joint joint1="k"/><tendon tendon1="t" tendon2="u"/></equality>)");
  ASSERT_EQ(world.model.tendons().size(), 2u);
  const TendonDescription& tendon = world.model.tendons()[0];
  EXPECT_EQ(tendon.terms[1].coefficient, -1.0);
  EXPECT_TRUE(tendon.limited);
  EXPECT_EQ(tendon.spring_lower, 0.0);  // at rest where the joints' springs are, not at their references
  EXPECT_EQ(tendon.dry_friction, 0.2);
  ASSERT_EQ(world.joint_couplings.size(), 2u);
  EXPECT_EQ(world.joint_couplings[0].first, 1);
  EXPECT_EQ(world.joint_couplings[0].second, 0);
  EXPECT_EQ(world.joint_couplings[0].polynomial, (std::array<double, 5>{0, 3, 1, 0, 0}));
  EXPECT_EQ(world.joint_couplings[1].second, -1);
  ASSERT_EQ(world.tendon_couplings.size(), 1u);
  EXPECT_EQ(world.tendon_couplings[0].second, 1);
}

TEST(MjcfSections, ActuatorsOfAllKinds) {
  const World world =
      load_model(
          R"(<default><general ctrlrange="-1 1"/><position kp="50"/><default class="d"><position kv="4"/></default></default>)" +
          kArm + R"(<actuator><motor joint="j" gear="3" forcerange="-2 5"/><position joint="k" class="d"/>
        <velocity joint="j" kv="7" ctrllimited="false"/><general joint="k" biastype="affine" gainprm="2" biasprm="1 2 3"/>
        <motor jointinparent="j"/></actuator>)")
          .world;
  const auto& actuators = world.model.actuators();
  ASSERT_EQ(actuators.size(), 5u);
  EXPECT_EQ(actuators[0].gear[0], 3.0);
  EXPECT_EQ(actuators[0].force_upper, 5.0);
  EXPECT_EQ(actuators[0].control_lower, -1.0);
  EXPECT_EQ(actuators[1].gain, 50.0);
  EXPECT_EQ(actuators[1].bias, Vec3(0, -50, -4));
  EXPECT_EQ(actuators[2].gain, 7.0);
  EXPECT_EQ(actuators[2].bias, Vec3(0, 0, -7));
  EXPECT_TRUE(std::isinf(actuators[2].control_upper));
  EXPECT_EQ(actuators[3].bias, Vec3(1, 2, 3));
  EXPECT_EQ(actuators[4].joint, 0);
}

TEST(MjcfSections, DampingRatioIsOfTheInertiaThatIsFelt) {
  // A point mass of 2 kg on a slide, geared 3: m = 2 / 9, so kv = 2 zeta sqrt(kp m).
  const World world = load_model(R"(<worldbody><body><joint name="j" type="slide"/>
      <inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body></worldbody>
      <actuator><position joint="j" kp="50" dampratio=".5" gear="3"/></actuator>)")
                          .world;
  EXPECT_NEAR(world.model.actuators()[0].bias[2], -std::sqrt(50.0 * 2.0 / 9.0), 1e-12);
}

// Stiffness and damping of MuJoCo 4.0.0 (jnt_stiffness, dof_damping), computed once from the same text.
TEST(MjcfSections, SpringDampersAreOfTheInertiaThatIsFelt) {
  const auto load = [](const std::string& kind, const std::string& option = "") {
    return load_model(
               option + R"(<worldbody><body><joint name="a" axis="0 1 0"/>
        <geom type="box" size=".1 .2 .3" pos=".2 0 0"/><body pos="0 0 .5"><joint type=")" +
               kind +
               R"(" springdamper=".1 .5"/><geom size=".1" mass="2" pos=".1 0 .1"/></body></body></worldbody>)")
        .world.model.joint(1);
  };
  EXPECT_NEAR(load("hinge").stiffness, 11.2, 1e-11);
  EXPECT_NEAR(load("hinge").damping, 0.56, 1e-13);
  EXPECT_NEAR(load("slide").stiffness, 796.2511715089033, 1e-9);
  EXPECT_NEAR(load("slide").damping, 39.81255857544517, 1e-10);
  EXPECT_NEAR(load("ball").stiffness, 7.093840536785538, 1e-11);
  EXPECT_NEAR(load("ball").damping, 0.354692026839277, 1e-12);
  const JointDescription off = load("hinge", R"(<option><flag spring="disable"/></option>)");
  EXPECT_EQ(off.stiffness, 0.0);
  EXPECT_NEAR(off.damping, 0.56, 1e-13);
}

TEST(MjcfSections, JointForceLimitsPassToTheMotor) {
  const World world =
      load_model(R"(<worldbody><body><joint name="j" actuatorfrcrange="-6 4"/><geom size=".1"/></body>
      </worldbody><actuator><motor joint="j" gear="-2" forcerange="-1 9"/></actuator>)")
          .world;
  EXPECT_EQ(world.model.actuators()[0].force_lower, -1.0);
  EXPECT_EQ(world.model.actuators()[0].force_upper, 3.0);
}

TEST(MjcfSections, WhatIsNotSupportedIsLeftOutWithItsLine) {
  const Loaded loaded =
      load_model(kArm + R"(<tendon><elastic name="s"><site site="s0"/><site site="s1"/></elastic></tendon>
<actuator><motor joint="j"/><muscle joint="j"/><motor tendon="s"/><motor slidersite="s1" cranksite="s0" cranklength="1"/>
<general joint="k" dyntype="user"/><general joint="j" gaintype="user"/><motor joint="k"/></actuator>
<keyframe><key name="home" qpos="1 2 0 0 0 0 0 0 0" ctrl="1 2 3 4 5 6 7"/></keyframe><unknown/>)",
                 {.allow_missing = true});
  EXPECT_EQ(loaded.world.model.actuators().size(), 2u);
  EXPECT_TRUE(loaded.warned_of("kind of tendon"));
  EXPECT_TRUE(loaded.warned_of("its tendon 's' is left out"));
  EXPECT_TRUE(loaded.warned_of("a muscle needs 'lengthrange'"));
  EXPECT_TRUE(loaded.warned_of("joints, tendons, sites and bodies"));
  EXPECT_TRUE(loaded.warned_of("type of dynamics"));
  EXPECT_TRUE(loaded.warned_of("type of gain"));
  EXPECT_TRUE(loaded.warned_of("<unknown>"));
  for (const LoadWarning& warning : loaded.report.warnings) EXPECT_GT(warning.line, 0) << warning.message;
  // Controls of keyframes skip what was left out; a zero quaternion is no rotation.
  ASSERT_EQ(loaded.world.keyframes.size(), 1u);
  EXPECT_EQ(loaded.world.keyframes[0].control, Vector(Eigen::Vector2d(1, 7)));
  EXPECT_EQ(loaded.world.keyframes[0].state.q[5], 1.0);
}

TEST(MjcfSections, SoftnessIsOneWarningPerFile) {
  const test::TemporaryFolder folder;
  folder.write("part.xml", "<mujoco><worldbody>\n<geom size='1' solimp='0 0 1'/>\n</worldbody></mujoco>");
  const auto file = folder.write("model.xml", R"(<mujoco>
<default><geom solref=".1 1"/></default><include file="part.xml"/>
<worldbody><body><joint solreflimit=".1 1"/><geom size="1" solmix="2" solref=".1 1"/></body></worldbody>
<equality><weld body1="world" body2="world" solimp="0 0 1"/></equality></mujoco>)");
  LoadReport report;
  load_world(file, {}, report);
  ASSERT_EQ(report.warnings.size(), 2u);
  EXPECT_EQ(report.warnings[0].file, file.string());
  EXPECT_EQ(report.warnings[0].line, 2);
  EXPECT_TRUE(contains(report.warnings[0].message, "<geom>: solref")) << report.warnings[0].message;
  EXPECT_TRUE(contains(report.warnings[0].message, "first of 4 elements")) << report.warnings[0].message;
  EXPECT_EQ(report.warnings[1].line, 2);
  EXPECT_TRUE(contains(report.warnings[1].file, "part.xml"));
  EXPECT_FALSE(contains(report.warnings[1].message, "first of")) << report.warnings[1].message;
  EXPECT_THROW(load_world(file, {.strict = true}, report), InvalidInput);
}

TEST(MjcfSections, SleepingIsASettingOfTheSimulator) {
  EXPECT_TRUE(load_model(kArm + R"(<option><flag sleep="enable"/></option>)").warned_of("flag 'sleep'"));
  EXPECT_TRUE(load_model(kArm + R"(<option><flag sleep="disable"/></option>)").report.warnings.empty());
}

// Versions of MuJoCo before 3.9 meant something else.
TEST(MjcfSections, MarginAndGapTogetherAreNamed) {
  const auto loaded = [](const char* attributes) {
    return load_model(std::string("<worldbody><geom size='1' ") + attributes + "/></worldbody>");
  };
  EXPECT_TRUE(loaded("margin='0.01' gap='0.005'").warned_of("margin and gap together"));
  EXPECT_TRUE(loaded("margin='0.01'").report.warnings.empty());
  EXPECT_TRUE(loaded("gap='0.01'").report.warnings.empty());
  const Loaded many = load_model(R"(<default><geom margin="0.01" gap="0.01"/></default>
<worldbody><geom size="1"/><geom size="1"/><geom size="1" margin=".1" gap="0.1"/></worldbody>)");
  ASSERT_EQ(many.report.warnings.size(), 1u);
  EXPECT_TRUE(many.warned_of("first of 2 elements"));
}

TEST(MjcfSections, InactiveEqualitiesAreAbsentAndNamed) {
  const std::string sections = R"(<equality><weld name="grip" body1="a" body2="b" active="false"/>
<connect body1="a" anchor="0 0 0" active="false"/><joint joint1="k" active="true"/></equality>)";
  const Loaded loaded = load_model(kArm + sections);
  EXPECT_TRUE(loaded.world.welds.empty());
  EXPECT_TRUE(loaded.world.connects.empty());
  EXPECT_EQ(loaded.world.joint_couplings.size(), 1u);
  ASSERT_EQ(loaded.report.warnings.size(), 2u);
  EXPECT_TRUE(loaded.warned_of("<weld>: 'grip' is not active"));
  EXPECT_TRUE(loaded.warned_of("<connect>: this equality is not active"));
  EXPECT_TRUE(
      contains(refusal("<mujoco>" + kArm + sections + "</mujoco>", "model.xml", {.strict = true}), "grip"));
}

TEST(MjcfSections, StrictMakesWarningsErrors) {
  const std::string text = "<mujoco>\n<option><flag override=\"enable\"/></option>\n</mujoco>";
  EXPECT_EQ(refusal(text), "loaded");
  const std::string message = refusal(text, "model.xml", {.strict = true});
  EXPECT_TRUE(contains(message, "model.xml:2: <flag>")) << message;
}

TEST(MjcfSections, OptionsAndFlags) {
  const World world = load_model(R"(<option timestep=".004" gravity="1 2 3" integrator="RK4"/>)").world;
  EXPECT_EQ(world.time_step, 0.004);
  EXPECT_EQ(world.gravity, Vec3(1, 2, 3));
  EXPECT_EQ(world.friction_rule, FrictionRule::maximum);
  EXPECT_FALSE(world.parent_child_contacts);
  const World switched =
      load_model(
          R"(<option><flag gravity="disable" contact="disable" filterparent="disable" equality="disable"
      damper="disable"/></option>)" +
          kArm + "<equality><weld body1=\"a\" body2=\"c\"/></equality>")
          .world;
  EXPECT_TRUE(switched.gravity.isZero(0.0));
  EXPECT_TRUE(switched.geoms.empty());
  EXPECT_TRUE(switched.welds.empty());
  EXPECT_TRUE(switched.parent_child_contacts);
}

TEST(MjcfSections, IncludesAreMergedOnce) {
  const TemporaryFolder folder;
  folder.write(
      "part.xml",
      "<mujocoinclude><option timestep=\".01\"/><worldbody><geom size=\"1\"/></worldbody></mujocoinclude>");
  LoadReport report;
  const auto once = folder.write(
      "once.xml", "<mujoco><worldbody><geom size=\"2\"/></worldbody><include file=\"part.xml\"/></mujoco>");
  const World world = load_world(once, {}, report);
  EXPECT_EQ(world.geoms.size(), 2u);
  EXPECT_EQ(world.time_step, 0.01);
  const auto windows =
      folder.write("windows.xml", "<mujoco><include file=\"..\\" + folder.path().filename().string() +
                                      "\\part.xml\"/></mujoco>");
  EXPECT_EQ(load_world(windows, {}, report).geoms.size(), 1u);
  const auto twice =
      folder.write("twice.xml", "<mujoco><include file=\"part.xml\"/><include file=\"part.xml\"/></mujoco>");
  EXPECT_THROW(load_world(twice, {}, report), InvalidInput);
  const auto cycle = folder.write("cycle.xml", "<mujoco><include file=\"cycle.xml\"/></mujoco>");
  EXPECT_THROW(load_world(cycle, {}, report), InvalidInput);
  const auto missing = folder.write("missing.xml", "<mujoco>\n\n<include file=\"no.xml\"/></mujoco>");
  try {
    load_world(missing, {}, report);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_TRUE(contains(error.what(), "missing.xml:3: <include>")) << error.what();
  }
}

TEST(MjcfSections, DamageIsRefusedWithFileAndLine) {
  const auto line = [](const std::string& inner) { return refusal("<mujoco>\n" + inner + "\n</mujoco>"); };
  const auto in_body = [&](const std::string& inner) {
    return line("<worldbody><body>" + inner + "</body></worldbody>");
  };
  for (const std::string& message : {line("<worldbody><geom size=\"a\"/></worldbody>"),
                                     line("<worldbody><geom size=\"1 2 3 4\"/></worldbody>"),
                                     line("<worldbody><geom size=\"-1\"/></worldbody>"),
                                     line("<worldbody><geom type=\"cone\" size=\"1\"/></worldbody>"),
                                     line("<worldbody><joint/></worldbody>"),
                                     in_body("<joint axis=\"0 0 0\"/>"),
                                     in_body("<joint range=\"1 0\" limited=\"true\"/>"),
                                     in_body("<geom size=\"1\" quat=\"0 0 0 0\"/>"),
                                     in_body("<body><freejoint/></body>"),
                                     in_body("<freejoint/><joint/>"),
                                     in_body("<geom size=\"1e999\"/>"),
                                     in_body("<geom size=\"nan\"/>"),
                                     in_body("<inertial pos=\"0 0 0\"/>"),
                                     line("<actuator><motor joint=\"none\"/></actuator>"),
                                     line("<contact><exclude body1=\"x\" body2=\"world\"/></contact>"),
                                     line("<compiler coordinate=\"global\"/>"),
                                     line("<compiler eulerseq=\"xy\"/>"),
                                     line("<option timestep=\"0\"/>"),
                                     line("<default><default/></default>"),
                                     line("<keyframe><key qpos=\"1\"/></keyframe>"),
                                     line("<worldbody><body name=\"a\"/><body name=\"a\"/></worldbody>")}) {
    EXPECT_TRUE(contains(message, "model.xml:2: <")) << message;
  }
  EXPECT_TRUE(contains(refusal("<mujoco>\n<worldbody>\n</mujoco>"), "model.xml:"))
      << refusal("<mujoco>\n<worldbody>\n</mujoco>");
  EXPECT_TRUE(contains(refusal(""), "model.xml"));
  EXPECT_TRUE(contains(refusal("<sdf/>"), "<mujoco>"));
  EXPECT_TRUE(contains(in_body("<joint/>"), "model.xml"));  // a moving body without mass
  LoadReport report;
  EXPECT_THROW(load_world("no_such_file.xml", {}, report), InvalidInput);
}

}  // namespace
}  // namespace tribo::test
