#include "tribo/solve/systems/small_delassus.h"

#include "tribo/linalg/whitened_jacobian.h"

namespace tribo {

const SmallDelassus::Dense& SmallDelassus::assemble(const ContactProblem& problem) {
  w_.setZero(problem.row_count(), problem.row_count());
  if (problem.has_delassus()) {
    copy_blocks(problem.delassus());
  } else {
    // The diagonal blocks are part of the problem.
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const Index row = problem.row(i), n = problem.rows(i);
      w_.block(row, row, n, n) = problem.delassus_block(i);
    }
    if (problem.constraint_count() > 1) add_couplings(problem);
  }
  return w_;
}

void SmallDelassus::copy_blocks(const BlockMatrix& w) {
  for (Index g = 0; g < w.group_count(); ++g) {
    for (Index k = w.row_begin(g); k < w.row_end(g); ++k) {
      const Index c = w.column(k);
      w_.block(w.start(g), w.start(c), w.rows(g), w.rows(c)) = w.block(g, k);
    }
  }
}

// W_ij = sum over shared trees of X_i^T X_j, X = L^-1 J^T.
void SmallDelassus::add_couplings(const ContactProblem& problem) {
  const BlockJacobian& jacobian = problem.jacobian();
  const Index count = problem.constraint_count();
  whitened_.resize(jacobian.entry_count());
  whitened_start_.resize(jacobian.piece_count());
  std::size_t at = 0;
  for (Index i = 0; i < count; ++i) {
    const Index rows = problem.rows(i);
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const Index tree = jacobian.piece_tree(p), n = jacobian.piece_cols(p);
      whitened_start_[p] = at;
      Eigen::Map<Matrix> x(whitened_.data() + at, n, rows);
      at += static_cast<std::size_t>(n) * rows;
      whiten_piece(problem.mass_factor(), jacobian, i, p, x.data(), n);
      for (Index j = 0; j < i; ++j) {
        for (Index o = jacobian.piece_begin(j); o < jacobian.piece_end(j); ++o) {
          if (jacobian.piece_tree(o) != tree) continue;
          const Eigen::Map<const Matrix> other(whitened_.data() + whitened_start_[o], n, problem.rows(j));
          w_.block(problem.row(j), problem.row(i), problem.rows(j), rows) += other.transpose().lazyProduct(x);
        }
      }
    }
    for (Index j = 0; j < i; ++j) {
      w_.block(problem.row(i), problem.row(j), rows, problem.rows(j)) =
          w_.block(problem.row(j), problem.row(i), problem.rows(j), rows).transpose();
    }
  }
}

}  // namespace tribo
