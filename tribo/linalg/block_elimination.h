// Symbolic elimination of a matrix with a symmetric block pattern: the order (AMD on the block graph), the
// fill, and where every block of the factor is stored. Shared by the block Cholesky and the block LU.
//
// Storage. Block columns come one after the other in elimination order: the diagonal block, then the blocks
// below it, each column-major. Towards the end of the elimination a sparse matrix has filled in: the last
// columns whose blocks reach every later row form the tail, stored as one dense square matrix so that it can
// be factorised by matrix-matrix products.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

struct BlockElimination {
  // `sizes[i]` > 0: rows of block i. `pattern`: pairs (i, j), i != j, of coupled blocks, in any order,
  // repetitions allowed. The diagonal is always present.
  void analyze(std::span<const Index> sizes, std::span<const std::pair<Index, Index>> pattern);

  bool is_analyzed() const { return !start.empty(); }
  Index size() const { return start.empty() ? 0 : start.back(); }
  Index block_count() const { return start.empty() ? 0 : static_cast<Index>(start.size()) - 1; }

  // The block in row `high`, column `low` of the factor (positions in elimination order, high >= low; it must
  // exist): first entry and distance between columns.
  struct Place {
    std::size_t offset = 0;
    Index stride = 0;
  };
  Place place(Index high, Index low) const;
  bool in_tail(Index eliminated) const { return eliminated >= tail_begin; }
  Index tail_rows() const { return size() - permuted_start[tail_begin]; }
  // Place of a tail block, also above the diagonal.
  Place tail_place(Index row_position, Index column_position) const;

  // Between the caller's order and the elimination order; vectors of length size().
  void gather(const double* x, double* permuted) const;
  void scatter(const double* permuted, double* x) const;

  std::vector<Index> start;            // [n + 1] scalar start of block i, caller's order
  std::vector<Index> order, position;  // order[k] = block eliminated k-th, position its inverse
  std::vector<Index> block_size;       // [n] size of the k-th eliminated block
  std::vector<Index> permuted_start;   // [n + 1] scalar start of the k-th eliminated block
  std::vector<Index> column_start;     // [n + 1] first below-diagonal block of column k in row
  std::vector<Index> row;              // block row (elimination order), ascending inside a column
  std::vector<std::size_t> offset;     // values of row[p]; columns before the tail only
  std::vector<std::size_t> diagonal;   // [n] values of the diagonal block; before the tail only
  Index tail_begin = 0;                // first block of the tail; block_count() when there is none
  std::size_t tail_offset = 0;
  std::size_t entries = 0;  // values of the whole factor
  Index uniform = 0;        // common block size, 0 if mixed
  double flops = 0.0;       // of a Cholesky factorisation

  // Calls action(std::integral_constant<int, B>) with the common block size where code is compiled for it, 3 or 6, else with
  // Eigen::Dynamic.
  template <class Action>
  auto with_block_size(const Action& action) const {
    if (uniform == 3) return action(std::integral_constant<int, 3>());
    if (uniform == 6) return action(std::integral_constant<int, 6>());
    return action(std::integral_constant<int, Eigen::Dynamic>());
  }

 private:
  void symbolic(std::span<const std::pair<Index, Index>> pattern);
  void find_tail();
  void lay_out();
};

}  // namespace tribo
