// Scenes with bodies that bend, against mechanics.
#include "tribo/scenes/flexible_scenes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

std::map<std::string, double> run(std::string_view name, const SceneValues& values, double time,
                                  double dt = 0.0) {
  Scene scene = make_scene(name, values, dt);
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  while (simulator.state().time < time - 1e-9) {
    scene.control(simulator);
    scene.observe(simulator, simulator.step());
  }
  std::map<std::string, double> outcome;
  for (const Observable& o : scene.observables(simulator)) outcome[o.name] = o.value;
  outcome["missed"] = static_cast<double>(simulator.missed_steps());
  return outcome;
}

// Steps of 60 ms under the exact rigid law, in which the roller moves further than an element is long. The mesh, three elements
// high, is too stiff by some 40 % (docs/flexible-bodies.md).
TEST(FlexibleScenes, BendingIsStableAtSixtyMilliseconds) {
  std::map<std::string, double> outcome = run("bending", {{"depth", 0.05}, {"poisson", 0.0}}, 0.36);
  EXPECT_EQ(outcome["missed"], 0.0);
  EXPECT_NEAR(outcome["deflection"], 0.05, 0.002);
  EXPECT_GT(outcome["deflection"] / outcome["deflection_exact"], 0.6);
  EXPECT_LT(outcome["deflection"] / outcome["deflection_exact"], 1.0);
  EXPECT_LT(outcome["deepest_penetration"], 0.005);
  EXPECT_LT(outcome["fastest"], 0.05);
}

TEST(FlexibleScenes, StacksAndFallenCubesRestOnTheFloor) {
  for (const char* name : {"flexible-stack", "cubes-fem"}) {
    const SceneValues values = std::string(name) == "cubes-fem" ? SceneValues{{"cells", 1}, {"cubes", 5}}
                                                                : SceneValues{{"cells", 1}, {"layers", 2}};
    std::map<std::string, double> outcome = run(name, values, 0.8);
    EXPECT_EQ(outcome["missed"], 0.0) << name;
    EXPECT_NEAR(outcome["floor_force"], outcome["floor_force_exact"], 0.01) << name;
    EXPECT_LT(outcome["fastest"], 0.01) << name;
    EXPECT_GT(outcome["elastic_energy"], 0.0) << name;
  }
}

}  // namespace
}  // namespace tribo
