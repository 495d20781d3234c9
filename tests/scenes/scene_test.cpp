// The physics of the built-in scenes against mechanics.
#include "tribo/scenes/scene.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tribo/base/errors.h"

namespace tribo {
namespace {

struct Outcome {
  std::map<std::string, double> values;
  std::int64_t missed = 0;
  double worst = 0.0;
  std::uint64_t hash = 0;

  double operator[](const std::string& name) const { return values.at(name); }
};

struct How {
  double dt = 0.0, time = 0.0;
  Law law = Law::exact;
  std::optional<Scheme> scheme = {};
  std::string solver = "auto";
  Index threads = 1;
};

Outcome run(std::string_view name, const SceneValues& values, const How& how = {}) {
  Scene scene = make_scene(name, values, how.dt);
  scene.settings.law = how.law;
  scene.settings.solver = how.solver;
  scene.settings.threads = how.threads;
  if (how.scheme) scene.settings.scheme = *how.scheme;
  if (how.time > 0.0) scene.duration = how.time;
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  Outcome outcome;
  while (simulator.state().time < scene.duration - 1e-9) {
    scene.control(simulator);
    const StepReport report = simulator.step();
    outcome.worst = std::max(outcome.worst, report.error);
    scene.observe(simulator, report);
  }
  for (const Observable& o : scene.observables(simulator)) outcome.values[o.name] = o.value;
  outcome.missed = simulator.missed_steps();
  outcome.hash = simulator.state_hash();
  return outcome;
}

TEST(Scene, BoxOnASlopeDoesNotCreep) {
  const Outcome outcome = run("slope", {{"angle", 15.0}, {"mu", 1.0}}, {.time = 2.0});
  EXPECT_LE(outcome["creep_speed"], 1e-9);
  EXPECT_EQ(outcome.missed, 0);
}

TEST(Scene, VergeOfSlidingIsSharp) {
  const double mu = 0.7;
  const auto degrees = [](double tangent) { return std::atan(tangent) * 180.0 / std::numbers::pi; };
  const Outcome sticks = run("slope", {{"angle", degrees(mu - 1e-3)}, {"mu", mu}}, {.time = 1.0});
  EXPECT_LE(std::abs(sticks["speed"]), 1e-7);
  const Outcome slips = run("slope", {{"angle", degrees(mu + 1e-3)}, {"mu", mu}}, {.time = 1.0});
  EXPECT_NEAR(slips["speed"], slips["speed_exact"], 1e-5 * 9.81);
  EXPECT_GT(slips["speed"], 5e-3);
}

TEST(Scene, StackStaysWhereItIs) {
  for (const double ratio : {1.0, 1e4}) {
    const Outcome outcome = run("stack", {{"boxes", 10}, {"mass-ratio", ratio}}, {.time = 1.0});
    EXPECT_NEAR(outcome["top_height"], outcome["top_height_exact"], 1e-6) << "mass ratio " << ratio;
    EXPECT_LE(outcome["drift"], 1e-6);
    EXPECT_EQ(outcome.missed, 0);
  }
}

TEST(Scene, PyramidAndWallStand) {
  EXPECT_LE(run("pyramid", {{"levels", 4}}, {.time = 0.5})["drift"], 1e-6);
  EXPECT_LE(run("wall", {{"rows", 3}, {"columns", 3}}, {.time = 0.5})["drift"], 1e-6);
}

// Structures stand while nothing hits them, and what is hit hard does not.
TEST(Scene, MasonryStandsUntilItIsHit) {
  for (const char* name : {"kapla-tower", "kapla-house", "arch-bridge", "low-wall"}) {
    const Outcome still = run(name, {{"hits", 0}}, {.time = 0.1});
    EXPECT_EQ(still["standing"], still["blocks"]) << name;
    EXPECT_LE(still["fastest"], 0.02) << name;
  }
  const Outcome hit = run("kapla-tower", {{"planks", 20}, {"hits", 30}, {"speed", 3.0}}, {.time = 0.4});
  EXPECT_LT(hit["standing"], hit["blocks"]);
}

// The links of a chain cannot leave each other: the last one never gets further from the peg than the chain is long.
TEST(Scene, HangingChainHoldsTogether) {
  Scene scene = make_scene("hanging-chain", {{"links", 6}});
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  const double pitch = 0.1 - 2.0 * 0.008, peg = -0.05 + 2.3 * 0.008;
  while (simulator.state().time < 0.4) {
    simulator.step();
    for (Index link = 1; link < 6; ++link) {
      const double apart =
          (simulator.kinematics().pose(link + 1).position - simulator.kinematics().pose(link).position)
              .norm();
      ASSERT_LE(apart, pitch + 1e-3) << link;
    }
  }
  // It hangs: the last link is below the peg and within the chain's length of it.
  const Vec3 last = simulator.kinematics().pose(6).position;
  EXPECT_LT(last.z(), -0.1);
  EXPECT_LE((last - Vec3(peg, 0.0, 0.0)).norm(), 6 * pitch + 1e-3);
}

// First order: v h / 2 short, and half of that with half the step.
TEST(Scene, SlidingBlockStopsWhereCoulombSays) {
  double before = 0.0;
  for (const double h : {0.004, 0.002, 0.001}) {
    const Outcome outcome = run("sliding-block", {{"speed", 2.0}, {"mu", 0.5}}, {.dt = h});
    const double error = std::abs(outcome["stop_distance"] - outcome["stop_distance_exact"]);
    EXPECT_LE(error, 0.51 * h * 2.0);
    if (before > 0.0) {
      EXPECT_NEAR(error / before, 0.5, 0.05);
    }
    before = error;
  }
}

TEST(Scene, ExactLawDoesNotLiftSlidingBlocksTheConvexLawDoes) {
  const SceneValues values{{"speed", 6.0}, {"mu", 0.5}};
  EXPECT_LE(run("sliding-block", values, {.time = 0.5})["lift"], 1e-9);
  SceneValues gliding = values;
  gliding["gap"] = 0.002 * 0.5 * 6.0;
  const Outcome convex = run("sliding-block", gliding, {.time = 0.1, .law = Law::convex});
  EXPECT_NEAR(convex["lift"], convex["gliding_gap_of_convex_law"], 2e-5);
}

// Castro et al. (2022), Fig. 7: the midpoint rule is of second order although the cylinder rolls by friction.
TEST(Scene, MidpointIsOfSecondOrderWithFriction) {
  const double coarse = run("spring-cylinder", {}, {.dt = 0.01, .time = 2.0})["position_error"];
  const double fine = run("spring-cylinder", {}, {.dt = 0.005, .time = 2.0})["position_error"];
  EXPECT_NEAR(std::log2(coarse / fine), 2.0, 0.2);
  const How euler{.dt = 0.01, .time = 2.0, .scheme = Scheme::symplectic_euler};
  How half = euler;
  half.dt = 0.005;
  const double ratio = run("spring-cylinder", {}, euler)["position_error"] /
                       run("spring-cylinder", {}, half)["position_error"];
  EXPECT_NEAR(std::log2(ratio), 1.0, 0.3);
}

TEST(Scene, MidpointKeepsTheEnergyOfTheRollingCylinder) {
  EXPECT_LE(run("spring-cylinder", {}, {.time = 3.0})["energy_band"], 0.0016);
  EXPECT_LE(run("spring-cylinder", {{"mu", 0.0}}, {.time = 3.0})["energy_band"], 1e-6);
}

TEST(Scene, CradlePassesMomentumAndEnergyOn) {
  for (const double moving : {1.0, 2.0}) {
    const Outcome outcome = run("cradle", {{"balls", 5}, {"moving", moving}});
    EXPECT_LE(outcome["momentum_error"], 1e-6);
    EXPECT_LE(outcome["energy_error"], 1e-6);
    EXPECT_NEAR(outcome["last_speed"], outcome["last_speed_exact"], 1e-6);
  }
}

TEST(Scene, FreeBodyKeepsEnergyAndAngularMomentum) {
  const Outcome outcome = run("spin", {});
  EXPECT_LE(outcome["energy_error"], 1e-9);
  EXPECT_LE(outcome["momentum_length_error"], 1e-9);
  EXPECT_LE(outcome["momentum_error"], 1e-3);
  const Outcome fine = run("spin", {}, {.dt = 0.001});
  EXPECT_LE(fine["momentum_error"], 0.6 * outcome["momentum_error"]);
}

TEST(Scene, CylinderStandsOnItsWholeRim) {
  const Outcome outcome = run("cylinder-stand", {}, {.time = 1.0});
  EXPECT_NEAR(outcome["height"], outcome["height_exact"], 1e-8);
  EXPECT_LE(outcome["tilt"], 1e-7);
  EXPECT_GE(outcome["contact_points"], 6.0);
}

TEST(Scene, ArmPressesWithTheForceOfItsMotors) {
  const Outcome outcome = run("arm-press", {}, {.time = 0.5});
  EXPECT_NEAR(outcome["press_force"], outcome["press_force_exact"], 1e-3);
  EXPECT_NEAR(outcome["friction_force"], outcome["friction_force_exact"], 1e-3);
  EXPECT_LE(outcome["creep"], 1e-8);
}

TEST(Scene, DominosFall) {
  const Outcome outcome = run("dominos", {{"dominos", 6}});
  EXPECT_EQ(outcome["fallen"], 6.0);
}

TEST(Scene, PilesStayInTheirBins) {
  for (const char* name : {"clutter", "balls-in-box"}) {
    const SceneValues values{{name == std::string("clutter") ? "bodies" : "balls", 20.0}};
    const Outcome outcome = run(name, values, {.time = 0.5});
    EXPECT_EQ(outcome["escaped"], 0.0) << name;
    EXPECT_EQ(outcome.missed, 0) << name;
  }
}

TEST(Scene, QuadrupedsKeepTheirJointLimits) {
  const Outcome outcome = run("quadrupeds", {{"robots", 2}}, {.time = 0.6});
  EXPECT_LE(outcome["limit_violation"], 1e-3);
  EXPECT_GT(outcome["lowest_centre"], 0.0);
  EXPECT_EQ(outcome.missed, 0);
}

TEST(Scene, SameBitsAgainAndWithTwoThreads) {
  const SceneValues values{{"bodies", 30}, {"walls", 0.0}};
  const Outcome once = run("clutter", values, {.time = 0.6});
  EXPECT_EQ(run("clutter", values, {.time = 0.6}).hash, once.hash);
  EXPECT_EQ(run("clutter", values, {.time = 0.6, .threads = 2}).hash, once.hash);
  EXPECT_NE(run("clutter", {{"bodies", 30}, {"walls", 0.0}, {"seed", 2}}, {.time = 0.6}).hash, once.hash);
}

TEST(Scene, BadNamesAndParametersAreRefused) {
  EXPECT_THROW(make_scene("slop"), InvalidInput);
  EXPECT_THROW(make_scene("slope", {{"tilt", 1.0}}), InvalidInput);
  EXPECT_THROW(make_scene("slope", {{"mu", -1.0}}), InvalidInput);
  EXPECT_THROW(make_scene("stack", {{"boxes", 2.5}}), InvalidInput);
  EXPECT_THROW(make_scene("stack", {{"boxes", std::nan("")}}), InvalidInput);
}

TEST(Scene, EveryOneRunsAndReports) {
  for (const SceneInfo& info : scene_catalogue()) {
    const double dt = make_scene(info.name).world.time_step;
    const Outcome outcome = run(info.name, {}, {.time = 2.0 * dt});
    EXPECT_FALSE(outcome.values.empty()) << info.name;
    for (const auto& [name, value] : outcome.values)
      EXPECT_TRUE(std::isfinite(value)) << info.name << " " << name;
  }
}

}  // namespace
}  // namespace tribo
