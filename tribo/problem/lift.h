// Problems known only through W and q: u = W lambda + q. The symmetric part of W is factorised W_sym = L L^T
// (diagonally pivoted Cholesky, stopped at the numerical rank), which gives J = L, A = I: every solver runs
// on every problem. W itself, unsymmetric or not, stays in the problem and is what the certificate uses.
#pragma once

#include <vector>

#include "tribo/problem/contact_problem.h"

namespace tribo {

// The set of one constraint of a Delassus-form problem.
struct ConstraintSpec {
  ConstraintKind kind = ConstraintKind::contact;
  double friction = 0.0;
  double lower = 0.0, upper = 0.0;           // box
  RowValues compliance = RowValues::Zero();  // the first entries
  // A contact in scaled rows (problem/elliptic_rows.h): their units, normal last; empty: the usual one.
  std::vector<double> unit = {};
  std::uint64_t key = ContactProblemBuilder::kAutomaticKey;
};

Index rows_of(const ConstraintSpec& spec);

// `constraints[g]` describes group g of `delassus` (3, 4 or 6 rows for a contact, 1 otherwise), `q` is the free
// velocity. One tree of rank-many degrees of freedom per connected component of W. Throws InvalidInput if
// W_sym is indefinite beyond rounding (relative -1e-6), naming the first constraint of its component.
ContactProblem lift(BlockMatrix delassus, const Vector& q, const std::vector<ConstraintSpec>& constraints);

}  // namespace tribo
