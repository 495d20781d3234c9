// Block-sparse matrix in block compressed rows: an explicit Delassus matrix W (rows and columns are the
// constraints of 1, 3, 4 or 6 rows). W of real files may be unsymmetric, so nothing here assumes
// symmetry.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

struct ScalarTriplet {
  Index row = 0;
  Index col = 0;
  double value = 0.0;
};

class BlockMatrix {
 public:
  using Block = Eigen::Map<const Matrix>;

  BlockMatrix() = default;

  // Builds from scalar triplets (duplicates add up). `starts` = [groups + 1] first scalar row of every group,
  // the same for rows and columns. Diagonal blocks are always present; within a row, blocks are sorted by
  // column.
  static BlockMatrix from_triplets(std::vector<Index> starts, std::span<const ScalarTriplet> triplets);

  // Same, from a block pattern whose values are then written through mutable_block(); `columns[g]` sorted.
  static BlockMatrix from_pattern(std::vector<Index> starts, const std::vector<std::vector<Index>>& columns);

  // Becomes the rows and columns `groups` (ascending) of `whole`, which must not couple them to others;
  // local[g] is the place of g among them. Keeps its memory.
  void assign_part(const BlockMatrix& whole, std::span<const Index> groups, std::span<const Index> local);

  Index group_count() const { return starts_.empty() ? 0 : static_cast<Index>(starts_.size()) - 1; }
  Index size() const { return starts_.empty() ? 0 : starts_.back(); }
  Index start(Index g) const { return starts_[g]; }
  Index rows(Index g) const { return starts_[g + 1] - starts_[g]; }
  const std::vector<Index>& starts() const { return starts_; }
  Index most_rows() const { return most_rows_; }  // of a group

  Index row_begin(Index g) const { return block_start_[g]; }
  Index row_end(Index g) const { return block_start_[g + 1]; }
  Index block_count() const { return static_cast<Index>(column_.size()); }
  Index column(Index k) const { return column_[k]; }
  Index diagonal(Index g) const { return diagonal_[g]; }  // index k of block (g, g)
  const double* data(Index k) const { return data_.data() + data_start_[k]; }
  double* mutable_data(Index k) { return data_.data() + data_start_[k]; }
  Block block(Index g, Index k) const { return Block(data(k), rows(g), rows(column_[k])); }
  Eigen::Map<Matrix> mutable_block(Index g, Index k) {
    return Eigen::Map<Matrix>(mutable_data(k), rows(g), rows(column_[k]));
  }

  void set_zero();

  // y = W x.
  void multiply(const Eigen::Ref<const Vector>& x, Eigen::Ref<Vector> y) const;
  // y = row g of W times x (rows(g) entries).
  void multiply_row(Index g, const double* x, double* y) const;

  bool all_finite() const;
  // max |W - W^T| / max |W|: 0 for a symmetric matrix. Blocks without a transposed partner count as zero
  // there.
  double asymmetry() const;
  Matrix to_dense() const;

 private:
  std::vector<Index> starts_;
  Index most_rows_ = 0;
  std::vector<Index> block_start_, column_, diagonal_;
  std::vector<std::size_t> data_start_;
  Numbers data_;
};

}  // namespace tribo
