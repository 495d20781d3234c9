#include "tribo/linalg/kernels/dual_kernel.h"

#include <algorithm>
#include <cassert>

namespace tribo {

void DualKernel::prepare(const Operator& op, Route route) {
  if (route == Route::automatic) {
    const bool rows_are_fewer = op.jacobian.row_count() < op.mass.size();
    route = op.explicit_w != nullptr || rows_are_fewer ? Route::through_rows : Route::through_dofs;
  }
  route_ = route;
  if (route == Route::through_dofs) {
    primal_.analyze(op.mass, op.jacobian);
    return;
  }
  w_ = op.explicit_w != nullptr ? op.explicit_w : &assembler_.assemble(op.mass_factor, op.jacobian);
  if (!rows_.is_analyzed() || !pattern_.matches(*w_)) analyze_rows(*w_);
}

bool DualKernel::factorize(const Operator& op, const Vector& d) {
  inverse_d_ = d.cwiseInverse();
  if (route_ == Route::through_dofs) return primal_.factorize(op.mass, op.jacobian, inverse_d_);
  return factorize_rows(
      *w_, [&](Index g, auto& block) { block.diagonal() += d.segment(w_->start(g), w_->rows(g)); });
}

bool DualKernel::factorize(const Operator&, const GroupBlocks& d) {
  assert(route_ == Route::through_rows);
  return factorize_rows(*w_, [&](Index g, auto& block) { block += d.block(g, w_->rows(g)); });
}

void DualKernel::solve(const Operator& op, const Vector& r, Vector& x) {
  if (route_ == Route::through_rows) {
    x = r;
    rows_.solve_in_place(x);
    return;
  }
  x = inverse_d_.cwiseProduct(r);
  dofs_.setZero(op.mass.size());
  op.jacobian.add_transpose_product(x, dofs_);
  primal_.solve_in_place(dofs_);
  // x = D^-1 (r - J y): one constraint at a time, so that no row vector is kept.
  op.jacobian.subtract_weighted_product(dofs_, inverse_d_, x);
}

void DualKernel::analyze_rows(const BlockMatrix& w) {
  const BlockEdges edges = pattern_.remember(w);
  rows_.analyze(pattern_.sizes(), edges);
  slots_.clear();
  for (Index g = 0; g < w.group_count(); ++g) {
    for (Index k = w.row_begin(g); k < w.row_end(g); ++k) slots_.push_back(rows_.find(g, w.column(k)));
  }
}

template <class AddDiagonal>
bool DualKernel::factorize_rows(const BlockMatrix& w, const AddDiagonal& add_diagonal) {
  using Target = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;
  rows_.set_zero();
  double* values = rows_.data();
  for (Index g = 0; g < w.group_count(); ++g) {
    for (Index k = w.row_begin(g); k < w.row_end(g); ++k) {
      const BlockCholesky::Slot& slot = slots_[k];
      const BlockMatrix::Block block = w.block(g, k);
      const Index c = w.column(k);
      if (c == g) {
        Target target(values + slot.offset, w.rows(g), w.rows(g), Eigen::OuterStride<>(slot.stride));
        target += 0.5 * (block + block.transpose());
        add_diagonal(g, target);
      } else if (slot.transposed) {
        Target(values + slot.offset, w.rows(c), w.rows(g), Eigen::OuterStride<>(slot.stride)) +=
            0.5 * block.transpose();
      } else {
        Target(values + slot.offset, w.rows(g), w.rows(c), Eigen::OuterStride<>(slot.stride)) += 0.5 * block;
      }
    }
  }
  return rows_.factorize();
}

}  // namespace tribo
