// Lemke's and Dantzig's pivoting on friction cones with facets (solve/classical/faceted.h): the complementarity side of the
// field. They solve another problem than the exact one; the certificate judges them by the exact cone, and
// Report::faceted_error says how well they solved theirs. docs/solvers/pivoting.md.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo {

struct PivotingOptions {
  enum class Method { lemke, dantzig };
  enum class Facets { four, eight, sixteen };

  Method method = Method::lemke;
  Facets facets = Facets::eight;
  // Larger problems are not tried: variables of the complementarity problem, F + 2 per contact.
  Index most_variables = 1500;
  bool scaled = true;  // pivots in the variables sqrt(w_i) lambda_i
};

std::vector<Option> describe(PivotingOptions& options);

std::unique_ptr<Solver> make_pivoting(std::string_view name, const PivotingOptions& options);

}  // namespace tribo
