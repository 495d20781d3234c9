#include "tribo/linalg/delassus.h"

#include <algorithm>

namespace tribo {
namespace {

// For every tree, the (constraint, piece) pairs that touch it, in constraint order.
std::vector<std::vector<std::pair<Index, Index>>> pieces_by_tree(Index trees, const BlockJacobian& jacobian) {
  std::vector<std::vector<std::pair<Index, Index>>> touching(trees);
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    for (Index p = jacobian.piece_begin(g); p < jacobian.piece_end(g); ++p) {
      touching[jacobian.piece_tree(p)].emplace_back(g, p);
    }
  }
  return touching;
}

std::vector<std::vector<Index>> coupling_pattern(
    const std::vector<std::vector<std::pair<Index, Index>>>& touching, const BlockJacobian& jacobian) {
  std::vector<std::vector<Index>> columns(jacobian.group_count());
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    columns[g].push_back(g);
    for (Index p = jacobian.piece_begin(g); p < jacobian.piece_end(g); ++p) {
      for (const auto& [other, piece] : touching[jacobian.piece_tree(p)]) columns[g].push_back(other);
    }
    std::sort(columns[g].begin(), columns[g].end());
    columns[g].erase(std::unique(columns[g].begin(), columns[g].end()), columns[g].end());
  }
  return columns;
}

}  // namespace

std::size_t delassus_entries(const BlockDiagonalCholesky& mass_factor, const BlockJacobian& jacobian) {
  const auto touching = pieces_by_tree(mass_factor.block_count(), jacobian);
  std::size_t entries = 0;
  for (const auto& pairs : touching) {
    std::size_t rows = 0;
    for (const auto& [g, p] : pairs) rows += jacobian.rows(g);
    entries += rows * rows;
  }
  return entries;
}

BlockMatrix build_delassus(const BlockDiagonalCholesky& mass_factor, const BlockJacobian& jacobian) {
  const auto touching = pieces_by_tree(mass_factor.block_count(), jacobian);
  std::vector<Index> starts(jacobian.group_count() + 1);
  for (Index g = 0; g <= jacobian.group_count(); ++g) starts[g] = jacobian.row_start(g);
  BlockMatrix w = BlockMatrix::from_pattern(std::move(starts), coupling_pattern(touching, jacobian));
  for (Index tree = 0; tree < mass_factor.block_count(); ++tree) {
    // X_g = L^-1 J_g^T, so that W_gh = X_g^T X_h.
    std::vector<Matrix> x;
    x.reserve(touching[tree].size());
    for (const auto& [g, p] : touching[tree]) {
      x.push_back(jacobian.piece(g, p).transpose());
      mass_factor.lower(tree).triangularView<Eigen::Lower>().solveInPlace(x.back());
    }
    for (std::size_t a = 0; a < x.size(); ++a) {
      const Index g = touching[tree][a].first;
      Index k = w.row_begin(g);
      for (std::size_t b = 0; b < x.size(); ++b) {
        while (w.column(k) < touching[tree][b].first) ++k;
        w.mutable_block(g, k).noalias() += x[a].transpose() * x[b];
      }
    }
  }
  return w;
}

}  // namespace tribo
