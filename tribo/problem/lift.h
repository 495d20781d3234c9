// Problems known only through W and q: u = W lambda + q. The symmetric part of W is factorised W_sym = L L^T
// (diagonally pivoted Cholesky, stopped at the numerical rank), which gives J = L, A = I: every solver runs
// on every problem. W itself, unsymmetric or not, stays in the problem and is what the certificate uses.
#pragma once

#include <vector>

#include "tribo/problem/constraint_spec.h"

namespace tribo {

// How far the symmetric part of a W is from positive semi-definite, at its worst connected component.
struct IndefiniteShare {
  double share = 0.0;     // -smallest / largest eigenvalue; 0 where W is semi-definite up to rounding (1e-9)
  Index constraint = -1;  // the first of the component; -1: none
};

// What rounding the entries of W to six significant digits, as text files have them, can do to an eigenvalue:
// |E_ij| <= 5e-6 |W_ij|, so that no eigenvalue moves by more than 5e-6 times the Frobenius norm (Weyl).
inline constexpr double kPrintedRounding = 5e-6;

// `constraints[g]` describes group g of `delassus` (3, 4 or 6 rows for a contact, 1 otherwise), `q` is the free
// velocity. One tree of rank-many degrees of freedom per connected component of W. A W_sym that is indefinite by
// rounding is accepted: J is then a factor of its nearest semi-definite matrix, W stays what it is, and `indefinite`
// (if given) says by how much. Throws InvalidInput if an eigenvalue lies below -kPrintedRounding times the
// Frobenius norm of its component, naming the first constraint of it.
ContactProblem lift(BlockMatrix delassus, const Vector& q, const std::vector<ConstraintSpec>& constraints,
                    IndefiniteShare* indefinite = nullptr);

}  // namespace tribo
