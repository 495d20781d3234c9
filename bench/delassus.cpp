#include "delassus.h"

#include <algorithm>
#include <vector>

namespace tribo::bench {

namespace {

// A piece of J together with A^-1 of its transpose.
struct TreePiece {
  Index group = 0, piece = 0;
  Matrix solved;  // A_tt^-1 J_gt^T  [dofs of the tree x rows of the group]
};

std::vector<std::vector<TreePiece>> pieces_by_tree(const ContactProblem& problem) {
  const BlockJacobian& jacobian = problem.jacobian();
  std::vector<std::vector<TreePiece>> by_tree(problem.tree_count());
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    for (Index p = jacobian.piece_begin(g); p < jacobian.piece_end(g); ++p) {
      Matrix solved = jacobian.piece(g, p).transpose();
      problem.mass_factor().solve_block_in_place(jacobian.piece_tree(p), solved);
      by_tree[jacobian.piece_tree(p)].push_back({g, p, std::move(solved)});
    }
  }
  return by_tree;
}

BlockMatrix from_jacobian(const ContactProblem& problem) {
  const BlockJacobian& jacobian = problem.jacobian();
  const Index groups = jacobian.group_count();
  const auto by_tree = pieces_by_tree(problem);

  std::vector<Index> starts(groups + 1);
  for (Index g = 0; g <= groups; ++g) starts[g] = g < groups ? jacobian.row_start(g) : jacobian.row_count();
  std::vector<std::vector<Index>> columns(groups);
  for (const auto& pieces : by_tree) {
    for (const TreePiece& a : pieces) {
      for (const TreePiece& b : pieces) columns[a.group].push_back(b.group);
    }
  }
  for (auto& list : columns) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  BlockMatrix w = BlockMatrix::from_pattern(std::move(starts), columns);
  for (const auto& pieces : by_tree) {
    for (const TreePiece& a : pieces) {
      const auto& list = columns[a.group];
      for (const TreePiece& b : pieces) {
        const auto at = std::lower_bound(list.begin(), list.end(), b.group) - list.begin();
        w.mutable_block(a.group, w.row_begin(a.group) + static_cast<Index>(at)) +=
            jacobian.piece(a.group, a.piece) * b.solved;
      }
    }
  }
  return w;
}

}  // namespace

BlockMatrix delassus_matrix(const ContactProblem& problem) {
  BlockMatrix w = problem.has_delassus() ? problem.delassus() : from_jacobian(problem);
  for (Index g = 0; g < w.group_count(); ++g) {
    w.mutable_block(g, w.diagonal(g)).diagonal() += problem.compliance().segment(w.start(g), w.rows(g));
  }
  return w;
}

}  // namespace tribo::bench
