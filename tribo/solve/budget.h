// What a solver, or a stage of one, may spend before it returns its best iterate.
//
// The budget of a stage is handed to the monitor, which clips it to what the whole solve has left; loops ask the monitor
// (driver/monitor.h) how far they may go. So no solver can be given a budget that it does not honour.
#pragma once

#include <limits>

#include "tribo/base/types.h"

namespace tribo {

struct Budget {
  Index iterations = std::numeric_limits<Index>::max();      // as the solver counts them
  Index factorizations = std::numeric_limits<Index>::max();  // of matrices
  // Multiply-adds of a single factorisation: a solver that needs more of them returns before it makes one.
  double factor_flops = std::numeric_limits<double>::infinity();
  double seconds = std::numeric_limits<double>::infinity();  // wall clock
};

}  // namespace tribo
