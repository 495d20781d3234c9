// What rounding can do to the scaled error of problem/certificate.h when it is evaluated with unit roundoff eps / 2.
//
//   |delta u_i| / sqrt(w_i) <= c eps g (sum_k sqrt(w_k) |lambda_k| + sqrt(E))
//
// since every term of v = A^-1 (b + J^T lambda) is, in the norm of A, at most one of those summed, and |J_i x| <=
// sqrt(w_i) |x|_A; g = max A_kk / L_kk^2 is what the Cholesky factor magnifies. De Saxce's term makes hat w_i of it
// wrong by 1 + mu_i times that. Cost: O(constraints).
#pragma once

#include <algorithm>

#include "tribo/problem/natural_map.h"

namespace tribo {

// c: roundings in a row of J v, of J^T lambda and of the map itself. Measured on the test problems, where it is at most
// a few: the sums are of six terms or so and their roundings do not conspire.
constexpr double kRoundings = 8.0;

// Of the scaled error, relative to the smallest reference of any constraint; 0 where nothing acts and nothing moves.
inline double evaluation_rounding(const ContactProblem& problem, const ImpulseSizes& sizes, double epsilon) {
  const double size = sizes.sum + problem.root_energy();
  if (!(size > 0.0)) return 0.0;
  const double least =
      std::max(common_reference(problem, sizes.largest), kLeastShare * problem.smallest_demand());
  double friction = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) friction = std::max(friction, problem.friction(i));
  return kRoundings * epsilon * (1.0 + friction) * problem.mass_growth() * (size / least);
}

}  // namespace tribo
