#include "tribo/sim/settling.h"

#include <algorithm>

namespace tribo {

void SettlingPolicy::forget() {
  std::fill(steps_.begin(), steps_.end(), std::uint8_t{0});
  std::fill(standing_error_.begin(), standing_error_.end(), 0.0);
}

void SettlingPolicy::release(Index tree) {
  steps_[tree] = 0;
  standing_error_[tree] = 0.0;
}

int SettlingPolicy::steps_in_a_row(std::span<const Index> trees) const {
  int steps = 0;
  for (const Index t : trees) steps = std::max<int>(steps, steps_[t]);
  return steps;
}

double SettlingPolicy::start_tolerance(std::span<const Index> trees, double tolerance,
                                       double otherwise) const {
  const int steps = steps_in_a_row(trees);
  if (steps == 0) return otherwise;
  return (steps <= kStepsToRest ? kSettled : kCreeping) * tolerance;
}

void SettlingPolicy::take_solve(std::span<const Index> trees, Index iterations, double start_error,
                                double tolerance) {
  const bool moving = start_error > kMoving * tolerance;
  int steps = 0;
  if (iterations > 0) steps = moving ? 1 : std::min(steps_in_a_row(trees) + 1, kStepsToRest + 1);
  for (const Index t : trees) steps_[t] = static_cast<std::uint8_t>(steps);
}

double SettlingPolicy::standing_error(std::span<const Index> trees) const {
  double standing = 0.0;
  for (const Index t : trees) standing = std::max(standing, standing_error_[t]);
  return standing;
}

void SettlingPolicy::take_correction(std::span<const Index> trees, double standing) {
  for (const Index t : trees) {
    steps_[t] = 1;
    standing_error_[t] = standing;
  }
}

}  // namespace tribo
