// The linear systems of the semismooth Newton and interior-point solvers under the exact law, whose blocks are
// not symmetric:
//
//   PrimalLu   H = A + J^T D J          [dofs], D[g] any square block per constraint
//   RowLu      M = diag(P) W + diag(Q)  [rows], P[g], Q[g] any, W = J A^-1 J^T or an explicit W
//
// Both keep order, fill and places while the structure is unchanged; factorising again allocates nothing.
// Solutions are refined against the matrix itself; backward_error() tells how good the last one was.
#pragma once

#include <functional>
#include <vector>

#include "tribo/linalg/block_lu.h"
#include "tribo/linalg/block_patterns.h"
#include "tribo/linalg/gmres.h"
#include "tribo/linalg/group_blocks.h"

namespace tribo {

class PrimalLu {
 public:
  // Does nothing when this structure is the one already prepared. Returns true if it had to work.
  bool analyze(const BlockDiagonal& mass, const BlockJacobian& jacobian);
  void set_interrupt(const std::function<bool()>* interrupt) { lu_.set_interrupt(interrupt); }

  // False if singular to rounding. `d` and the matrices are used by solve() too and must stay.
  bool factorize(const BlockDiagonal& mass, const BlockJacobian& jacobian, const GroupBlocks& d);

  // x = H^-1 rhs, with at most `refinements` steps of refinement while they help; x may not be rhs.
  void solve(const Vector& rhs, Vector& x, Index refinements = 1);

  // The same for a matrix that is not factorised, to |rhs - H x| <= tolerance |rhs|, with the factors of the last one that
  // was: a Newton method changes few blocks D between two steps. False where that takes longer than a factorisation
  // would, or there are no factors.
  bool solve_with_last_factors(const BlockDiagonal& mass, const BlockJacobian& jacobian, const GroupBlocks& d,
                               const Vector& rhs, double tolerance, Vector& x);
  void forget_factors() { has_factors_ = false; }

  double backward_error() const {
    return backward_error_;
  }  // |rhs - H x| / |rhs|, of the last solve() that refined
  const BlockLu& lu() const { return lu_; }

 private:
  // One product J_a^T D J_b (or with D^T) of constraint `group`, added at `offset`.
  struct Term {
    Index group;
    Index a, b;
    std::size_t offset;
    Index stride;
    bool transposed_d;
  };

  template <int N>
  void add_term(const BlockJacobian& jacobian, const Term& term, const MatN<N>& d);
  void add_body_terms(const BlockJacobian& jacobian, std::size_t first, const Mat3& d);
  void multiply(const Vector& x, Vector& y);

  BlockLu lu_;
  TreePattern pattern_;  // prepared for
  std::vector<Term> terms_;
  std::vector<std::size_t> group_terms_;  // [groups + 1] where a constraint's terms begin
  std::vector<char> between_bodies_;      // [groups] contact of one or two free bodies
  std::vector<BlockLu::Slot> diagonal_;   // [trees]
  const BlockDiagonal* mass_ = nullptr;
  const BlockJacobian* jacobian_ = nullptr;
  Numbers transposed_;
  const GroupBlocks* d_ = nullptr;
  Vector rows_, residual_, correction_;
  Gmres gmres_;
  bool has_factors_ = false;
  double backward_error_ = 0.0;
};

class RowLu {
 public:
  bool analyze(const BlockMatrix& w);
  void set_interrupt(const std::function<bool()>* interrupt) { lu_.set_interrupt(interrupt); }

  // False if singular to rounding. The arguments are used by solve() too and must stay.
  bool factorize(const BlockMatrix& w, const GroupBlocks& p, const GroupBlocks& q);

  void solve(const Vector& rhs, Vector& x, Index refinements = 1);

  double backward_error() const { return backward_error_; }
  const BlockLu& lu() const { return lu_; }

 private:
  template <int N>
  void place_block(const BlockMatrix& w, Index k, const MatN<N>& p);
  void multiply(const Vector& x, Vector& y);

  BlockLu lu_;
  RowPattern pattern_;                // prepared for
  std::vector<BlockLu::Slot> slots_;  // [blocks of W]
  const BlockMatrix* w_ = nullptr;
  const GroupBlocks *p_ = nullptr, *q_ = nullptr;
  Vector product_, residual_, correction_;
  double backward_error_ = 0.0;
};

}  // namespace tribo
