// Symbolic sparse Cholesky by supernodes: sets of neighbouring columns of L with the same rows below them, stored as one
// dense panel each so that the work is done by matrix products.
//
//   supernode s  columns [first[s], first[s + 1]) in elimination order; panel of width + below rows, column-major,
//                whose lower triangle and the rows below it are those of L
//   parent[s]    supernode of its first row below, -1 at a root; children come before their parent, and all supernodes of
//                a subtree one after the other
//
// Order: minimum degree (AMD) or nested dissection, whichever takes fewer operations. Neighbouring supernodes are put together where that adds few zeros.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

struct SupernodePlan {
  // Pattern of the lower triangle by columns, diagonal included.
  void analyze(Index size, std::span<const Index> start, std::span<const Index> row);

  Index count() const { return static_cast<Index>(parent.size()); }
  Index width(Index s) const { return first[s + 1] - first[s]; }
  Index below(Index s) const { return static_cast<Index>(row_start[s + 1] - row_start[s]); }

  std::vector<Index> order, position;  // [size] order[k] = degree of freedom eliminated k-th; its inverse
  std::vector<Index> first{0};         // [supernodes + 1]
  std::vector<Index> parent;           // [supernodes]
  std::vector<Index> child,
      sibling;  // [supernodes] the last child, the child of the same parent before; -1: none
  std::vector<Index> supernode_of;        // [size] of a column in elimination order
  std::vector<std::size_t> row_start{0};  // [supernodes + 1] into row and target
  std::vector<Index> row;                 // rows below the panels, elimination order, ascending
  std::vector<Index>
      target;  // the same as rows of the parent's front: its columns first, then its rows below
  std::vector<std::size_t> panel_start{0};  // [supernodes + 1] first entry of a panel in the factor
  std::vector<std::size_t> entry;           // [entries of the lower triangle] place in the factor
  std::size_t stack = 0;                    // most entries of update matrices that exist at one time
  Index most_below = 0;
  double flops = 0.0;  // of a factorisation

 private:
  // The strict triangle of the permuted matrix: by its rows the entries left of the diagonal, by its columns those below.
  struct Pattern {
    std::vector<Index> begin, other;
  };
  Pattern pattern(std::span<const Index> start, std::span<const Index> row, bool by_rows) const;
  std::vector<Index> elimination_parents(const Pattern& rows) const;
  double take_order(std::vector<Index> wanted, std::span<const Index> start,
                    std::span<const Index> entry_row);
  void order_columns(Index size, std::span<const Index> start, std::span<const Index> row);
  void find_supernodes(const Pattern& rows, const std::vector<Index>& parents);
  void find_rows(const Pattern& columns);
  void lay_out(std::span<const Index> start, std::span<const Index> entry_row);
  void measure();
};

}  // namespace tribo
