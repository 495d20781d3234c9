// Sparse block Cholesky P H P^T = L L^T of a symmetric positive definite matrix whose rows and columns come
// in blocks (6 per free body in the primal kernel, 3 per contact in the dual one, any mixture otherwise).
//
//   analyze(sizes, pattern)          order by minimum degree (AMD) on the block graph, find the fill; once
//   set_zero(), add, factorize()     as often as the values change; takes its memory the first time
//   solve_in_place(x)
//
// Right-looking by block columns: diagonal block Cholesky, triangular scaling of the blocks below, then
// rank-b updates of the columns to the right; targets are found by merging two sorted index lists. When all
// blocks have the same size 3 or 6 every block operation is of fixed size. The filled-in tail (see
// block_elimination.h) is factorised as one dense matrix. Cost: sum over columns of (blocks below)^2 * b^3.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tribo/linalg/block_elimination.h"

namespace tribo {

class BlockCholesky {
 public:
  // See BlockElimination::analyze.
  void analyze(std::span<const Index> sizes, std::span<const std::pair<Index, Index>> pattern);

  bool is_analyzed() const { return plan_.is_analyzed(); }
  Index size() const { return plan_.size(); }
  Index block_count() const { return plan_.block_count(); }

  // Where block (i, j) of H is stored: first entry, distance between columns, and whether it is held
  // transposed (as (j, i)). Only blocks of the analysed pattern exist.
  struct Slot {
    std::size_t offset = 0;
    Index stride = 0;
    bool transposed = false;
  };
  Slot find(Index i, Index j) const;

  void set_zero();
  // Blocks are column-major; of two blocks the one eliminated later gives the rows.
  double* data() { return values_.data(); }

  // Asked before every column; factorize() gives up when it answers true. May be null; must outlive its use.
  void set_interrupt(const std::function<bool()>* interrupt) { interrupt_ = interrupt; }

  // False if a pivot is not positive: H is not positive definite (to rounding), or if interrupted.
  bool factorize();
  // x <- H^-1 x.
  void solve_in_place(Eigen::Ref<Vector> x) const;

  std::size_t factor_entries() const { return plan_.entries; }
  double factor_flops() const { return plan_.flops; }

 private:
  template <int B>
  bool factorize_fixed();
  template <int B>
  void solve_fixed(double* x) const;
  template <int B>
  void update_column(Index p, Index end, Index b);
  bool factorize_tail();

  BlockElimination plan_;
  Numbers values_;
  mutable Numbers work_;  // permuted right-hand side
  const std::function<bool()>* interrupt_ = nullptr;
};

}  // namespace tribo
