// The structures that symbolic analyses are made for, remembered so that the analysis is kept while they stay.
//
//   TreePattern   A + J^T D J: trees are coupled by the constraints they share
//   RowPattern    W: constraints are coupled where W has a block
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tribo/linalg/block_diagonal.h"
#include "tribo/linalg/block_jacobian.h"
#include "tribo/linalg/block_matrix.h"

namespace tribo {

// Pairs (i, j), i < j, of coupled blocks, sorted and without repetition.
using BlockEdges = std::vector<std::pair<Index, Index>>;

class TreePattern {
 public:
  bool matches(const BlockDiagonal& mass, const BlockJacobian& jacobian) const;
  BlockEdges remember(const BlockDiagonal& mass, const BlockJacobian& jacobian);
  std::span<const Index> sizes() const { return tree_sizes_; }

 private:
  std::vector<Index> tree_sizes_, group_rows_, piece_end_, piece_tree_;
};

class RowPattern {
 public:
  bool matches(const BlockMatrix& w) const;
  BlockEdges remember(const BlockMatrix& w);
  std::span<const Index> sizes() const { return sizes_; }

 private:
  std::vector<Index> sizes_, row_end_, columns_;
};

}  // namespace tribo
