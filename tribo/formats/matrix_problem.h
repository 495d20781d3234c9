// Problems from plain matrices, in the two forms of FCLIB; what other programs and languages have at hand.
//
//   global   M v = H r + f,   u = H^T v + w       M [dofs x dofs], H [dofs x rows]
//   local    u = W r + q                          W [rows x rows]
//
// with contacts alone, rows (t1, t2, n), one friction coefficient each. Bilateral, unilateral and box rows:
// ContactProblemBuilder.
//
// Example
//   ContactProblem problem = problem_from_matrices({.dofs = 3, .mass = m, .momentum = f, .jacobian = h, .bias = w,
//                                                   .friction = mu});
#pragma once

#include <vector>

#include "tribo/linalg/block_matrix.h"
#include "tribo/problem/contact_problem.h"

namespace tribo {

// Entries with the same place add up.
struct GlobalMatrices {
  Index dofs = 0;
  std::vector<ScalarTriplet> mass;      // M, symmetric positive definite; unsymmetric: continues as W and q
  Vector momentum;                      // f, N s
  std::vector<ScalarTriplet> jacobian;  // H [dofs x 3 contacts]
  Vector bias;                          // w, m/s
  std::vector<double> friction;         // mu [contacts]
};

// Trees are the finest partition of the dofs into consecutive ranges that M does not couple, so that the order of the dofs
// stays; where all of them fit into groups of six, these groups. InvalidInput naming the matrix and what is wrong.
ContactProblem problem_from_matrices(const GlobalMatrices& matrices);
// W [3 contacts x 3 contacts] may be unsymmetric, its symmetric part must be positive semi-definite.
ContactProblem problem_from_delassus(const std::vector<ScalarTriplet>& delassus, const Vector& free_velocity,
                                     const std::vector<double>& friction);

}  // namespace tribo
