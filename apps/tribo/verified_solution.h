// Solutions good enough to be stored in a problem file: found by the solvers, judged by the certificate.
#pragma once

#include <string>
#include <string_view>

#include "tribo/problem/contact_problem.h"
#include "tribo/problem/solution.h"

namespace tribo::cli {

// Errors are of the scaled natural map, dimensionless.
inline constexpr double kVerifiedTolerance = 1e-8;  // aimed at
inline constexpr double kVerifiedError = 1e-6;      // still stored where no solver gets closer
inline constexpr double kVerifiedTimeLimit = 10.0;  // s per solver tried

struct VerifiedSolution {
  Solution solution;
  std::string_view solver;  // that found it
  double error = 0.0;       // certified
  double tolerance = 0.0;   // asked for
  bool converged = false;   // to it
  bool is_good = false;     // to be stored

  // "solution by admm, certified error 3.2e-09", or why there is none.
  std::string note() const;
};

// True if impulses with this certified error are a solution to within `limit`, rather than the impulses of
// contradictory constraints, whose error shrinks as they grow. `solution` has impulses and velocities.
bool is_verified(const ContactProblem& problem, const Solution& solution, double error, double limit);

// Tries one solver after the other until `tolerance` is met; returns the best. It is good if a solver
// converged, or else if it is verified to within kVerifiedError or `tolerance`, whichever is larger.
VerifiedSolution find_verified_solution(const ContactProblem& problem, double tolerance, double time_limit);

// InvalidInput unless a FCLIB file may be written under this name.
void require_fclib_name(std::string_view option, const std::string& path);

}  // namespace tribo::cli
