#include "tribo/linalg/delassus.h"

#include <algorithm>
#include <numeric>

#include "tribo/linalg/whitened_jacobian.h"

namespace tribo {

bool DelassusAssembler::same_structure(const BlockJacobian& jacobian) const {
  if (static_cast<Index>(piece_end_.size()) != jacobian.group_count() ||
      static_cast<Index>(piece_tree_.size()) != jacobian.piece_count()) {
    return false;
  }
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    if (piece_end_[g] != jacobian.piece_end(g) || group_rows_[g] != jacobian.rows(g)) return false;
  }
  for (Index p = 0; p < jacobian.piece_count(); ++p) {
    if (piece_tree_[p] != jacobian.piece_tree(p) || piece_cols_[p] != jacobian.piece_cols(p)) return false;
  }
  return true;
}

void DelassusAssembler::analyze(Index trees, const BlockJacobian& jacobian) {
  const Index groups = jacobian.group_count();
  const Index pieces = jacobian.piece_count();
  piece_end_.resize(groups);
  group_rows_.resize(groups);
  piece_tree_.resize(pieces);
  piece_cols_.resize(pieces);
  whitened_start_.resize(pieces);
  tree_start_.assign(trees + 1, 0);
  std::size_t entries = 0;
  for (Index g = 0; g < groups; ++g) {
    piece_end_[g] = jacobian.piece_end(g);
    group_rows_[g] = jacobian.rows(g);
    for (Index p = jacobian.piece_begin(g); p < jacobian.piece_end(g); ++p) {
      piece_tree_[p] = jacobian.piece_tree(p);
      piece_cols_[p] = jacobian.piece_cols(p);
      whitened_start_[p] = entries;
      entries += static_cast<std::size_t>(piece_cols_[p]) * jacobian.rows(g);
      ++tree_start_[piece_tree_[p] + 1];
    }
  }
  whitened_.resize(entries);
  std::partial_sum(tree_start_.begin(), tree_start_.end(), tree_start_.begin());
  tree_group_.resize(pieces);
  tree_piece_.resize(pieces);
  std::vector<Index> next(tree_start_.begin(), tree_start_.end());
  for (Index g = 0; g < groups; ++g) {
    for (Index p = jacobian.piece_begin(g); p < jacobian.piece_end(g); ++p) {
      const Index slot = next[piece_tree_[p]]++;
      tree_group_[slot] = g;
      tree_piece_[slot] = p;
    }
  }

  std::vector<std::vector<Index>> columns(groups);
  std::vector<Index> starts(groups + 1);
  for (Index g = 0; g < groups; ++g) {
    starts[g + 1] = jacobian.row_start(g + 1);
    columns[g].push_back(g);
    for (Index p = jacobian.piece_begin(g); p < jacobian.piece_end(g); ++p) {
      const auto begin = tree_group_.begin();
      columns[g].insert(columns[g].end(), begin + tree_start_[piece_tree_[p]],
                        begin + tree_start_[piece_tree_[p] + 1]);
    }
    std::sort(columns[g].begin(), columns[g].end());
    columns[g].erase(std::unique(columns[g].begin(), columns[g].end()), columns[g].end());
  }
  matrix_ = BlockMatrix::from_pattern(std::move(starts), columns);
}

const BlockMatrix& DelassusAssembler::assemble(const BlockDiagonalCholesky& mass_factor,
                                               const BlockJacobian& jacobian) {
  if (!same_structure(jacobian)) analyze(mass_factor.block_count(), jacobian);
  matrix_.set_zero();
  // X_g = L^-1 J_g^T, so that W_gh = X_g^T X_h.
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    for (Index p = jacobian.piece_begin(g); p < jacobian.piece_end(g); ++p) {
      whiten_piece(mass_factor, jacobian, g, p, whitened_.data() + whitened_start_[p],
                   jacobian.piece_cols(p));
    }
  }
  for (std::size_t tree = 0; tree + 1 < tree_start_.size(); ++tree) {
    for (Index a = tree_start_[tree]; a < tree_start_[tree + 1]; ++a) {
      const Index g = tree_group_[a];
      const Eigen::Map<Matrix> left = whitened(jacobian, g, tree_piece_[a]);
      Index k = matrix_.row_begin(g);
      for (Index b = tree_start_[tree]; b < tree_start_[tree + 1]; ++b) {
        while (matrix_.column(k) < tree_group_[b]) ++k;
        const Eigen::Map<Matrix> right = whitened(jacobian, tree_group_[b], tree_piece_[b]);
        matrix_.mutable_block(g, k).noalias() += left.transpose().lazyProduct(right);
      }
    }
  }
  return matrix_;
}

BlockMatrix build_delassus(const BlockDiagonalCholesky& mass_factor, const BlockJacobian& jacobian) {
  return DelassusAssembler().assemble(mass_factor, jacobian);
}

}  // namespace tribo
