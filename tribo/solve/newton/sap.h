// Semi-analytic primal solver of the convex law with compliance (Castro, Permenter, Han 2022).
#pragma once

#include <memory>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo {

struct SapOptions {
  enum class LineSearch { exact, armijo };
  enum class Rule { certificate, momentum };

  LineSearch line_search = LineSearch::exact;
  double line_tolerance = 1e-8;
  Rule rule = Rule::certificate;
  double relative = 1e-6;  // rule = momentum
  bool near_rigid = true;
  double near_rigid_beta = 1.0, sigma = 1e-3;
  double proximal = 1e6;  // near_rigid = false: penalty of the proximal loop
};

// The table of the options: meaning, unit and range of each.
std::vector<Option> describe(SapOptions& options);

// The near-rigid rule, Castro et al. (29)-(30), in impulses and velocities: a constraint with R = 0 in one of
// its rows gets R_n = max(R_n, beta^2 / (4 pi^2) w) in its normal (or only) row and R_t = max(R_t, sigma w) in
// its tangential ones, w the problem's scale of the constraint. Returns how many constraints were changed.
Index near_rigid_compliance(const ContactProblem& problem, double beta, double sigma, Vector& compliance);

std::unique_ptr<Solver> make_sap(const SapOptions& options = {});

}  // namespace tribo
