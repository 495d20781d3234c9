// Stones and cards that stand by friction alone, and that fall where mechanics says so.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

struct Result {
  std::map<std::string, double> values;
  std::int64_t missed = 0;
};

Result run(const char* name, const SceneValues& values, double time) {
  Scene scene = make_scene(name, values);
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  while (simulator.state().time < time - 1e-9) {
    const StepReport report = simulator.step();
    scene.observe(simulator, report);
  }
  Result result;
  for (const Observable& o : scene.observables(simulator)) result.values[o.name] = o.value;
  result.missed = simulator.missed_steps();
  return result;
}

TEST(Masonry, ArchStandsByFrictionAlone) {
  const Result result = run("roman-arch", {}, 1.0);
  EXPECT_LE(result.values.at("keystone_drift"), 1e-6);
  EXPECT_LE(result.values.at("drift"), 1e-6);
  EXPECT_LE(result.values.at("friction_used"), 1.0 + 1e-6);
  EXPECT_GT(result.values.at("friction_used"), 0.1);
  EXPECT_EQ(result.missed, 0);
}

// Couplet, Heyman: a semicircular arch thinner than 0.1075 of its radius falls whatever the friction.
TEST(Masonry, ThinArchFalls) {
  EXPECT_GT(run("roman-arch", {{"thickness", 0.09}, {"mu", 2.0}, {"stones", 31}}, 2.0).values.at("drift"),
            1e-2);
  EXPECT_LE(run("roman-arch", {{"thickness", 0.13}, {"mu", 2.0}, {"stones", 31}}, 1.0).values.at("drift"),
            1e-5);
}

TEST(Masonry, ArchWithoutFrictionFalls) {
  EXPECT_GT(run("roman-arch", {{"mu", 0.05}}, 1.0).values.at("drift"), 1e-2);
}

// Measured over 5 minutes: tribo sim --scene gothic-arch --time 301. What creeps in a second must not be more.
TEST(Masonry, StandsWithoutCreeping) {
  for (const char* scene : {"roman-arch", "gothic-arch", "house-of-cards"}) {
    const Result result = run(scene, {{"settle", 0.5}}, 1.5);
    EXPECT_LE(result.values.at("settled_drift"), 1e-7) << scene;
    EXPECT_LE(result.values.at("drift"), 1e-6) << scene;
    EXPECT_LE(result.values.at("friction_used"), 1.0 + 1e-6) << scene;
    EXPECT_GT(result.values.at("friction_used"), 0.1) << scene;
    EXPECT_EQ(result.missed, 0) << scene;
  }
}

// A pointed arch that is too thin for its line of thrust, or on ice, falls.
TEST(Masonry, GothicArchFallsWhereItMust) {
  EXPECT_GT(run("gothic-arch", {{"thickness", 0.03}, {"mu", 2.0}}, 2.0).values.at("drift"), 1e-2);
  EXPECT_GT(run("gothic-arch", {{"mu", 0.02}}, 1.0).values.at("drift"), 1e-2);
}

TEST(Masonry, HouseOfCardsStands) {
  const Result result = run("house-of-cards", {}, 1.0);
  EXPECT_LE(result.values.at("drift"), 1e-6);
  EXPECT_EQ(result.missed, 0);
}

// Every flat card lies on the tips of two pairs alone. It settles within a fifth of a millimetre and stays.
TEST(Masonry, HouseOf26CardsStands) {
  const SceneValues cards{{"levels", 4}, {"flats", 1}, {"settle", 0.8}};
  EXPECT_EQ(make_scene("house-of-cards", cards).world.model.body_count(), 1 + 26);
  const Result result = run("house-of-cards", cards, 1.5);
  EXPECT_LE(result.values.at("drift"), 5e-4);
  EXPECT_LE(result.values.at("settled_drift"), 1e-6);
  EXPECT_LE(result.values.at("friction_used"), 1.0 + 1e-6);
  EXPECT_EQ(result.missed, 0);
}

// Two cards alone: by symmetry they push each other horizontally. The upper edge of one lies against the face of the other,
// whose normal is at `lean` to that force: they stand where mu >= tan(lean).
TEST(Masonry, CardsSlipBelowTheFrictionTheyNeed) {
  const double needed = std::tan(20.0 * std::numbers::pi / 180.0);
  const auto drift = [](double mu) {
    return run("house-of-cards", {{"levels", 1}, {"lean", 20}, {"mu", mu}}, 0.5).values.at("drift");
  };
  EXPECT_LE(drift(1.02 * needed), 1e-6);
  EXPECT_GT(drift(0.98 * needed), 1e-4);
}

TEST(Masonry, DemoIsCertified) {
  const Result result = run("demo", {}, 0.4);
  EXPECT_EQ(result.missed, 0);
  EXPECT_LE(result.values.at("keystone_drift"), 1e-6);
  EXPECT_LE(result.values.at("house_drift"), 1e-6);
  EXPECT_GE(result.values.at("boxes_moved"), 2.0);
}

}  // namespace
}  // namespace tribo
