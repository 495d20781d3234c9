// The trees in the mass matrix M of a file, and their blocks, dense or sparse.
#pragma once

#include <Eigen/SparseCore>
#include <cstddef>
#include <numeric>
#include <vector>

#include "tribo/formats/assembly.h"

namespace tribo::detail {

struct Trees {
  std::vector<Index> start;        // [trees + 1] first degree of freedom, in the order of the trees
  std::vector<Index> tree_of;      // [dofs] by the file's numbering
  std::vector<Index> position_of;  // [dofs] place inside the tree
  std::vector<bool> sparse;        // [trees]

  Index count() const { return static_cast<Index>(start.size()) - 1; }
  Index size(Index t) const { return start[t + 1] - start[t]; }
};

// `count` boxes: entries of box b are at order[begin[b]] ... order[begin[b + 1] - 1], in their original
// order.
struct Buckets {
  std::vector<std::size_t> begin, order;
};

template <class BoxOf>
Buckets sort_into(Index count, std::size_t entries, const BoxOf& box_of) {
  Buckets buckets;
  buckets.begin.assign(static_cast<std::size_t>(count) + 1, 0);
  for (std::size_t k = 0; k < entries; ++k) ++buckets.begin[box_of(k) + 1];
  std::partial_sum(buckets.begin.begin(), buckets.begin.end(), buckets.begin.begin());
  std::vector<std::size_t> next(buckets.begin.begin(), buckets.begin.end() - 1);
  buckets.order.resize(entries);
  for (std::size_t k = 0; k < entries; ++k) buckets.order[next[box_of(k)]++] = k;
  return buckets;
}

// The partition that the file names, or the connected components of M's pattern.
Trees find_trees(const PrimalParts& parts);
// InvalidInput where dense trees are too large.
void check_size(const Trees& trees);
// Of dense trees; empty for sparse ones.
std::vector<Matrix> mass_blocks(const SparseMatrix& mass, const Trees& trees);
// Of sparse trees, symmetric; those that are not symmetric up to rounding are made dense ones.
std::vector<Eigen::SparseMatrix<double>> sparse_blocks(const SparseMatrix& mass, Trees& trees);
// True if all blocks are symmetric up to rounding; then they are made so.
bool symmetrize(std::vector<Matrix>& blocks);

}  // namespace tribo::detail
