// The Delassus operator W = J A^-1 J^T in block-sparse form: a block for every pair of constraints that share
// a tree. Memory: 9 doubles per such pair of contacts, so it pays where constraints are few per tree or trees
// are large; otherwise apply J, A^-1 and J^T one after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "tribo/linalg/block_diagonal.h"
#include "tribo/linalg/block_jacobian.h"
#include "tribo/linalg/block_matrix.h"

namespace tribo {

// Keeps the pattern while the structure of J is unchanged: assembling again then allocates nothing.
class DelassusAssembler {
 public:
  // The matrix stays valid until the next call.
  const BlockMatrix& assemble(const BlockDiagonalCholesky& mass_factor, const BlockJacobian& jacobian);

 private:
  bool same_structure(const BlockJacobian& jacobian) const;
  void analyze(Index trees, const BlockJacobian& jacobian);
  Eigen::Map<Matrix> whitened(const BlockJacobian& jacobian, Index group, Index piece) {
    return {whitened_.data() + whitened_start_[piece], jacobian.piece_cols(piece), jacobian.rows(group)};
  }

  BlockMatrix matrix_;
  std::vector<Index> piece_end_, group_rows_, piece_tree_, piece_cols_;  // the structure prepared for
  std::vector<Index> tree_start_, tree_group_, tree_piece_;  // per tree: who touches it, in constraint order
  std::vector<std::size_t> whitened_start_;                  // [pieces]
  Numbers whitened_;                                         // L^-1 J_p^T, piece after piece
};

// The same for a single use.
BlockMatrix build_delassus(const BlockDiagonalCholesky& mass_factor, const BlockJacobian& jacobian);

}  // namespace tribo
