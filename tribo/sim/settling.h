// How exactly the islands are solved that come to rest, and which errors of theirs are left standing: what a step has to
// know of the steps before, tree by tree. docs/settling.md says why and shows the numbers.
//
// Tolerance. The impulses of the last step are the start of the next solve. At rest they are good enough again, and
// nothing is solved. Once they are not, the error that the tolerance allowed has moved the bodies; the step that undoes
// this leaves an error of the same size in the other direction; without care every other step would cost a
// factorisation. So an island that took iterations in the last step takes its start as it is only below a small share
// of the tolerance: what acceleration that leaves grows to the tolerance with the square of the number of steps.
//
//   steps in a row that took iterations   Settings::start_tolerance
//   0                                     as the caller says (infinite: the tolerance alone decides)
//   1 .. kStepsToRest                     kSettled * tolerance
//   more                                  kCreeping * tolerance
//
// A step whose start had an error above kMoving * tolerance is not near rest: the count begins again at 1.
//
// Standing errors. A correction of positions at rest (sim/assembly/position_correction.h) may leave errors that no motion
// removes; they are remembered, so that it is not tried again in every step.
//
// The trees of an island share their numbers: the largest of its trees counts, and all are set alike. Islands of one step
// have no tree in common, so they may be handled on several threads.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

class SettlingPolicy {
 public:
  static constexpr double kSettled = 1e-3;  // of the tolerance
  static constexpr double kCreeping = 0.1;  // of the tolerance
  static constexpr int kStepsToRest = 12;   // steps; what has not come to rest by then creeps
  static constexpr double kMoving = 100.0;  // of the tolerance

  explicit SettlingPolicy(Index trees) : steps_(trees, 0), standing_error_(trees, 0.0) {}

  // All that it knows, to be kept and put back.
  struct Memory {
    std::vector<std::uint8_t> steps;     // [trees]
    std::vector<double> standing_error;  // [trees]
  };
  Memory memory() const { return {steps_, standing_error_}; }
  void set_memory(Memory memory) {
    steps_ = std::move(memory.steps);
    standing_error_ = std::move(memory.standing_error);
  }

  // All trees as at the beginning.
  void forget();
  // A tree that no constraint acts on in this step: neither at rest nor coming to it.
  void release(Index tree);

  // Before the solve of an island with these trees: its Settings::start_tolerance, or `otherwise` where the last step took
  // no iterations.
  double start_tolerance(std::span<const Index> trees, double tolerance, double otherwise) const;
  // After it: how many iterations it took, and the error of its start (Report::start_error).
  void take_solve(std::span<const Index> trees, Index iterations, double start_error, double tolerance);

  // Error that the last correction at rest could not remove, m or rad; 0: none.
  double standing_error(std::span<const Index> trees) const;
  // Drift was undone and `standing` was left. The velocities are still those of the drift: the next step is solved afresh.
  void take_correction(std::span<const Index> trees, double standing);

 private:
  int steps_in_a_row(std::span<const Index> trees) const;

  std::vector<std::uint8_t>
      steps_;  // [trees] that took iterations, in a row, near rest; at most kStepsToRest + 1
  std::vector<double> standing_error_;  // [trees] m or rad
};

}  // namespace tribo
