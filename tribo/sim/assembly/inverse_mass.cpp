#include "tribo/sim/assembly/inverse_mass.h"

#include "tribo/sim/forces/free_motion.h"

namespace tribo {

InverseMass::Block InverseMass::block(const ConstraintSet& set, Index constraint, const FreeMotion& motion) {
  const ConstraintSet::Entry& entry = set.entry(constraint);
  const Index rows = entry.data.rows();
  Block w = Block::Zero(rows, rows);
  for (Index p = entry.piece_begin; p < entry.piece_end; ++p) {
    const ConstraintSet::Piece& piece = set.piece(p);
    const Index n = motion.dof_count(piece.tree);
    const Eigen::Map<const Matrix> block(set.values(piece), rows, n);
    column_.resize(n);
    Eigen::Map<Vector> column(column_.data(), n);
    for (Index r = 0; r < rows; ++r) {
      column = block.row(r).transpose();
      motion.solve_tree(piece.tree, column_.data());
      for (Index s = 0; s < rows; ++s) w(s, r) += block.row(s).dot(column);
    }
  }
  return w;
}

double InverseMass::mean(const ConstraintSet& set, Index first, Index count, const FreeMotion& motion) {
  double sum = 0.0;
  for (Index i = first; i < first + count; ++i) sum += block(set, i, motion)(0, 0);
  return sum / static_cast<double>(count);
}

}  // namespace tribo
