// Block-diagonal symmetric positive definite matrix: the mass matrix A of the contact problem, one dense
// block per kinematic tree (6x6 for a free rigid body), and its Cholesky factor.
//
// Storage is one flat array, blocks column-major one after the other, so that thousands of free bodies cost
// 36 doubles each and no heap object; unit blocks of one size share their entries. Cost of a solve: sum of block_size^2
// multiply-adds.
#pragma once

#include <cstddef>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

class BlockDiagonal {
 public:
  using ConstBlock = Eigen::Map<const Matrix>;

  void reserve(Index blocks, Index dofs_per_block);

  void clear();  // keeps the memory, but for unit blocks of many entries

  // Appends a square block; returns its index. Only the shape is checked here (see ContactProblemBuilder).
  Index add_block(const Eigen::Ref<const Matrix>& block);
  // Appends a unit block, whose entries are written once for all of its size.
  Index add_identity(Index size);
  bool is_unit(Index b) const { return place_[b] < 0; }
  // Made of unit blocks only: then multiplying and solving cost nothing.
  bool is_identity() const { return identity_; }

  Index block_count() const { return static_cast<Index>(start_.size()) - 1; }
  Index size() const { return start_.back(); }
  Index block_start(Index b) const { return start_[b]; }
  Index block_size(Index b) const { return start_[b + 1] - start_[b]; }
  ConstBlock block(Index b) const { return ConstBlock(data(b), block_size(b), block_size(b)); }

  // y = A x, both of length size().
  void multiply(const Eigen::Ref<const Vector>& x, Eigen::Ref<Vector> y) const;

 private:
  friend class BlockDiagonalCholesky;
  const double* data(Index b) const {
    return place_[b] < 0 ? units_.data() + ~place_[b] : data_.data() + place_[b];
  }

  std::vector<Index> start_{0};        // [blocks + 1] first degree of freedom of each block
  std::vector<std::ptrdiff_t> place_;  // [blocks] first entry of each block in data_; ~place, < 0: in units_
  Numbers data_;
  std::vector<Index> unit_sizes_;  // of the blocks in units_, one after the other
  Numbers units_;
  bool identity_ = true;
};

// A = L L^T block by block.
class BlockDiagonalCholesky {
 public:
  static constexpr Index kSuccess = -1;

  // Returns kSuccess, or the index of the first block that is not positive definite (the factor is then
  // unusable).
  Index factorize(const BlockDiagonal& matrix);

  // For factors known already: starts afresh, and appends the lower factor of one block.
  void clear() { lower_.clear(); }
  void add_lower(const BlockDiagonal::ConstBlock& lower) { lower_.add_block(lower); }
  void add_unit_lower(Index size) { lower_.add_identity(size); }

  Index block_count() const { return lower_.block_count(); }
  Index size() const { return lower_.size(); }
  bool is_identity() const { return lower_.is_identity(); }

  // x <- A^-1 x.
  void solve_in_place(Eigen::Ref<Vector> x) const;

  // x <- L^-1 x, so that |x|^2 becomes x . A^-1 x.
  void solve_lower_in_place(Eigen::Ref<Vector> x) const;

  // columns <- A_bb^-1 columns, for one block b (rows: block size).
  void solve_block_in_place(Index b, Eigen::Ref<Matrix> columns) const;

  // columns <- L_bb^-1 columns.
  void solve_lower_block_in_place(Index b, Eigen::Ref<Matrix> columns) const;

  // The lower factor of block b (its strict upper triangle is not meaningful).
  BlockDiagonal::ConstBlock lower(Index b) const { return lower_.block(b); }

 private:
  BlockDiagonal lower_;
};

}  // namespace tribo
