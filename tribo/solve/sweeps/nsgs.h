// Nonsmooth Gauss-Seidel: one contact after the other is solved with the others held. See nsgs.cpp.
#pragma once

#include <memory>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo {

struct NsgsOptions {
  enum class Local { exact, newton, projection, quartic };
  enum class Shuffle { none, once, every };
  enum class Acceleration { none, cg };

  Local local = Local::exact;  // solver of the one-contact problems
  double omega = 1.0;          // relaxation
  Shuffle shuffle = Shuffle::none;
  Acceleration accelerate = Acceleration::none;
  Index seed = 0;     // of the random order
  Index freeze = 20;  // longest rest of settled constraints, in sweeps
};

// The table of the options: meaning, unit and range of each.
std::vector<Option> describe(NsgsOptions& options);

std::unique_ptr<Solver> make_nsgs(const NsgsOptions& options = {});

}  // namespace tribo
