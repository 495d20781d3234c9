// Single steps from real geometry, and the scenes they come from.
#include "tribo/scenes/single_steps.h"

#include <gtest/gtest.h>

#include "tribo/base/errors.h"
#include "tribo/scenes/scene.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

// Lee et al. 2024, Figs. 7 and 9: canal reaches a residual of 1e-8 on every case. Here every tenth of both sets: one per
// configuration; bench/studies runs all.
TEST(SingleSteps, CanalSolvesThem) {
  const auto canal = make_solver("canal");
  for (const SingleStepInfo& info : single_step_catalogue()) {
    for (std::uint64_t seed = 3; seed < 100; seed += 10) {
      const ContactProblem problem = make_single_step(info.name, {.seed = seed});
      EXPECT_GE(problem.contact_count(), 60) << info.name << " " << seed;
      Settings settings;
      settings.tolerance = 1e-10;
      settings.max_iterations = 200;
      Solution solution;
      const Report report = canal->solve(problem, settings, solution);
      EXPECT_LE(report.certificate.lee_residual, 1e-8) << info.name << " " << seed;
      EXPECT_EQ(report.status, Status::converged) << info.name << " " << seed;
    }
  }
}

TEST(SingleSteps, SeedsMeanTheSameProblemAndDifferentOnes) {
  for (const SingleStepInfo& info : single_step_catalogue()) {
    const ContactProblem a = make_single_step(info.name, {.seed = 12}),
                         b = make_single_step(info.name, {.seed = 12}),
                         wrench = make_single_step(info.name, {.seed = 13}),
                         configuration = make_single_step(info.name, {.seed = 22});
    EXPECT_EQ(a.momentum(), b.momentum());
    EXPECT_EQ(a.bias(), b.bias());
    EXPECT_EQ(a.bias(), wrench.bias());  // the same place
    EXPECT_NE(a.momentum(), wrench.momentum());
    EXPECT_TRUE(a.bias().size() != configuration.bias().size() || a.bias() != configuration.bias());
  }
  EXPECT_THROW(make_single_step("screw"), InvalidInput);
  EXPECT_THROW(make_single_step("bolt-nut", {.time_step = 0.0}), InvalidInput);
}

Index most_per_interface(const Simulator& s) {
  std::map<std::pair<Index, Index>, Index> counts;
  Index most = 0;
  for (const Contact& c : s.contacts()) most = std::max(most, ++counts[{c.body_a, c.body_b}]);
  return most;
}

struct Result {
  std::map<std::string, double> values;
  std::int64_t missed = 0;
  Index most_contacts = 0;  // between two bodies
};

Result run(const char* name, const SceneValues& values, double time) {
  Scene scene = make_scene(name, values);
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  Result result;
  while (simulator.state().time < time - 1e-9) {
    simulator.step();
    result.most_contacts = std::max(result.most_contacts, most_per_interface(simulator));
  }
  for (const Observable& o : scene.observables(simulator)) result.values[o.name] = o.value;
  result.missed = simulator.missed_steps();
  return result;
}

// A thread of 2 degrees locks itself: friction 0.2 holds the nut, which settles by less than the play.
TEST(ShapedScenes, NutStaysOnTheBolt) {
  const Result result = run("bolt-nut", {}, 0.04);
  EXPECT_LE(result.values.at("nut_moved"), 3e-4);
  EXPECT_LE(result.values.at("deepest"), 5e-5);
  EXPECT_LE(result.most_contacts, 120);
  EXPECT_EQ(result.missed, 0);
}

// tan 2 degrees = 0.035 (with 30 degree flanks mu / cos 30): without friction it runs down the thread.
TEST(ShapedScenes, NutRunsDownWithoutFriction) {
  EXPECT_GT(run("bolt-nut", {{"mu", 0.0}}, 0.06).values.at("speed"), 2.5e-4);
}

TEST(ShapedScenes, DishesStandInOneAnother) {
  const Result result = run("dishes", {}, 0.1);
  EXPECT_LE(result.values.at("moved"), 2e-4);
  EXPECT_LE(result.values.at("deepest"), 2e-4);
  EXPECT_LE(result.most_contacts, 120);
  EXPECT_EQ(result.missed, 0);
}

}  // namespace
}  // namespace tribo
