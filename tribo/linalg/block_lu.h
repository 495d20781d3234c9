// Sparse block LU P H P^T = L U of an unsymmetric matrix with a symmetric block pattern, on the order and
// symbolic structure of the block Cholesky. Rows are exchanged inside the diagonal blocks only (and freely in
// the dense tail), which is enough for the Newton matrices of contact: their diagonal blocks dominate. growth()
// tells when it was not; the kernels above (linalg/kernels/newton_kernel.h) refine their solutions against H.
//
//   analyze(sizes, pattern)          once per structure
//   set_zero(), add, factorize()     as often as the values change; takes its memory the first time
//   solve_in_place(x)
//
// Storage: L below the diagonal as in BlockElimination; U above it transposed, block by block, in a second
// array of the same layout; the tail holds both. Cost: twice the Cholesky.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tribo/linalg/block_elimination.h"

namespace tribo {

class BlockLu {
 public:
  void analyze(std::span<const Index> sizes, std::span<const std::pair<Index, Index>> pattern);

  bool is_analyzed() const { return plan_.is_analyzed(); }
  Index size() const { return plan_.size(); }
  Index block_count() const { return plan_.block_count(); }

  // Where block (i, j) of H goes: first entry in data(), distance between columns, and whether it is held
  // transposed.
  struct Slot {
    std::size_t offset = 0;
    Index stride = 0;
    bool transposed = false;
  };
  Slot find(Index i, Index j) const;

  void set_zero();
  // Valid after set_zero().
  double* data() { return values_.data(); }

  // Asked before every column; factorize() gives up when it answers true. May be null; must outlive its use.
  void set_interrupt(const std::function<bool()>* interrupt) { interrupt_ = interrupt; }

  // False if a pivot block is singular or not finite, or if interrupted.
  bool factorize();
  // x <- H^-1 x.
  void solve_in_place(Eigen::Ref<Vector> x) const;

  // Largest entry of the pivot blocks after elimination over the largest before it: far above 1 means that
  // digits were lost.
  double growth() const { return growth_; }
  double factor_flops() const { return 2.0 * plan_.flops; }  // multiply-adds of a factorisation
  std::size_t factor_entries() const { return plan_.entries + plan_.tail_offset; }

 private:
  template <int B>
  bool factorize_fixed();
  template <int B>
  bool factorize_pivot(Index k);
  template <int B>
  void divide_by_pivot(Index k, Index p);
  template <int B>
  void update_columns(Index k);
  bool factorize_tail();
  template <int B>
  void solve_fixed(double* x) const;
  double largest_pivot_entry() const;

  BlockElimination plan_;
  std::size_t upper_ = 0;       // where the second array begins in values_
  Numbers values_;              // L, pivots and tail; then U^T
  std::vector<int> exchanges_;  // [size] row exchanges of pivots kept as LU and of the tail
  mutable Numbers work_;
  double growth_ = 1.0;
  const std::function<bool()>* interrupt_ = nullptr;
};

}  // namespace tribo
