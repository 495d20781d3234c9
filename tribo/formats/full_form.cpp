#include "tribo/formats/full_form.h"

#include "tribo/problem/sparse_trees.h"

namespace tribo::detail {
namespace {

const SparseTree* sparse_tree(const ContactProblem& problem, Index t) {
  return problem.has_sparse_trees() ? problem.sparse_trees().find(t) : nullptr;
}

// First full degree of freedom of every tree.
std::vector<Index> full_starts(const ContactProblem& problem) {
  std::vector<Index> starts{0};
  for (const Index size : full_tree_sizes(problem)) starts.push_back(starts.back() + size);
  return starts;
}

void add_sparse(const LowerColumns& lower, Index start, std::vector<ScalarTriplet>& entries) {
  for (Index c = 0; c < lower.size; ++c) {
    for (Index p = lower.start[c]; p < lower.start[c + 1]; ++p) {
      const Index r = lower.row[p];
      entries.push_back({start + r, start + c, lower.value[p]});
      if (r != c) entries.push_back({start + c, start + r, lower.value[p]});
    }
  }
}

}  // namespace

std::vector<Index> full_tree_sizes(const ContactProblem& problem) {
  std::vector<Index> sizes;
  for (Index t = 0; t < problem.tree_count(); ++t) {
    const SparseTree* tree = sparse_tree(problem, t);
    sizes.push_back(tree != nullptr ? tree->dofs() : problem.mass().block_size(t));
  }
  return sizes;
}

SparseMatrix full_mass(const ContactProblem& problem) {
  const std::vector<Index> starts = full_starts(problem);
  SparseMatrix matrix{starts.back(), starts.back(), {}};
  for (Index t = 0; t < problem.tree_count(); ++t) {
    const Index start = starts[t];
    if (const SparseTree* tree = sparse_tree(problem, t)) {
      add_sparse(tree->mass->lower(), start, matrix.entries);
      continue;
    }
    const BlockDiagonal::ConstBlock block = problem.mass().block(t);
    for (Index c = 0; c < block.cols(); ++c) {
      for (Index r = 0; r < block.rows(); ++r) {
        if (block(r, c) != 0.0) matrix.entries.push_back({start + r, start + c, block(r, c)});
      }
    }
  }
  return matrix;
}

Vector full_momentum(const ContactProblem& problem) {
  const std::vector<Index> starts = full_starts(problem);
  Vector momentum(starts.back());
  for (Index t = 0; t < problem.tree_count(); ++t) {
    const SparseTree* tree = sparse_tree(problem, t);
    const Index size = starts[t + 1] - starts[t];
    const Vector& from = tree != nullptr ? problem.sparse_trees().momentum() : problem.momentum();
    momentum.segment(starts[t], size) =
        from.segment(tree != nullptr ? tree->first : problem.mass().block_start(t), size);
  }
  return momentum;
}

SparseMatrix full_jacobian(const ContactProblem& problem) {
  const std::vector<Index> starts = full_starts(problem);
  SparseMatrix matrix{starts.back(), problem.row_count(), {}};
  const auto add = [&](Index i, const BlockJacobian::Piece& piece, Index dof) {
    for (Index r = 0; r < piece.rows(); ++r) {
      for (Index c = 0; c < piece.cols(); ++c) {
        if (piece(r, c) != 0.0) matrix.entries.push_back({dof + c, problem.row(i) + r, piece(r, c)});
      }
    }
  };
  const BlockJacobian& jacobian = problem.jacobian();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const Index tree = jacobian.piece_tree(p);
      if (!problem.is_sparse(tree)) add(i, jacobian.piece(i, p), starts[tree]);
    }
    if (!problem.has_sparse_trees()) continue;
    const BlockJacobian& sparse = problem.sparse_trees().jacobian();
    for (Index p = sparse.piece_begin(i); p < sparse.piece_end(i); ++p) {
      const SparseTree& tree = problem.sparse_trees().trees()[sparse.piece_tree(p)];
      add(i, sparse.piece(i, p), starts[tree.tree] + sparse.piece_dof(p) - tree.first);
    }
  }
  return matrix;
}

}  // namespace tribo::detail
