// Projected Gauss-Seidel, the method of physics engines; see pgs.cpp.
#pragma once

#include <memory>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo {

struct PgsOptions {
  enum class Order { forward, symmetric, shuffled };

  double omega = 1.0;  // relaxation
  Order order = Order::forward;
  Index seed = 0;     // of the shuffled order
  Index freeze = 20;  // longest rest of settled constraints, in sweeps
};

// The table of the options: meaning, unit and range of each.
std::vector<Option> describe(PgsOptions& options);

std::unique_ptr<Solver> make_pgs(const PgsOptions& options = {});

}  // namespace tribo
