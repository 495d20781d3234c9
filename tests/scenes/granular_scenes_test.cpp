// Piles, drops and flows in a short form: no body is faster than its fall can make it, and no energy comes from anywhere.
#include <gtest/gtest.h>

#include <cmath>

#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

struct Flow {
  std::map<std::string, double> values;
  double gained = 0.0;  // J above the beginning
  double lost = 0.0;    // J at the end
  std::int64_t missed = 0;

  double operator[](const std::string& name) const { return values.at(name); }
};

Flow flow(const char* name, const SceneValues& values, double time) {
  Scene scene = make_scene(name, values);
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  const double begin = simulator.energy().total();
  Flow result;
  while (simulator.state().time < time - 1e-9) {
    scene.control(simulator);
    scene.observe(simulator, simulator.step());
    result.gained = std::max(result.gained, simulator.energy().total() - begin);
  }
  result.lost = begin - simulator.energy().total();
  for (const Observable& o : scene.observables(simulator)) result.values[o.name] = o.value;
  result.missed = simulator.missed_steps();
  return result;
}

// Symplectic Euler gains g^2 h^2 / 8 per kilogram in free fall at most: far below this.
constexpr double kNoEnergy = 0.05;  // J

TEST(GranularScenes, PilesAndDropsGainNoEnergy) {
  const struct {
    const char* scene;
    SceneValues values;
  } cases[] = {{"pile216", {{"side", 2}}},
               {"box-drop", {{"boxes", 4}}},
               {"capsule-drop", {{"capsules", 8}}},
               {"chute", {{"rocks", 10}}}};
  for (const auto& one : cases) {
    const Flow run = flow(one.scene, one.values, 0.4);
    EXPECT_EQ(run.missed, 0) << one.scene;
    EXPECT_LE(run.gained, kNoEnergy) << one.scene;
    EXPECT_GT(run.lost, 0.1) << one.scene;                      // they hit the ground
    EXPECT_LE(run["fastest"], 9.81 * 0.4 + 1e-6) << one.scene;  // no body fell longer than it was simulated
  }
  EXPECT_EQ(flow("pile216", {{"side", 2}}, 0.1)["escaped"], 0.0);
}

// A dropped stack of boxes of half a metre comes to rest, the top one at its height.
TEST(GranularScenes, DroppedBoxesComeToRest) {
  const Flow run = flow("box-drop", {{"boxes", 4}}, 0.4);
  EXPECT_LE(run["kinetic_energy"], 1e-6);
  EXPECT_NEAR(run["highest"], 3.5 * 0.5, 2e-2);
  EXPECT_GE(run["contact_points"], 16.0);
}

// A plate presses the spheres together, and the box does not give way: the pile is lower than it was loose.
TEST(GranularScenes, PressedSpheresAndShearedRocksStayTogether) {
  const Flow pressed = flow("sphere-press", {{"spheres", 30}}, 0.3);
  EXPECT_EQ(pressed.missed, 0);
  EXPECT_LE(pressed.gained, kNoEnergy);
  EXPECT_GT(pressed["contact_points"], 30.0);
  const Flow sheared = flow("shear-box", {{"rocks", 20}}, 0.3);
  EXPECT_EQ(sheared.missed, 0);
  EXPECT_GT(sheared["contact_points"], 10.0);
  EXPECT_GT(sheared["fastest"], 0.0);
  EXPECT_LE(sheared["highest"], flow("shear-box", {{"rocks", 20}}, 0.002)["highest"]);
}

}  // namespace
}  // namespace tribo
