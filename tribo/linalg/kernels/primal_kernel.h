// Primal kernel: factorises H = A + J^T S J, S symmetric positive semi-definite per constraint, and solves with it. All Newton-like loops and, through the push-through identity, the dual kernel
// stand on it.
//
// The symbolic part (order, fill, where every constraint's contribution goes) is kept while the contact graph
// is unchanged; factorising again then allocates nothing. Cost of assembly: per constraint pieces^2 * rows *
// dofs^2.
#pragma once

#include <functional>
#include <vector>

#include "tribo/linalg/block_cholesky.h"
#include "tribo/linalg/block_patterns.h"
#include "tribo/linalg/group_blocks.h"

namespace tribo {

class PrimalKernel {
 public:
  // Prepares for this structure; does nothing when it is the one already prepared. Returns true if it had to
  // work.
  bool analyze(const BlockDiagonal& mass, const BlockJacobian& jacobian);

  // See BlockCholesky.
  void set_interrupt(const std::function<bool()>* interrupt) { cholesky_.set_interrupt(interrupt); }

  // H = A + J^T diag(weights) J, weights [rows] >= 0. False if H is not positive definite to rounding.
  bool factorize(const BlockDiagonal& mass, const BlockJacobian& jacobian, const Vector& weights);
  // H = A + J^T S J with S[g] symmetric; a scalar constraint uses S[g](0, 0).
  bool factorize(const BlockDiagonal& mass, const BlockJacobian& jacobian, const GroupBlocks& weights);

  // x <- H^-1 x, [dofs].
  void solve_in_place(Eigen::Ref<Vector> x) const { cholesky_.solve_in_place(x); }

  const BlockCholesky& cholesky() const { return cholesky_; }

 private:
  // One product J_high^T S J_low of constraint `group`, added at `offset`; high is eliminated later than low.
  struct Term {
    Index group;
    Index high, low;
    std::size_t offset;
    Index stride;
  };

  template <class Weight>
  bool assemble_and_factorize(const BlockDiagonal& mass, const BlockJacobian& jacobian,
                              const Weight& weighted);

  BlockCholesky cholesky_;
  TreePattern pattern_;  // prepared for
  std::vector<Term> terms_;
  std::vector<BlockCholesky::Slot> diagonal_;  // [trees]
};

}  // namespace tribo
