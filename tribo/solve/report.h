// What came of a solve.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "tribo/problem/certificate.h"
#include "tribo/problem/infeasibility.h"
#include "tribo/solve/settings.h"

namespace tribo {

enum class Status : std::uint8_t {
  converged,              // the certificate is below the tolerance
  iteration_limit,        // best iterate returned
  time_limit,             // best iterate returned
  stalled,                // no further progress possible (rounding, cycling); best iterate returned
  infeasible,             // proved: no velocity meets all constraints; see Report::contradictions
  no_solution_suspected,  // impulses grow without bound, but no such proof was found
  cancelled,              // Settings::on_progress said stop
  regularized,            // solved with compliance supplied by the solver (sap on a rigid problem); the
                          // certificate of the raw problem stays above the tolerance
};

std::string_view to_string(Status status);

// What one part of a solve cost, for Settings::explain.
struct Stage {
  std::string_view name;  // "single constraints", "alnewton", ...
  Index islands = 0;      // islands that went through it
  Index contacts = 0;     // constraints in them
  Index iterations = 0;
  Index factorizations = 0;
  double seconds = 0.0;  // summed over the islands
  double error = 0.0;    // worst error after it, the chosen measure of the island
};

struct Report {
  std::string_view solver;
  Status status = Status::iteration_limit;
  Index iterations = 0;
  Index factorizations = 0;
  double factor_flops = 0.0;  // multiply-adds of the most expensive one, 0 where not known
  double seconds = 0.0;       // wall clock, certification included
  Certificate certificate;
  // Of the impulses it started from, chosen measure; infinite where islands were solved one by one.
  double start_error = std::numeric_limits<double>::infinity();
  std::vector<Progress> history;
  Index islands = 1;            // connected components of the contact graph, 1 when not split
  Index regularized_count = 0;  // constraints that were given compliance (Status::regularized)
  // Of solvers that replace the friction cone by one with facets (lemke, dantzig): the error of the impulses in that
  // problem, max_j |min(z_j, w_j)| of its complementarity problem in scaled variables over its largest impulse. What the
  // facets cost is the certificate's error, which is that of the exact cone. NaN for all others.
  double faceted_error = std::numeric_limits<double>::quiet_NaN();
  std::vector<Stage> stages;  // with Settings::explain
  // Status::infeasible: the proofs, one per island that has no solution; their rays and constraints are those of the
  // whole problem.
  std::vector<Contradiction> contradictions;
};

}  // namespace tribo
