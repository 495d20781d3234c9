// Orders for sparse elimination by nested dissection (George, SIAM J. Numer. Anal. 10, 1973): a set of nodes that separates the
// rest into two halves is eliminated last, and the halves are ordered in the same way. On three-dimensional meshes minimum
// degree alone costs several times the operations.
//
// Separators: a graph has no coordinates, but the distances d_k of its nodes from a few landmarks far from each other serve as
// such. The halves are those of d_k - d_l, for the pair of landmarks and the cut near the middle whose separator is smallest.
// Parts of few nodes are ordered by minimum degree. Cost: some 1e3 operations per node and level.
#pragma once

#include <span>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

// Pattern of the lower triangle by columns; returns the degrees of freedom in the order of their elimination. Neighbours
// with the same columns (the three of a node) stay together.
std::vector<Index> dissection_order(Index size, std::span<const Index> start, std::span<const Index> row);

}  // namespace tribo
