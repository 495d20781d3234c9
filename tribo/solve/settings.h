// What is asked of a solve.
#pragma once

#include <functional>
#include <limits>

#include "tribo/problem/certificate.h"

namespace tribo {

// One checked iterate.
struct Progress {
  Index iteration = 0;
  double error = 0.0;    // the chosen measure
  double seconds = 0.0;  // wall clock since the start of solve()
  double penalty = 0.0;  // solver's own parameter (ADMM: rho), 0 where there is none
};

struct Settings {
  double tolerance = 1e-6;  // on `measure`; nominal 1e-12 .. 1e-2
  // A given start is returned as it is only below this (and the tolerance). Less than the tolerance where the answer is
  // the next problem's start: errors left in one step have to be worked off in the next.
  double start_tolerance = std::numeric_limits<double>::infinity();
  Measure measure = Measure::scaled;
  Law law = Law::exact;
  Index max_iterations = 20000;                                 // >= 0
  double time_limit = std::numeric_limits<double>::infinity();  // s, wall clock
  bool history = false;                                         // record every checked iterate in the Report
  std::function<bool(const Progress&)> on_progress;  // called at every check; return false to cancel
  Index threads = 1;                                 // >= 1; the result has the same bits for any number
  bool islands = true;   // solve the connected components of the contact graph one by one
  bool explain = false;  // record the stages of the solve in the Report
  // Look for a proof that there is no solution where none is found (Status::infeasible); some ten factorisations.
  bool prove_infeasible = true;
  // Report::certificate with all its entries; without, `measure` alone may be filled, the others are NaN, and solve()
  // does not read the clock (Report::seconds is 0) unless something else asks for times: for callers that solve a
  // hundred thousand small problems per second.
  bool full_certificate = true;
};

}  // namespace tribo
