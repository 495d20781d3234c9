// Dual kernel: solves (W + D) x = r for W = J A^-1 J^T (or an explicit W, of which the symmetric part is
// used) and D > 0 diagonal. Two routes, chosen by size:
//
//   through_dofs   (W + D)^-1 = D^-1 - D^-1 J (A + J^T D^-1 J)^-1 J^T D^-1, served by the primal kernel;
//                  fewer degrees of freedom than rows (bolt: 6 against 360). Loses digits as W / D grows.
//   through_rows   block Cholesky of W + D itself; explicit W, or more degrees of freedom than rows.
//
// Symbolic parts are kept while the structure is unchanged; factorising again allocates nothing.
#pragma once

#include <functional>
#include <vector>

#include "tribo/linalg/block_cholesky.h"
#include "tribo/linalg/block_matrix.h"
#include "tribo/linalg/delassus.h"
#include "tribo/linalg/kernels/primal_kernel.h"

namespace tribo {

class DualKernel {
 public:
  enum class Route { automatic, through_dofs, through_rows };

  // What W is made of; the referenced objects must outlive the calls that use them.
  struct Operator {
    const BlockDiagonal& mass;
    const BlockDiagonalCholesky& mass_factor;
    const BlockJacobian& jacobian;
    const BlockMatrix* explicit_w = nullptr;
  };

  void prepare(const Operator& op, Route route = Route::automatic);
  // See BlockCholesky.
  void set_interrupt(const std::function<bool()>* interrupt) {
    primal_.set_interrupt(interrupt);
    rows_.set_interrupt(interrupt);
  }
  Route route() const { return route_; }
  // Multiply-adds of one factorisation.
  double factor_flops() const {
    return route_ == Route::through_rows ? rows_.factor_flops() : primal_.cholesky().factor_flops();
  }

  // Factorises W + diag(d), d [rows] > 0. False if not positive definite to rounding.
  bool factorize(const Operator& op, const Vector& d);
  // The same with a symmetric positive definite block per constraint (scalar rows use entry (0, 0)); only
  // through_rows.
  bool factorize(const Operator& op, const GroupBlocks& d);

  // x = (W + D)^-1 r; x may be r.
  void solve(const Operator& op, const Vector& r, Vector& x);

 private:
  void analyze_rows(const BlockMatrix& w);
  template <class AddDiagonal>
  bool factorize_rows(const BlockMatrix& w, const AddDiagonal& add_diagonal);

  Route route_ = Route::automatic;
  PrimalKernel primal_;
  BlockCholesky rows_;
  DelassusAssembler assembler_;             // through_rows without an explicit W
  const BlockMatrix* w_ = nullptr;          // through_rows: the W in use
  RowPattern pattern_;                      // that rows_ was prepared for
  std::vector<BlockCholesky::Slot> slots_;  // [blocks of W]
  Vector inverse_d_;                        // D^-1 of the present factor
  Vector dofs_;
};

}  // namespace tribo
