#include "tribo/sim/settling.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "tribo/scenes/scene.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

constexpr double kTolerance = 1e-6;
constexpr double kAny = std::numeric_limits<double>::infinity();

TEST(SettlingPolicy, IslandsThatTookNoIterationsAreLeftAlone) {
  SettlingPolicy policy(3);
  const std::array<Index, 2> trees{0, 2};
  EXPECT_EQ(policy.start_tolerance(trees, kTolerance, kAny), kAny);
  policy.take_solve(trees, 0, 0.5 * kTolerance, kTolerance);
  EXPECT_EQ(policy.start_tolerance(trees, kTolerance, kAny), kAny);
  EXPECT_EQ(policy.start_tolerance(trees, kTolerance, 1e-9), 1e-9) << "the caller's own choice stays";
}

TEST(SettlingPolicy, IterationsMakeTheNextStartStrictAndManyInARowLessSo) {
  SettlingPolicy policy(1);
  const std::array<Index, 1> trees{0};
  for (int step = 1; step <= 12; ++step) {
    policy.take_solve(trees, 3, 2.0 * kTolerance, kTolerance);
    EXPECT_DOUBLE_EQ(policy.start_tolerance(trees, kTolerance, kAny), 1e-9) << step;
  }
  for (int step = 13; step <= 300; ++step) {  // the count must not run over
    policy.take_solve(trees, 3, 2.0 * kTolerance, kTolerance);
    EXPECT_DOUBLE_EQ(policy.start_tolerance(trees, kTolerance, kAny), 1e-7) << step;
  }
  policy.take_solve(trees, 0, 0.05 * kTolerance, kTolerance);
  EXPECT_EQ(policy.start_tolerance(trees, kTolerance, kAny), kAny);
}

TEST(SettlingPolicy, AStartFarOffBeginsTheCountAgain) {
  SettlingPolicy policy(1);
  const std::array<Index, 1> trees{0};
  for (int step = 0; step < 20; ++step) policy.take_solve(trees, 3, 2.0 * kTolerance, kTolerance);
  EXPECT_DOUBLE_EQ(policy.start_tolerance(trees, kTolerance, kAny), 1e-7);
  policy.take_solve(trees, 3, 101.0 * kTolerance, kTolerance);
  EXPECT_DOUBLE_EQ(policy.start_tolerance(trees, kTolerance, kAny), 1e-9);
  for (int step = 0; step < 20; ++step) policy.take_solve(trees, 3, 101.0 * kTolerance, kTolerance);
  EXPECT_DOUBLE_EQ(policy.start_tolerance(trees, kTolerance, kAny), 1e-9) << "what moves never creeps";
}

TEST(SettlingPolicy, TreesThatMeetShareTheLargestNumbers) {
  SettlingPolicy policy(3);
  const std::array<Index, 1> first{0}, second{1}, third{2};
  const std::array<Index, 2> both{0, 1};
  policy.take_solve(first, 5, kTolerance, kTolerance);
  policy.take_correction(second, 3e-9);
  EXPECT_DOUBLE_EQ(policy.start_tolerance(both, kTolerance, kAny), 1e-9);
  EXPECT_EQ(policy.standing_error(both), 3e-9);
  EXPECT_EQ(policy.standing_error(first), 0.0);
  policy.take_solve(both, 0, 0.0, kTolerance);
  for (const auto& tree : {first, second, third}) {
    EXPECT_EQ(policy.start_tolerance(tree, kTolerance, kAny), kAny);
  }
  EXPECT_EQ(policy.standing_error(both), 3e-9) << "a solve does not touch it";
}

TEST(SettlingPolicy, DriftThatIsUndoneAsksForASolve) {
  SettlingPolicy policy(1);
  const std::array<Index, 1> trees{0};
  policy.take_correction(trees, 2e-10);
  EXPECT_DOUBLE_EQ(policy.start_tolerance(trees, kTolerance, kAny), 1e-9);
  EXPECT_EQ(policy.standing_error(trees), 2e-10);
}

TEST(SettlingPolicy, ReleasedAndForgottenTreesKnowNothing) {
  SettlingPolicy policy(2);
  const std::array<Index, 1> first{0}, second{1};
  const std::array<Index, 2> both{0, 1};
  policy.take_correction(both, 1e-9);
  policy.release(0);
  EXPECT_EQ(policy.start_tolerance(first, kTolerance, kAny), kAny);
  EXPECT_EQ(policy.standing_error(first), 0.0);
  EXPECT_DOUBLE_EQ(policy.start_tolerance(second, kTolerance, kAny), 1e-9);
  policy.forget();
  EXPECT_EQ(policy.start_tolerance(second, kTolerance, kAny), kAny);
  EXPECT_EQ(policy.standing_error(second), 0.0);
}

// What it is for: a stack that has come to rest costs hardly a solve any more.
TEST(SettlingPolicy, AStackAtRestTakesItsImpulsesAgain) {
  const Scene stack = make_scene("stack", {{"boxes", 10}});
  Simulator simulator(stack.world, stack.settings);
  simulator.set_state(stack.start);
  Index solved = 0;
  for (int step = 0; step < 600; ++step) {
    const StepReport report = simulator.step();
    if (step >= 200 && report.iterations > 0) ++solved;
  }
  EXPECT_LE(solved, 40) << "of 400 steps";
}

}  // namespace
}  // namespace tribo
