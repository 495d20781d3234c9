// A quadruped on rough ground, and robots of models in place of those of primitives.
#include <gtest/gtest.h>

#include "tribo/base/errors.h"
#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

std::map<std::string, double> walk(Scene scene, double time) {
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

TEST(RoughWalk, WalksWithoutFalling) {
  const auto walked = walk(make_scene("rough-walk"), 1.5);
  EXPECT_EQ(walked.at("fell"), 0.0);
  EXPECT_EQ(walked.at("missed"), 0.0);
  EXPECT_NEAR(walked.at("distance"), 0.5, 0.2);
  EXPECT_GE(walked.at("steps"), 8.0);
}

// Nothing carries it where there is no friction: that it fell is seen.
TEST(RoughWalk, FallsOnIce) {
  const auto walked = walk(make_scene("rough-walk", {{"mu", 0.0}}), 3.0);
  EXPECT_EQ(walked.at("fell"), 1.0);
  EXPECT_GT(walked.at("slip"), 0.1);
}

// A model that is the scene's own robot of primitives walks the same way, and a lighter one takes its place.
TEST(RobotModels, TakeThePlaceOfPrimitives) {
  const Scene own = make_scene("rough-walk", {{"roughness", 0.0}});
  World robot = own.world;
  robot.geoms.pop_back();  // the ground, added last
  std::string asked;
  const Scene same = make_scene("rough-walk", {{"roughness", 0.0}}, 0.0, [&](const RobotRole& role) {
    asked = std::string(role.role) + " " + std::string(role.folder) + "/" + std::string(role.file);
    return robot;
  });
  EXPECT_EQ(asked, "quadruped unitree_a1/a1.xml");
  EXPECT_EQ(same.world.geoms.size(), own.world.geoms.size());
  EXPECT_EQ(same.world.model.body_count(), own.world.model.body_count());
  EXPECT_EQ(walk(same, 0.2).at("distance"), walk(own, 0.2).at("distance"));
}

TEST(RobotModels, ScenesWithoutRobotsRefuseThem) {
  const RobotLoader none = [](const RobotRole&) -> World { throw InvalidInput("not asked"); };
  EXPECT_THROW(make_scene("stack", {}, 0.0, none), InvalidInput);
  for (const SceneInfo& info : scene_catalogue()) {
    EXPECT_EQ(info.robots.empty(), info.make.index() == 0) << info.name;
  }
}

}  // namespace
}  // namespace tribo
