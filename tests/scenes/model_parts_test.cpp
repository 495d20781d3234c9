// Arms and grippers of models in scenes: robots of primitives and a linkage, given as models.
#include "tribo/scenes/model_parts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "tribo/base/errors.h"
#include "tribo/io/load.h"
#include "tribo/multibody/kinematics.h"
#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

World arm_world() {
  World world;
  ModelBuilder builder;
  detail::add_arm7(builder, world, {});
  const Index last = world.geoms.back().body;
  builder.add_site({.name = "flange", .body = last, .pose = {Vec3(0.0, 0.0, 0.045)}});
  world.model = builder.build();
  return world;
}

World slide_gripper(const char* pads) {
  World world;
  ModelBuilder builder;
  const detail::Manipulator gripper = detail::add_gripper2(builder, world, {});
  world.model = builder.build();
  detail::couple_jaws(world, gripper);
  for (Geom& geom : world.geoms) {
    if (geom.name.starts_with("jaw") && !geom.name.ends_with("_finger")) geom.name += pads;
  }
  return world;
}

// Two parallelograms with cranks of `length` m and pads at their ends. The drives' coordinates grow as the pads come together,
// each by length sin(turn).
constexpr double kLength = 0.07, kApart = 0.03, kPadHalf = 0.004;
World linkage_gripper() {
  World world;
  ModelBuilder builder;
  for (const double way : {1.0, -1.0}) {
    const std::string name = way > 0.0 ? "right" : "left";
    const auto body = [&](const std::string& part, Index parent, const Vec3& place) {
      const Index number = builder.add_body({.name = name + part,
                                             .parent = parent,
                                             .position = place,
                                             .inertia = uniform_inertia(Shape::sphere(0.01), 0.02)});
      builder.add_joint({.name = name + part,
                         .body = number,
                         .axis = Vec3(0.0, -way, 0.0),
                         .armature = 0.001,
                         .limited = true,
                         .lower = -0.8,
                         .upper = 0.8});
      return number;
    };
    const Vec3 crank(0.0, 0.0, kLength);
    const Index drive = body("_drive", 0, Vec3(way * kApart, 0.0, 0.05));
    const Index pad = body("_bar", drive, crank);
    const Index follower = body("_follower", 0, Vec3(way * (kApart + 0.02), 0.0, 0.05));
    world.connects.push_back({.name = name,
                              .first = pad,
                              .second = follower,
                              .first_anchor = Vec3(way * 0.02, 0.0, 0.0),
                              .second_anchor = crank});
    world.add_geom({.name = name + "_pad", .shape = Shape::box(Vec3(kPadHalf, 0.01, 0.02)), .body = pad});
  }
  world.model = builder.build();
  world.joint_couplings.push_back(
      {.first = world.model.find_joint("right_drive"), .second = world.model.find_joint("left_drive")});
  return world;
}

TEST(ModelParts, LinkageClosesAroundWhatItHolds) {
  const World model = linkage_gripper();
  World world;
  ModelBuilder builder;
  const double half = 0.02;
  const detail::ModelGripper gripper =
      detail::add_gripper_model(builder, world, model, "gripper", {.prefix = "a_"}, half);
  EXPECT_EQ(gripper.closing, 1.0);
  EXPECT_EQ(gripper.part.joints, (std::vector<std::string>{"a_right_drive", "a_left_drive"}));
  EXPECT_EQ(gripper.passive.joints.size(), 4u);
  world.model = builder.build();
  Kinematics kinematics(world.model);
  kinematics.set_positions(gripper.around);
  // The crank's turn, by its length: half = apart - length sin(turn) - thickness of the pad.
  const double turn = std::asin((kApart - kPadHalf - half) / kLength);
  for (const char* name : {"a_right_drive", "a_left_drive"})
    EXPECT_NEAR(gripper.around[world.model.find_joint(name)], turn, 1e-7) << name;
  for (const Connect& c : world.connects) {
    const Vec3 apart =
        kinematics.pose(c.first) * c.first_anchor - kinematics.pose(c.second) * c.second_anchor;
    EXPECT_LE(apart.norm(), 2e-9);
  }
  // A parallelogram keeps its bar upright.
  const Index bar = world.model.find_body("a_right_bar");
  EXPECT_NEAR(kinematics.pose(bar).rotation(2, 2), 1.0, 1e-7);
  EXPECT_NEAR(gripper.part.end.position.z(), 0.05 + kLength * std::cos(turn), 1e-7);
  EXPECT_THROW(detail::add_gripper_model(builder, world, model, "gripper", {}, 0.2), InvalidInput);
}

TEST(ModelParts, OtherModelsAreRefused) {
  World world;
  ModelBuilder builder;
  const Vector efforts = Vector::Constant(7, 100.0);
  EXPECT_THROW(detail::add_arm_model(builder, world, slide_gripper("_pad"), "arm", {}, efforts),
               InvalidInput);
  EXPECT_THROW(detail::add_gripper_model(builder, world, slide_gripper(""), "gripper", {}, 0.02),
               InvalidInput);
  EXPECT_THROW(detail::add_gripper_model(builder, world, arm_world(), "gripper", {}, 0.02), InvalidInput);
}

std::map<std::string, double> run(Scene scene, double time) {
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  while (simulator.state().time < time - 1e-9) {
    scene.control(simulator);
    scene.observe(simulator, simulator.step());
  }
  std::map<std::string, double> values;
  for (const Observable& o : scene.observables(simulator)) values[o.name] = o.value;
  values["missed"] = static_cast<double>(simulator.missed_steps());
  return values;
}

// The scene's own arm and gripper, given as models, screw the nut down.
TEST(ModelParts, AssemblyWithModelsOfPrimitives) {
  std::vector<std::string> asked;
  const Scene scene = make_scene("assembly", {{"start", 2}}, 0.0, [&](const RobotRole& role) {
    asked.push_back(std::string(role.folder) + "/" + std::string(role.file));
    return role.role == "arm" ? arm_world() : slide_gripper("_pad");
  });
  EXPECT_EQ(asked, (std::vector<std::string>{"kuka_iiwa_14/iiwa14.xml", "robotiq_2f85/2f85.xml"}));
  EXPECT_EQ(scene.world.model.dof_count(), make_scene("assembly").world.model.dof_count());
  const auto values = run(scene, 0.9);
  EXPECT_EQ(values.at("missed"), 0.0);
  EXPECT_NEAR(values.at("nut_height"), 0.0, 1e-6);
  EXPECT_LE(std::abs(values.at("lead_error")), values.at("lead_error_bound") + 1e-6);
}

TEST(ModelParts, PouringNeedsTwoArmsWithGrippers) {
  EXPECT_THROW(make_scene("pouring", {}, 0.0, [](const RobotRole&) { return arm_world(); }), InvalidInput);
}

// Only where the user has models: TRIBO_MODELS names a folder such as MuJoCo Menagerie.
TEST(ModelParts, ScenesWithTheUsersModels) {
  const char* folder = std::getenv("TRIBO_MODELS");
  if (folder == nullptr) GTEST_SKIP() << "TRIBO_MODELS names no folder of models";
  const RobotLoader load = [&](const RobotRole& role) {
    LoadReport report;
    return load_world(std::filesystem::path(folder) / role.folder / role.file, {}, report);
  };
  const auto assembled = run(make_scene("assembly", {{"start", 2}}, 0.0, load), 1.5);
  EXPECT_EQ(assembled.at("missed"), 0.0);
  EXPECT_NEAR(assembled.at("nut_height"), 0.0, 1e-6);
}

}  // namespace
}  // namespace tribo
