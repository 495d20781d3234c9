// Sparse block Cholesky P H P^T = L L^T of a symmetric positive definite matrix whose rows and columns come
// in blocks (6 per free body in the primal kernel, 3 per contact in the dual one, any mixture otherwise).
//
//   analyze(sizes, pattern)          order by minimum degree (AMD) on the block graph, find the fill; once
//   set_zero(), add, factorize()     as often as the values change; allocates nothing
//   solve_in_place(x)
//
// Right-looking by block columns: diagonal block Cholesky, triangular scaling of the blocks below, then
// rank-b updates of the columns to the right; targets are found by merging two sorted index lists. When all
// blocks have the same size 3 or 6 every block operation is of fixed size. Cost: sum over columns of (blocks
// below)^2 * b^3.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tribo/math/types.h"

namespace tribo {

class BlockCholesky {
 public:
  // `sizes[i]` > 0: rows of block i. `pattern`: pairs (i, j), i != j, of coupled blocks, in any order,
  // repetitions allowed. The diagonal is always present.
  void analyze(std::span<const Index> sizes, std::span<const std::pair<Index, Index>> pattern);

  bool is_analyzed() const { return !start_.empty(); }
  Index size() const { return start_.empty() ? 0 : start_.back(); }
  Index block_count() const { return start_.empty() ? 0 : static_cast<Index>(start_.size()) - 1; }

  // Where block (i, j) of H is stored: entry offset, and whether it is held transposed (as (j, i)).
  // Only blocks of the analysed pattern exist.
  struct Slot {
    std::size_t offset = 0;
    bool transposed = false;
  };
  Slot find(Index i, Index j) const;

  void set_zero();
  // Blocks are column-major with `rows` of the later one (in elimination order) as leading dimension.
  double* data() { return values_.data(); }

  // Asked before every column; factorize() gives up when it answers true. May be null; must outlive its use.
  void set_interrupt(const std::function<bool()>* interrupt) { interrupt_ = interrupt; }

  // False if a pivot is not positive: H is not positive definite (to rounding), or if interrupted.
  bool factorize();
  // x <- H^-1 x.
  void solve_in_place(Eigen::Ref<Vector> x) const;

  std::size_t factor_entries() const { return values_.size(); }
  double factor_flops() const { return flops_; }

 private:
  template <int B>
  bool factorize_fixed();
  template <int B>
  void solve_fixed(double* x) const;
  void symbolic(std::span<const std::pair<Index, Index>> pattern);

  std::vector<Index> start_;             // [n + 1] scalar start of block i, original order
  std::vector<Index> order_, position_;  // order_[k] = block eliminated k-th, position_ its inverse
  std::vector<Index> size_;              // [n] size of the k-th eliminated block
  std::vector<Index> permuted_start_;    // [n + 1] scalar start of the k-th eliminated block
  std::vector<Index> column_start_;      // [n + 1] first below-diagonal block of column k in row_
  std::vector<Index> row_;               // block row (elimination order), ascending inside a column
  std::vector<std::size_t> offset_;      // values of row_[p]
  std::vector<std::size_t> diagonal_;    // [n] values of the diagonal block
  std::vector<double> values_;
  mutable std::vector<double> work_;  // permuted right-hand side
  Index uniform_ = 0;                 // common block size, 0 if mixed
  double flops_ = 0.0;
  const std::function<bool()>* interrupt_ = nullptr;
};

}  // namespace tribo
