#include "tribo/linalg/block_patterns.h"

#include <algorithm>

namespace tribo {
namespace {

BlockEdges sorted(BlockEdges edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

}  // namespace

bool TreePattern::matches(const BlockDiagonal& mass, const BlockJacobian& jacobian) const {
  if (static_cast<Index>(tree_sizes_.size()) != mass.block_count() ||
      static_cast<Index>(piece_end_.size()) != jacobian.group_count() ||
      static_cast<Index>(piece_tree_.size()) != jacobian.piece_count()) {
    return false;
  }
  for (Index t = 0; t < mass.block_count(); ++t) {
    if (tree_sizes_[t] != mass.block_size(t)) return false;
  }
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    if (piece_end_[g] != jacobian.piece_end(g) || group_rows_[g] != jacobian.rows(g)) return false;
  }
  for (Index p = 0; p < jacobian.piece_count(); ++p) {
    if (piece_tree_[p] != jacobian.piece_tree(p)) return false;
  }
  return true;
}

BlockEdges TreePattern::remember(const BlockDiagonal& mass, const BlockJacobian& jacobian) {
  tree_sizes_.resize(mass.block_count());
  for (Index t = 0; t < mass.block_count(); ++t) tree_sizes_[t] = mass.block_size(t);
  group_rows_.resize(jacobian.group_count());
  piece_end_.resize(jacobian.group_count());
  piece_tree_.resize(jacobian.piece_count());
  BlockEdges edges;
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    group_rows_[g] = jacobian.rows(g);
    piece_end_[g] = jacobian.piece_end(g);
    for (Index p = jacobian.piece_begin(g); p < jacobian.piece_end(g); ++p) {
      piece_tree_[p] = jacobian.piece_tree(p);
      for (Index q = jacobian.piece_begin(g); q < p; ++q) {
        edges.push_back(std::minmax(jacobian.piece_tree(p), jacobian.piece_tree(q)));
      }
    }
  }
  return sorted(std::move(edges));
}

bool RowPattern::matches(const BlockMatrix& w) const {
  if (static_cast<Index>(sizes_.size()) != w.group_count() ||
      static_cast<Index>(columns_.size()) != w.block_count()) {
    return false;
  }
  for (Index g = 0; g < w.group_count(); ++g) {
    if (sizes_[g] != w.rows(g) || row_end_[g] != w.row_end(g)) return false;
  }
  for (Index k = 0; k < w.block_count(); ++k) {
    if (columns_[k] != w.column(k)) return false;
  }
  return true;
}

BlockEdges RowPattern::remember(const BlockMatrix& w) {
  sizes_.resize(w.group_count());
  row_end_.resize(w.group_count());
  columns_.resize(w.block_count());
  BlockEdges edges;
  for (Index g = 0; g < w.group_count(); ++g) {
    sizes_[g] = w.rows(g);
    row_end_[g] = w.row_end(g);
    for (Index k = w.row_begin(g); k < w.row_end(g); ++k) {
      columns_[k] = w.column(k);
      if (w.column(k) != g) edges.push_back(std::minmax(g, w.column(k)));
    }
  }
  return sorted(std::move(edges));
}

}  // namespace tribo
