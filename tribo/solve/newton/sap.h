// Semi-analytic primal solver of the convex law with compliance (Castro, Permenter, Han 2022).
#pragma once

#include <memory>

#include "tribo/solve/solver.h"

namespace tribo {

// The near-rigid rule, Castro et al. (29)-(30), in impulses and velocities: a constraint with R = 0 in one of
// its rows gets R_n = max(R_n, beta^2 / (4 pi^2) w) in its normal (or only) row and R_t = max(R_t, sigma w) in
// its tangential ones, w the problem's scale of the constraint. Returns how many constraints were changed.
Index near_rigid_compliance(const ContactProblem& problem, double beta, double sigma, Vector& compliance);

std::unique_ptr<Solver> make_sap();

}  // namespace tribo
