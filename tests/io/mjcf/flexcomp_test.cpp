// <flexcomp>: points where MuJoCo's formulas put them (and its numbers say what is pinned), volumes, masses, and what is refused.
#include "tribo/io/mjcf/flexcomp.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numbers>

#include "tests/io/loading.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

using test::contains;
using test::load_model;
using test::Loaded;

constexpr const char* kElastic = R"(<elasticity young="1e5" poisson="0.25" damping="0.01"/>)";

std::string flexcomp(const std::string& attributes, const std::string& children = kElastic) {
  return "<flexcomp name=\"f\" dim=\"3\" " + attributes + ">" + children + "</flexcomp>";
}
Loaded load_flexcomp(const std::string& attributes, const std::string& children = kElastic) {
  return load_model("<worldbody>" + flexcomp(attributes, children) + "</worldbody>");
}
std::string refusal(const std::string& attributes, const std::string& children = kElastic) {
  return test::refusal("<mujoco><worldbody>" + flexcomp(attributes, children) + "</worldbody></mujoco>");
}

TEST(Flexcomp, GridIsWhereItIsSaidToBe) {
  const Loaded loaded = load_flexcomp(
      R"(type="grid" count="3 4 2" spacing="0.1 0.2 0.3" mass="6" pos="1 2 3" euler="0 0 90" rgba="1 0 0 1")");
  EXPECT_TRUE(loaded.report.warnings.empty());
  ASSERT_EQ(loaded.world.flexible_bodies.size(), 1u);
  const FlexibleBody& body = loaded.world.flexible_bodies[0];
  EXPECT_EQ(body.name, "f");
  EXPECT_EQ(body.elasticity.law, ElasticLaw::stvk);
  EXPECT_EQ(body.elasticity.young, 1e5);
  EXPECT_EQ(body.elasticity.poisson, 0.25);
  EXPECT_EQ(body.elasticity.stiffness_damping, 0.01);
  EXPECT_EQ(body.material.friction, 1.0);
  EXPECT_EQ(body.color, (Color{1.0f, 0.0f, 0.0f, 1.0f}));
  EXPECT_NEAR(volume(body.mesh), 0.2 * 0.6 * 0.3, 1e-15);
  EXPECT_NEAR(body.elasticity.density * volume(body.mesh), 6.0, 1e-12);
  const State state = initial_state(loaded.world);
  Index n = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int k = 0; k < 2; ++k, ++n) {  // z fastest
        const Vec3 x(0.1 * (i - 1.0), 0.2 * (j - 1.5), 0.3 * (k - 0.5));
        const Vec3 turned(-x.y(), x.x(), x.z());
        EXPECT_LT((state.node_position.segment<3>(3 * n) - Vec3(1, 2, 3) - turned).norm(), 1e-14) << n;
      }
    }
  }
}

// Volumes of the polyhedra: of the box exactly; round ones converge to the solids from below.
TEST(Flexcomp, BoxCylinderAndEllipsoid) {
  const FlexibleBody box =
      load_flexcomp(R"(type="box" count="3 4 5" spacing="0.1 0.1 0.1")").world.flexible_bodies[0];
  EXPECT_NEAR(volume(box.mesh), 0.2 * 0.3 * 0.4, 1e-15);
  EXPECT_EQ(box.mesh.node_count(), 1 + 60 - 1 * 2 * 3);  // the centre and the surface
  EXPECT_EQ(box.mesh.tet_count(), 2 * 2 * (2 * 3 + 2 * 4 + 3 * 4));
  EXPECT_EQ(box.mesh.nodes[0], Vec3(0, 0, 0));
  EXPECT_LT((box.mesh.nodes[2] - Vec3(-0.1, -0.05, -0.2)).norm(), 1e-15);
  EXPECT_NEAR(box.elasticity.density * volume(box.mesh), 1.0, 1e-12);  // MuJoCo's usual mass
  double before_cylinder = 1.0, before_ellipsoid = 1.0;
  for (const char* count : {"9 9 9", "17 17 17"}) {
    const double h = count[0] == '9' ? 0.125 : 0.0625;
    const std::string rest =
        fmt::format(R"(" count="{}" spacing="{} {} {}")", count, 2 * 0.1 * h, 2 * 0.2 * h, 2 * 0.3 * h);
    const double cylinder =
        1.0 - volume(load_flexcomp("type=\"cylinder" + rest).world.flexible_bodies[0].mesh) /
                  (std::numbers::pi * 0.1 * 0.2 * 0.6);
    const double ellipsoid =
        1.0 - volume(load_flexcomp("type=\"ellipsoid" + rest).world.flexible_bodies[0].mesh) /
                  (4.0 / 3.0 * std::numbers::pi * 0.1 * 0.2 * 0.3);
    EXPECT_GT(cylinder, 0.0);
    EXPECT_GT(ellipsoid, 0.0);
    EXPECT_LT(cylinder, 0.3 * before_cylinder);
    EXPECT_LT(ellipsoid, 0.3 * before_ellipsoid);
    before_cylinder = cylinder;
    before_ellipsoid = ellipsoid;
  }
}

TEST(Flexcomp, DirectMeshAndGmsh) {
  const FlexibleBody direct =
      load_flexcomp(
          R"(type="direct" point="9 9 9  0 0 0  1 0 0  0 1 0  0 0 1" element="1 3 2 4" scale="2 1 1")",
          std::string(kElastic) + R"(<pin id="4 0"/>)")
          .world.flexible_bodies[0];
  EXPECT_EQ(direct.mesh.node_count(), 4);  // point 0 is of no use
  EXPECT_NEAR(volume(direct.mesh), 2.0 / 6.0, 1e-15);
  EXPECT_EQ(direct.mesh.nodes[1], Vec3(2, 0, 0));
  EXPECT_EQ(direct.fixed_nodes, (std::vector<Index>{3}));

  const test::TemporaryFolder folder;
  folder.write("cube.obj", test::cube_obj());
  folder.write(
      "one.msh",
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
      "$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n");
  LoadReport report;
  const World world = load_world(
      folder.write("m.xml", "<mujoco><worldbody>" +
                                flexcomp(R"(type="mesh" file="cube.obj" origin="1 1 1" scale=".5 .5 .5")") +
                                R"(<flexcomp name="g" type="gmsh" file="one.msh" mass="3">)" + kElastic +
                                "</flexcomp></worldbody></mujoco>"),
      {}, report);
  ASSERT_EQ(world.flexible_bodies.size(), 2u);
  EXPECT_NEAR(volume(world.flexible_bodies[0].mesh), 1.0, 1e-12);
  EXPECT_EQ(world.flexible_bodies[0].mesh.nodes[0], Vec3::Constant(0.5));
  EXPECT_NEAR(world.flexible_bodies[1].elasticity.density, 18.0, 1e-12);
}

// Pinned to the world: fixed. Pinned to a body that moves: attached, and carried along.
TEST(Flexcomp, PinsHoldNodes) {
  const std::string grid = R"(type="grid" count="3 2 2" spacing="0.1 0.1 0.1" pos="0 0 -0.2")";
  const std::string pinned = std::string(kElastic) + R"(<pin grid="2 1 0"/><pin gridrange="0 0 0 0 1 1"/>)";
  const Loaded fixed = load_flexcomp(grid, pinned);
  EXPECT_EQ(fixed.world.flexible_bodies[0].fixed_nodes, (std::vector<Index>{0, 1, 2, 3, 10}));
  EXPECT_TRUE(fixed.world.flexible_bodies[0].attachments.empty());
  EXPECT_EQ(load_flexcomp(grid, std::string(kElastic) + R"(<pin range="2 4 4 5"/>)")
                .world.flexible_bodies[0]
                .fixed_nodes,
            (std::vector<Index>{2, 3, 4, 5}));

  const Loaded carried = load_model(
      R"(<worldbody><body name="post" pos="0 0 2"><body name="lift"><joint type="slide" axis="0 0 1"/>
         <inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/><frame pos="0 0 0.1">)" +
      flexcomp(grid, pinned) + "</frame></body></body></worldbody>");
  const FlexibleBody& body = carried.world.flexible_bodies[0];
  EXPECT_TRUE(body.fixed_nodes.empty());
  ASSERT_EQ(body.attachments.size(), 5u);
  EXPECT_LT((body.pose.position - Vec3(0, 0, 1.9)).norm(), 1e-15);
  Simulator s(carried.world, {.time_step = 0.005});
  for (int k = 0; k < 20; ++k) s.step();
  EXPECT_LT(s.state().v[0], -0.9);  // all falls together, and as fast as it must
  for (const NodeAttachment& tie : body.attachments) {
    const Vec3 at = s.state().node_position.segment<3>(3 * tie.node);
    EXPECT_LT((at - s.kinematics().pose(tie.body) * tie.anchor).norm(), 1e-6);
  }
}

TEST(Flexcomp, ReplicasHaveNamesAndContactsTheirSettings) {
  const Loaded loaded = load_model(
      R"(<worldbody><replicate count="2" offset="0 0 1">)" +
      flexcomp(
          R"(type="grid" count="2 2 2" radius="0.01")",
          std::string(kElastic) +
              R"(<contact friction="0.3" contype="2" conaffinity="4" priority="1" gap="0.02" condim="4" margin="0.1" selfcollide="auto"/>)") +
      "</replicate></worldbody>");
  ASSERT_EQ(loaded.world.flexible_bodies.size(), 2u);
  EXPECT_EQ(loaded.world.flexible_bodies[0].name, "f0");
  EXPECT_EQ(loaded.world.flexible_bodies[1].name, "f1");
  const FlexibleBody& body = loaded.world.flexible_bodies[1];
  EXPECT_EQ(body.pose.position, Vec3(0, 0, 1));
  EXPECT_EQ(body.material.friction, 0.3);
  EXPECT_EQ(body.contact_type, 2u);
  EXPECT_EQ(body.contact_affinity, 4u);
  EXPECT_EQ(body.material.priority, 1);
  EXPECT_EQ(body.margin, 0.02);
  for (const char* words : {"'radius'", "'margin'", "condim 4", "selfcollide"})
    EXPECT_TRUE(loaded.warned_of(words)) << words;
}

TEST(Flexcomp, WhatIsNotSupportedIsNamed) {
  const auto expect = [](const std::string& words, const std::string& found) {
    EXPECT_TRUE(contains(found, words)) << words << " in: " << found;
    EXPECT_TRUE(contains(found, "model.xml:1:")) << found;
  };
  expect("dim 2",
         test::refusal(R"(<mujoco><worldbody><flexcomp name="f" type="grid"/></worldbody></mujoco>)"));
  expect("shells", refusal(R"(type="disc")"));
  expect("dof=\"trilinear\"", refusal(R"(type="grid" dof="trilinear")"));
  expect("rigid", refusal(R"(type="grid" rigid="true")"));
  expect("young", refusal(R"(type="grid")", R"(<edge equality="true"/>)"));
  expect("composite", test::refusal(R"(<mujoco><worldbody><composite type="cable"/></worldbody></mujoco>)"));
  const Loaded without =
      test::load_text(R"(<mujoco><worldbody><flexcomp name="f" type="grid"/></worldbody></mujoco>)",
                      "model.xml", {.allow_missing = true});
  EXPECT_TRUE(without.world.flexible_bodies.empty());
  EXPECT_TRUE(without.warned_of("dim 2"));
}

TEST(Flexcomp, BadValuesAreNamed) {
  const std::string elastic = kElastic;
  EXPECT_TRUE(contains(refusal(R"(type="grid" count="1 2 2")"), "'count'"));
  EXPECT_TRUE(contains(refusal(R"(type="grid" count="2000 2000 2000")"), "'count'"));
  EXPECT_TRUE(contains(refusal(R"(type="box" spacing="0.1 0 0.1")"), "'spacing'"));
  EXPECT_TRUE(contains(refusal(R"(type="grid" mass="0")"), "'mass'"));
  EXPECT_TRUE(contains(refusal(R"(type="hexagon")"), "hexagon"));
  EXPECT_TRUE(contains(refusal(R"(type="mesh" origin="0 0 0")"), "'file'"));
  EXPECT_TRUE(contains(refusal(R"(type="mesh" file="none.obj")"), "'origin'"));
  EXPECT_TRUE(contains(refusal(R"(type="gmsh" file="none.msh")"), "none.msh"));
  EXPECT_TRUE(contains(refusal(R"(type="direct" point="0 0 0 1" element="0 1 2 3")"), "'point'"));
  EXPECT_TRUE(
      contains(refusal(R"(type="direct" point="0 0 0 1 0 0 0 1 0 0 0 1" element="0 1 2")"), "'element'"));
  EXPECT_TRUE(
      contains(refusal(R"(type="direct" point="0 0 0 1 0 0 0 1 0 0 0 1" element="0 1 2 4")"), "'element'"));
  EXPECT_TRUE(
      contains(refusal(R"(type="direct" point="0 0 0 1 0 0 0 1 0 1 1 0" element="0 1 2 3")"), "flat"));
  EXPECT_TRUE(
      contains(refusal(R"(type="direct" scale="1 1 -1" point="0 0 0 1 0 0 0 1 0 0 0 1" element="0 1 2 3")"),
               "'scale'"));
  EXPECT_TRUE(contains(refusal(R"(type="grid")", R"(<elasticity young="1" poisson="0.5"/>)"), "poisson"));
  EXPECT_TRUE(contains(refusal(R"(type="grid")", R"(<elasticity young="1" damping="-1"/>)"), "damping"));
  EXPECT_TRUE(contains(refusal(R"(type="grid")", elastic + R"(<contact friction="-1"/>)"), "'friction'"));
  EXPECT_TRUE(contains(refusal(R"(type="grid")", elastic + R"(<pin id="1000"/>)"), "'id'"));
  EXPECT_TRUE(contains(refusal(R"(type="grid")", elastic + R"(<pin range="3"/>)"), "'range'"));
  EXPECT_TRUE(contains(refusal(R"(type="grid")", elastic + R"(<pin grid="0 0 10"/>)"), "'grid'"));
  EXPECT_TRUE(
      contains(refusal(R"(type="grid")", elastic + R"(<pin gridrange="0 0 0 0 0 -1"/>)"), "'gridrange'"));
  EXPECT_TRUE(contains(refusal(R"(type="box")", elastic + R"(<pin grid="0 0 0"/>)"), "type=\"grid\""));
  EXPECT_TRUE(
      contains(test::refusal(R"(<mujoco><worldbody><flexcomp dim="3"/></worldbody></mujoco>)"), "'name'"));
  const std::string twice = flexcomp(R"(type="grid")");
  EXPECT_TRUE(
      contains(test::refusal("<mujoco><worldbody>" + twice + twice + "</worldbody></mujoco>"), "'f'"));
}

}  // namespace
}  // namespace tribo
