#include "tribo/solve/small_delassus.h"

namespace tribo {

const SmallDelassus::Dense& SmallDelassus::assemble(const ContactProblem& problem) {
  w_.setZero(problem.row_count(), problem.row_count());
  if (problem.has_delassus()) {
    copy_blocks(problem.delassus());
  } else {
    // The diagonal blocks are part of the problem.
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const Index row = problem.row(i), n = problem.rows(i);
      w_.block(row, row, n, n) = problem.delassus_diagonal(i).topLeftCorner(n, n);
    }
    if (problem.constraint_count() > 1) add_couplings(problem);
  }
  return w_;
}

void SmallDelassus::copy_blocks(const BlockMatrix& w) {
  for (Index g = 0; g < w.group_count(); ++g) {
    for (Index k = w.row_begin(g); k < w.row_end(g); ++k) {
      const Index c = w.column(k);
      if (w.rows(g) == 3 && w.rows(c) == 3) {
        w_.block<3, 3>(w.start(g), w.start(c)) = Eigen::Map<const Mat3>(w.data(k));
      } else {
        w_.block(w.start(g), w.start(c), w.rows(g), w.rows(c)) = w.block(g, k);
      }
    }
  }
}

// W_ji = sum over shared trees of J_j A^-1 J_i^T. The last constraint on a tree needs no solve there.
void SmallDelassus::add_couplings(const ContactProblem& problem) {
  const BlockJacobian& jacobian = problem.jacobian();
  const Index count = problem.constraint_count();
  for (Index i = 0; i < count; ++i) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const Index tree = jacobian.piece_tree(p);
      bool ready = false;
      for (Index j = i + 1; j < count; ++j) {
        for (Index o = jacobian.piece_begin(j); o < jacobian.piece_end(j); ++o) {
          if (jacobian.piece_tree(o) != tree) continue;
          if (!ready) solve_piece(problem, i, p);
          ready = true;
          const Index rows = problem.rows(i);
          const Eigen::Map<const Matrix> x(column_.data(), jacobian.piece_cols(p), rows);
          w_.block(problem.row(j), problem.row(i), problem.rows(j), rows) += jacobian.piece(j, o).lazyProduct(x);
        }
      }
    }
    for (Index j = i + 1; j < count; ++j) {
      w_.block(problem.row(i), problem.row(j), problem.rows(i), problem.rows(j)) =
          w_.block(problem.row(j), problem.row(i), problem.rows(j), problem.rows(i)).transpose();
    }
  }
}

void SmallDelassus::solve_piece(const ContactProblem& problem, Index i, Index piece) {
  const Index n = problem.jacobian().piece_cols(piece), rows = problem.rows(i);
  column_.resize(static_cast<std::size_t>(n) * rows);
  Eigen::Map<Matrix> x(column_.data(), n, rows);
  x = problem.jacobian().piece(i, piece).transpose();
  problem.mass_factor().solve_block_in_place(problem.jacobian().piece_tree(piece), x);
}

}  // namespace tribo
