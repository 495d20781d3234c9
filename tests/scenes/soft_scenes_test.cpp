// Scenes with pressure fields against statics.
#include "tribo/scenes/soft_scenes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace tribo {
namespace {

std::map<std::string, double> outcome(std::string_view name, const SceneValues& values, double time,
                                      Law law = Law::exact) {
  Scene scene = make_scene(name, values);
  scene.settings.law = law;
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  while (simulator.state().time < time - 1e-9) {
    scene.control(simulator);
    scene.observe(simulator, simulator.step());
  }
  EXPECT_EQ(simulator.missed_steps(), 0);
  std::map<std::string, double> all;
  for (const Observable& o : scene.observables(simulator)) all[o.name] = o.value;
  return all;
}

TEST(SoftScene, BlockSinksAsDeepAsItsPressureSays) {
  for (const Law law : {Law::exact, Law::convex}) {
    auto block = outcome("block-on-foam", {{"mass", 7.0}}, 0.6, law);
    EXPECT_NEAR(block["sinkage"], block["sinkage_exact"], 1e-5 * block["sinkage_exact"]);
    EXPECT_NEAR(block["pressure"], block["pressure_exact"], 1e-5 * block["pressure_exact"]);
  }
}

// Coarse faces; the tight phase lasts 4.5 s.
TEST(SoftScene, SpatulaPitchesInLoosePhasesOnly) {
  auto spatula = outcome("slip-control", {{"resolution", 0.009}}, 5.5);
  EXPECT_LT(spatula["pitch_in_tight_phases"], 1e-5);
  EXPECT_GT(spatula["pitch_in_loose_phases"], 0.3);
  EXPECT_GT(spatula["contacts_tight"], 1.5 * spatula["contacts_loose"]);
  EXPECT_LT(spatula["fall"], 0.01);  // and is not lost
}

// It slides until its weight has done the work of friction, T sin(pitch) = C pitch, T proportional to its mass and C the same:
// a slide that ends by itself. Then it rests in later loose phases, beyond the angle at which the two balance.
TEST(SoftScene, SpatulaSlidesOnceUntilItsWeightHasDoneTheWorkOfFriction) {
  const auto friction = [](double mass, double time) {
    const double pitch = outcome("slip-control", {{"mass", mass}, {"resolution", 0.009}}, time)["pitch"];
    return mass * std::sin(pitch) / pitch;
  };
  const double heavy = friction(0.06, 6.0);
  EXPECT_NEAR(friction(0.057, 6.0), heavy, 0.03 * heavy);
  EXPECT_NEAR(friction(0.06, 11.5), heavy, 1e-3 * heavy);  // the second loose phase
}

TEST(SoftScene, JarHangsOnItsLidUntilFrictionIsUsedUp) {
  auto light = outcome("jar-lid", {{"share", 0.95}}, 0.1);
  EXPECT_NEAR(light["wall_force"], light["wall_force_exact"], 0.005 * light["wall_force_exact"]);
  EXPECT_LT(light["fall"], 1e-7);
  EXPECT_GT(outcome("jar-lid", {{"share", 1.05}}, 0.1)["fall"], 1e-4);
}

}  // namespace
}  // namespace tribo
