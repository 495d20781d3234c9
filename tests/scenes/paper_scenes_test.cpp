// The scenes of the papers against what mechanics knows of them.
#include <gtest/gtest.h>

#include <cmath>

#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

struct PaperRun {
  std::map<std::string, double> values;
  std::int64_t missed = 0;

  double operator[](const std::string& name) const { return values.at(name); }
};

PaperRun run_paper(const char* name, const SceneValues& values, double time, double tolerance = 1e-6) {
  Scene scene = make_scene(name, values);
  scene.settings.tolerance = tolerance;
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  while (simulator.state().time < time - 1e-9) {
    scene.control(simulator);
    scene.observe(simulator, simulator.step());
  }
  PaperRun run;
  for (const Observable& o : scene.observables(simulator)) run.values[o.name] = o.value;
  run.missed = simulator.missed_steps();
  return run;
}

// Mass ratio 10^4 and a ball of a ton: nothing sinks, no energy comes from anywhere, and what is not hit stays.
TEST(PaperScenes, HitWallGainsNoEnergyAndSinksNowhere) {
  const PaperRun hit = run_paper("hit-wall", {}, 0.4);
  EXPECT_EQ(hit.missed, 0);
  EXPECT_LE(hit["energy_gain"], 1e-6);
  EXPECT_LE(hit["deepest_penetration"], 1e-3);
  EXPECT_GE(hit["cubes_moved"], 2.0);
  const PaperRun slow = run_paper("hit-wall", {{"speed", 0.0}}, 0.2);
  EXPECT_EQ(slow["cubes_moved"], 0.0);
}

TEST(PaperScenes, SingleBodiesRestWithTheirWeight) {
  for (const char* name : {"single-ball", "single-brick"}) {
    const PaperRun rest = run_paper(name, {}, 1.0);
    EXPECT_NEAR(rest["support_force"], rest["support_force_exact"], 1e-5 * rest["support_force_exact"])
        << name;
    EXPECT_LE(rest["drift"], 1e-9) << name;
  }
}

// The ground carries all weights, also where every sphere is ten times as heavy as the one below it.
TEST(PaperScenes, StackedSpheresRestOnTheGround) {
  const PaperRun equal = run_paper("stacked-spheres", {{"spheres", 24}, {"exponent", 6}}, 0.5);
  EXPECT_NEAR(equal["ground_force"], 1.0, 1e-5);
  EXPECT_LE(equal["drift"], 1e-9);
  const PaperRun odd = run_paper("stacked-spheres", {{"spheres", 8}, {"decades", 1}}, 0.5, 1e-9);
  EXPECT_NEAR(odd["ground_force"], 1.0, 1e-4);
  EXPECT_LE(odd["drift"], 1e-5);
}

// A ball falls with g (1 - mu / mu_c) below the critical friction and stays above it, down to a thousandth.
TEST(PaperScenes, GraspIsSharpAtTheCriticalFriction) {
  for (const double share : {0.90, 0.99, 0.999}) {
    const PaperRun ball = run_paper("critical-grasp", {{"share", share}, {"ball", 1}}, 0.5, 1e-9);
    EXPECT_NEAR(ball["fall"], ball["fall_exact"], 1e-4 * ball["fall_exact"]) << share;
    const PaperRun cube = run_paper("critical-grasp", {{"share", share}}, 0.5, 1e-9);
    EXPECT_GE(cube["fall"], ball["fall_exact"]) << share;
  }
  for (const double share : {1.001, 1.10}) {
    for (const double ball : {0.0, 1.0}) {
      const PaperRun held = run_paper("critical-grasp", {{"share", share}, {"ball", ball}}, 0.5, 1e-9);
      EXPECT_LE(std::abs(held["fall"]), 1e-8) << share;
    }
  }
}

// The floor's impulses are the weight over time and the change of momentum, whatever the limbs do on the way down.
TEST(PaperScenes, HumanoidFallsByTheLawsOfMomentumAndEnergy) {
  EXPECT_EQ(make_scene("humanoid-fall").world.model.dof_count(), 36);
  const PaperRun fall = run_paper("humanoid-fall", {}, 1.2);
  EXPECT_EQ(fall.missed, 0);
  EXPECT_NEAR(fall["floor_impulse"], fall["floor_impulse_exact"], 1e-3);
  EXPECT_LE(fall["energy_gain"], 1e-6);
  EXPECT_LE(fall["deepest_penetration"], 1e-4);
  EXPECT_LT(fall["pelvis_height"], 0.8);
}

TEST(PaperScenes, HandCarriesTheCubes) {
  const PaperRun hand = run_paper("hand-cubes", {}, 1.0);
  EXPECT_EQ(hand["cubes_held"], 3.0);
  EXPECT_NEAR(hand["support_force"], hand["support_force_exact"], 1e-3 * hand["support_force_exact"]);
}

// Carpentier et al. (2024), Fig. 8: the exact law has an answer, and the simulator gives back the force that was asked for; the
// convex law has none.
TEST(PaperScenes, ArmSlidesAlongAWallByInverseDynamics) {
  const PaperRun exact = run_paper("arm-wall", {}, 2.0);
  EXPECT_EQ(exact["inverse_converged"], 1.0);
  EXPECT_LE(exact["press_force_error"], 1e-3);
  EXPECT_LE(exact["friction_error"], 1e-3);
  EXPECT_LE(exact["path_error"], 1e-5);
  const PaperRun convex = run_paper("arm-wall", {{"convex", 1}}, 0.2);
  EXPECT_LE(convex["inverse_converged"], 0.1);
}

}  // namespace
}  // namespace tribo
