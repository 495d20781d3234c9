// The Newton systems of the interior point method and of its polish:
//   (diag(P) W + diag(Q)) x = r,      P, Q square blocks per constraint, W = J A^-1 J^T or explicit
//
// Two routes, the same answer:
//   rows   block LU of the matrix itself; symmetric P = I, Q: block Cholesky. The only route for an explicit W,
//          which may be unsymmetric.
//   dofs   x = Q^-1 (r - P J z) with (A + J^T Q^-1 P J) z = J^T Q^-1 r: as sparse as the bodies, so a tower
//          costs in proportion to its height. Q^-1 is huge where a contact sticks and x is a difference there;
//          refinement against the row equation gives the lost digits back.
#pragma once

#include <functional>
#include <vector>

#include "tribo/linalg/delassus.h"
#include "tribo/linalg/kernels/dual_kernel.h"
#include "tribo/linalg/kernels/newton_kernel.h"
#include "tribo/linalg/kernels/primal_kernel.h"
#include "tribo/problem/contact_problem.h"

namespace tribo {

// Blocks per constraint. The caller fills all four, so that it can invert Q in
// the form that keeps its digits.
struct RowBlocks {
  GroupBlocks p, q, q_inverse, d;  // d = Q^-1 P
  Vector weight;                   // [rows] makes residuals of different rows comparable
  bool symmetric = false;          // P = I and every Q symmetric

  void resize(const ContactProblem& problem);
};

class RowSystem {
 public:
  enum class Route { automatic, dofs, rows };

  void prepare(const ContactProblem& problem, Route route);
  Route route() const { return route_; }
  void set_interrupt(const std::function<bool()>* interrupt);

  // Symbolic work of a factorisation; multiply-adds that one takes.
  double analyze(const ContactProblem& problem, bool symmetric);
  // False if singular to rounding.
  bool factorize(const ContactProblem& problem, const RowBlocks& blocks);
  // x = (P W + Q)^-1 r; through the degrees of freedom with at most `refinements` corrections while they help.
  void solve(const ContactProblem& problem, const RowBlocks& blocks, const Vector& r, Vector& x,
             Index refinements);

 private:
  bool factorize_analyzed(const ContactProblem& problem, const RowBlocks& blocks);
  void solve_once(const ContactProblem& problem, const RowBlocks& blocks, const Vector& r, Vector& x);
  void subtract_product(const ContactProblem& problem, const RowBlocks& blocks, const Vector& x, Vector& r);

  Route route_ = Route::automatic;
  bool symmetric_ = false;  // which factor is held
  PrimalKernel cholesky_;
  PrimalLu primal_lu_;
  RowLu row_lu_;
  DualKernel row_cholesky_;
  bool row_cholesky_prepared_ = false;
  DelassusAssembler assembler_;
  const BlockMatrix* w_ = nullptr;  // rows, for the LU
  Vector dofs_, dofs_solution_, product_, residual_, correction_;
};

}  // namespace tribo
