#include <gtest/gtest.h>

#include "tests/io/loading.h"
#include "tribo/multibody/tendon_path.h"

namespace tribo::test {
namespace {

using Kind = TendonPoint::Kind;

const std::string kBodies = R"(<worldbody><site name="a" pos="-.5 .1 .2"/>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="upper" pos="0 0 1"><joint name="j1" axis="0 1 0"/><geom name="ball" size=".15" pos=".1 0 .05"/>
    <site name="side" pos=".1 0 .5"/><site name="mid" pos=".1 .02 .05"/>
    <body name="lower" pos=".6 .1 0"><joint name="j2" axis="0 .3 1"/><geom type="box" size=".1 .1 .1"/>
      <geom name="roll" type="cylinder" size=".08 .2" pos="0 .1 0" euler="80 10 0" contype="0" conaffinity="0"/>
      <site name="b" pos=".4 .2 .1"/><site name="c" pos="-.3 .3 -.2"/></body></body></worldbody>)";

std::vector<double> lengths_at(const Model& model, double q1, double q2) {
  Kinematics kinematics(model);
  kinematics.set_positions(Vector(Eigen::Vector2d(q1, q2)));
  std::vector<double> lengths, gradient(2);
  for (const TendonDescription& tendon : model.tendons()) {
    lengths.push_back(add_tendon_gradient(kinematics, tendon, gradient));
  }
  return lengths;
}

// Numbers: ten_length of MuJoCo 4.0 for the same text at three qpos.
TEST(MjcfTendons, LengthsAreMuJoCos) {
  const World world = load_model(kBodies + R"(<tendon>
    <spatial><site site="a"/><geom geom="ball"/><site site="c"/></spatial>
    <spatial><site site="a"/><geom geom="ball" sidesite="side"/><site site="b"/><geom geom="roll"/><site site="a"/></spatial>
    <spatial><site site="a"/><geom geom="ball" sidesite="mid"/><site site="c"/><pulley divisor="2"/>
      <site site="b"/><site site="c"/><geom geom="roll" sidesite="b"/><site site="a"/></spatial>
    </tendon>)")
                          .world;
  ASSERT_EQ(world.model.tendons().size(), 3u);
  const auto expect = [&](double q1, double q2, const std::vector<double>& expected) {
    const std::vector<double> lengths = lengths_at(world.model, q1, q2);
    for (std::size_t t = 0; t < 3; ++t) EXPECT_NEAR(lengths[t], expected[t], 1e-9) << t;
  };
  expect(0, 0, {1.04403065089106, 3.92566753276126, 2.24151379632837});
  expect(0.7, -0.4, {0.869533224929481, 2.81505542579144, 2.21999584478396});
  expect(-1.1, 0.9, {1.09893987212939, 3.43992387396784, 2.29527708318078});
}

TEST(MjcfTendons, PathsHoldWhatTheFileNames) {
  const Loaded loaded = load_model(
      kBodies + R"(<tendon><spatial name="t" range="0 3" stiffness="5" damping="2" frictionloss="1">
    <site site="a"/><geom geom="roll" sidesite="side"/><site site="b"/><pulley divisor="3"/><site site="a"/><site site="c"/>
    </spatial></tendon><actuator><motor tendon="t" gear="2"/><position tendon="t" kp="9" dampratio="1"/></actuator>)");
  EXPECT_TRUE(loaded.report.warnings.empty());
  const Model& model = loaded.world.model;
  const TendonDescription& tendon = model.tendons().at(0);
  ASSERT_EQ(tendon.path.size(), 6u);
  EXPECT_EQ(tendon.path[0].kind, Kind::site);
  EXPECT_EQ(tendon.path[1].kind, Kind::cylinder);
  EXPECT_EQ(tendon.path[1].body, 2);
  EXPECT_EQ(tendon.path[1].radius, 0.08);
  EXPECT_TRUE(tendon.path[1].has_side);
  EXPECT_EQ(tendon.path[1].side_body, 1);
  EXPECT_EQ(tendon.path[3].divisor, 3.0);
  EXPECT_EQ(tendon.upper, 3.0);
  EXPECT_EQ(tendon.dry_friction, 1.0);
  // Without springlength at rest at the reference.
  EXPECT_NEAR(tendon.spring_lower, lengths_at(model, 0, 0)[0], 1e-15);
  EXPECT_EQ(tendon.spring_lower, tendon.spring_upper);
  EXPECT_EQ(model.actuators()[0].tendon, 0);
  EXPECT_LT(model.actuators()[1].bias[2], 0.0);  // a ratio of the damping of what the string moves
}

TEST(MjcfTendons, CopiesFollowReplicates) {
  const World world =
      load_model(R"(<worldbody><site name="top" pos="0 0 2"/><replicate count="3" offset="1 0 0">
    <body name="p"><joint type="slide"/><geom name="g" size=".1" contype="0" conaffinity="0"/><site name="s" pos="0 0 -1"/></body></replicate></worldbody>
    <tendon><spatial name="t"><site site="top"/><geom geom="g"/><site site="s"/></spatial></tendon>
    <actuator><motor tendon="t"/></actuator>)")
          .world;
  ASSERT_EQ(world.model.tendons().size(), 3u);
  EXPECT_EQ(world.model.tendons()[2].path[1].body, 3);
  EXPECT_EQ(world.model.tendons()[2].path[2].body, 3);
  EXPECT_EQ(world.model.actuators().size(), 3u);
}

TEST(MjcfTendons, WhatIsWrongIsNamed) {
  const auto complaint = [](const std::string& path) {
    return refusal("<mujoco>" + kBodies + "\n<tendon><spatial name='t'>" + path +
                   "</spatial></tendon></mujoco>");
  };
  EXPECT_EQ(complaint("<site site='a'/><site site='b'/>"), "loaded");
  EXPECT_TRUE(contains(complaint("<site site='a'/><site site='z'/>"), "no site 'z'"));
  EXPECT_TRUE(contains(complaint("<site site='a'/><geom geom='z'/><site site='b'/>"), "no geom 'z'"));
  EXPECT_TRUE(
      contains(complaint("<site site='a'/><geom geom='floor'/><site site='b'/>"), "spheres and cylinders"));
  EXPECT_TRUE(contains(complaint("<site site='a'/><geom geom='ball'/>"), "between two sites"));
  EXPECT_TRUE(contains(complaint("<site site='a'/><pulley/><site site='b'/>"), "divisor"));
  EXPECT_TRUE(contains(complaint("<joint joint='j1'/>"), "<site>, <geom> and <pulley>"));
  EXPECT_TRUE(contains(complaint(""), "at least one"));
}

}  // namespace
}  // namespace tribo::test
