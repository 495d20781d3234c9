// A simulation whose solver is stopped early goes on: impulses in their cones, nothing thrown into the air. Iterations are
// limited in the place of the wall clock, which would be another one every time.
#include <gtest/gtest.h>

#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

struct Outcome {
  double rise = 0.0;     // of the total energy above its beginning, J
  double height = 0.0;   // largest, of any body, m
  double outside = 0.0;  // of the cones, over the largest impulse
  std::int64_t missed = 0;
};

Outcome run(const char* name, const SceneValues& values, const char* solver, Index iterations) {
  Scene scene = make_scene(name, values);
  scene.settings.solver = solver;
  scene.settings.max_iterations = iterations;
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  const double begin = simulator.energy().total();
  Outcome outcome;
  double corrected = 0.0;
  for (int k = 0; k < 250; ++k) {
    const StepReport report = simulator.step();
    corrected += std::max(0.0, report.correction_work);
    outcome.rise = std::max(outcome.rise, simulator.energy().total() - begin - corrected);
    double largest = 1e-300;
    for (const Vec3& impulse : simulator.contact_impulses()) largest = std::max(largest, impulse.norm());
    for (std::size_t c = 0; c < simulator.contacts().size(); ++c) {
      const Vec3& normal = simulator.contacts()[c].normal;
      const double pressed = simulator.contact_impulses()[c].dot(normal);
      const double rubbed = (simulator.contact_impulses()[c] - pressed * normal).norm();
      outcome.outside = std::max(outcome.outside, (rubbed - 0.5 * pressed) / largest);
    }
    for (Index b = 1; b < simulator.model().body_count(); ++b)
      outcome.height = std::max(outcome.height, simulator.kinematics().pose(b).position.z());
  }
  outcome.missed = simulator.missed_steps();
  return outcome;
}

TEST(Budget, NothingJumps) {
  for (const char* solver : {"auto", "canal", "subadmm", "pgs", "admm", "ipm"}) {
    for (const Index iterations : {1, 3}) {
      const Outcome outcome =
          run("stack", {{"boxes", 6}, {"mass-ratio", 1e3}, {"mu", 0.5}}, solver, iterations);
      SCOPED_TRACE(std::string(solver) + " " + std::to_string(iterations));
      EXPECT_LE(outcome.rise, 1e-3);
      EXPECT_LE(outcome.outside, 1e-9);
    }
  }
}

// The limit is reached, or the tests above show nothing.
TEST(Budget, IsReached) {
  EXPECT_GT(run("stack", {{"boxes", 6}, {"mass-ratio", 1e3}, {"mu", 0.5}}, "subadmm", 1).missed, 50);
}

}  // namespace
}  // namespace tribo
