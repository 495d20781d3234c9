// <flex> on bodies that are points: the flexible body that the same <flexcomp> makes, and a tree without those bodies.
#include "tribo/io/mjcf/deformable.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/io/loading.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

using test::contains;
using test::load_model;
using test::Loaded;

constexpr const char* kPoint =
    R"(<body name="f_{}" pos="{}"><inertial pos="0 0 0" mass="0.5" diaginertia="1e-6 1e-6 1e-6"/>
       <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide"/></body>)";

std::string point(int number, const std::string& place) {
  return fmt::format(fmt::runtime(kPoint), number, place);
}
std::string flex(const std::string& attributes,
                 const std::string& children = R"(<elasticity young="1e4"/>)") {
  return "<deformable><flex name=\"f\" dim=\"3\" " + attributes + ">" + children + "</flex></deformable>";
}

// Two tetrahedra in a holder; one of five points is held by it, a camera behind them in the tree keeps its body.
const std::string kBodies =
    R"(<worldbody><body name="holder" pos="0 0 1" euler="0 0 90">)" + point(0, "0 0 0") + point(1, "1 0 0") +
    point(2, "0 1 0") + point(4, "1 1 1") +
    R"(<geom size="0.1" contype="0" conaffinity="0"/></body><body name="last" pos="5 0 0"><joint name="hinge"/>
       <geom size="0.1" mass="1"/><camera name="eye"/><site name="spot"/></body></worldbody>
       <sensor><framepos name="where" objtype="camera" objname="eye"/></sensor>)";
const std::string kFlex =
    R"(body="f_0 f_1 f_2 holder f_4" vertex="0 0 0 0 0 0 0 0 0 0 0 1 0 0 0" element="0 1 2 3 1 2 3 4")";

TEST(Deformable, IsTheFlexcompItWas) {
  const Loaded saved =
      load_model(kBodies + flex(kFlex, R"(<elasticity young="1e4" poisson="0.2" damping="0.01"/>
                                                          <contact selfcollide="none" friction="0.4"/>)"));
  const Loaded made = load_model(
      R"(<worldbody><body name="holder" pos="0 0 1" euler="0 0 90">
           <flexcomp name="f" dim="3" type="direct" mass="2.5" point="0 0 0 1 0 0 0 1 0 0 0 1 1 1 1" element="0 1 2 3 1 2 3 4">
             <elasticity young="1e4" poisson="0.2" damping="0.01"/><contact selfcollide="none" friction="0.4"/><pin id="3"/>
           </flexcomp></body></worldbody>)");
  EXPECT_TRUE(saved.report.warnings.empty());
  ASSERT_EQ(saved.world.flexible_bodies.size(), 1u);
  const FlexibleBody &a = saved.world.flexible_bodies[0], &b = made.world.flexible_bodies[0];
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.mesh.tets, b.mesh.tets);
  EXPECT_EQ(a.fixed_nodes, b.fixed_nodes);
  EXPECT_NEAR(a.elasticity.density, b.elasticity.density, 1e-12 * b.elasticity.density);
  EXPECT_EQ(a.elasticity.law, b.elasticity.law);
  EXPECT_EQ(a.elasticity.poisson, 0.2);
  EXPECT_EQ(a.elasticity.stiffness_damping, 0.01);
  EXPECT_EQ(a.material.friction, 0.4);
  const Vector x = initial_state(saved.world).node_position, y = initial_state(made.world).node_position;
  ASSERT_EQ(x.size(), y.size());
  EXPECT_LT((x - y).lpNorm<Eigen::Infinity>(), 1e-15);
}

TEST(Deformable, ItsPointsLeaveTheTree) {
  const Loaded loaded = load_model(kBodies + flex(kFlex));
  const Model& model = loaded.world.model;
  EXPECT_EQ(model.body_count(), 3);  // world, holder, last
  EXPECT_EQ(model.dof_count(), 1);
  EXPECT_EQ(model.joint(0).body, 2);
  EXPECT_EQ(model.body_name(2), "last");
  Simulator s(loaded.world);
  s.step();
  EXPECT_EQ(s.sensor("where")[0], 5.0);
}

// On a body that moves: attached to it; where nothing moves by itself there is no flexible body.
TEST(Deformable, HoldersThatMoveCarryTheirNodes) {
  const std::string bodies =
      R"(<worldbody><body name="lift"><joint type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>)" +
      point(0, "0 0 0") + point(1, "1 0 0") + point(2, "0 1 0") + "</worldbody>";
  const std::string rest = R"(vertex="0 0 0 0 0 0 0 0 0 0 0 1" element="0 1 2 3")";
  const Loaded loaded = load_model(bodies + flex(R"(body="f_0 f_1 f_2 lift" )" + rest));
  const FlexibleBody& body = loaded.world.flexible_bodies[0];
  ASSERT_EQ(body.attachments.size(), 1u);
  EXPECT_EQ(body.attachments[0].node, 3);
  EXPECT_EQ(body.attachments[0].body, 1);
  EXPECT_EQ(body.attachments[0].anchor, Vec3(0, 0, 1));
  EXPECT_EQ(loaded.world.model.body_count(), 2);
}

TEST(Deformable, WhatIsWrongIsNamed) {
  const auto refusal = [](const std::string& inner) {
    return test::refusal("<mujoco>" + kBodies + inner + "</mujoco>");
  };
  EXPECT_TRUE(contains(refusal(flex("")), "'body'"));
  EXPECT_TRUE(contains(refusal(flex(R"(body="f_0 f_9")")), "'f_9'"));
  EXPECT_TRUE(contains(refusal(flex(R"(body="f_0 f_1" vertex="0 0 0")")), "'vertex'"));
  EXPECT_TRUE(contains(refusal(flex(R"(body="f_0 f_1 f_2 f_4" element="0 1 2")")), "'element'"));
  EXPECT_TRUE(contains(refusal(flex(R"(body="f_0 f_1 f_2 f_4" element="0 1 2 4")")), "'element'"));
  EXPECT_TRUE(contains(refusal(flex(R"(body="f_0 f_1 f_2 f_4" element="0 1 2 2")")), "twice"));
  EXPECT_TRUE(contains(refusal(flex(kFlex, "")), "young"));
  EXPECT_TRUE(contains(refusal(R"(<deformable><flex name="f" dim="2"/></deformable>)"), "dim 2"));
  EXPECT_TRUE(contains(
      refusal(
          flex(R"(body="holder holder holder holder" vertex="0 0 0 1 0 0 0 1 0 0 0 1" element="0 1 2 3")")),
      "moves by itself"));
  const Loaded skin = load_model(kBodies + "<deformable><skin/></deformable>");
  EXPECT_TRUE(skin.warned_of("not supported"));
}

}  // namespace
}  // namespace tribo
