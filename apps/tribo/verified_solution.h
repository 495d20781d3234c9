// Solutions good enough to be stored in a problem file: found by the solvers, judged by the certificate.
#pragma once

#include <string>
#include <string_view>

#include "tribo/problem/contact_problem.h"
#include "tribo/problem/solution.h"

namespace tribo::cli {

inline constexpr double kVerifiedTolerance = 1e-8;  // aimed at
inline constexpr double kVerifiedError = 1e-6;      // still stored: scaled natural map, dimensionless
inline constexpr double kVerifiedTimeLimit = 10.0;  // s per solver tried

struct VerifiedSolution {
  Solution solution;
  std::string_view solver;  // that found it
  double error = 0.0;       // scaled natural map

  bool is_good() const { return error <= kVerifiedError; }
  // "solution by admm, certified error 3.2e-09", or why there is none.
  std::string note() const;
};

// Tries one solver after the other until `tolerance` is met; returns the best.
VerifiedSolution find_verified_solution(const ContactProblem& problem, double tolerance, double time_limit);

// InvalidInput unless a FCLIB file may be written under this name.
void require_fclib_name(std::string_view option, const std::string& path);

}  // namespace tribo::cli
