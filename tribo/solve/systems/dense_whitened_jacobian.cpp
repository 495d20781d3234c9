#include "tribo/solve/systems/dense_whitened_jacobian.h"

#include <algorithm>

#include "tribo/linalg/whitened_jacobian.h"

namespace tribo {

void DenseWhitenedJacobian::assemble(const ContactProblem& problem) {
  problem_ = &problem;
  dofs_ = problem.dof_count();
  rows_ = problem.row_count();
  values_.resize(static_cast<std::size_t>(dofs_) * rows_);
  if (problem.tree_count() > 1) std::fill(values_.begin(), values_.end(), 0.0);
  const BlockJacobian& jacobian = problem.jacobian();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    double* columns = values_.data() + static_cast<std::size_t>(dofs_) * problem.row(i);
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      whiten_piece(problem.mass_factor(), jacobian, i, p, columns + jacobian.piece_dof(p), dofs_);
    }
    if (jacobian.piece_begin(i) == jacobian.piece_end(i)) {
      std::fill_n(columns, static_cast<std::size_t>(dofs_) * problem.rows(i), 0.0);
    }
  }
  Vector& whole = dofs_ > 6 ? whole_free_ : free_;
  whole = problem.momentum();
  problem.mass_factor().solve_lower_in_place(whole);
  if (dofs_ > 6) leave_out_untouched();
}

void DenseWhitenedJacobian::leave_out_untouched() {
  largest_.setZero(dofs_);
  for (Index r = 0; r < rows_; ++r) largest_ = largest_.cwiseMax(matrix().col(r).cwiseAbs());
  touched_.resize(dofs_);
  Index count = 0;
  for (Index d = 0; d < dofs_; ++d) {
    if (largest_[d] > 0.0) touched_[count++] = d;
  }
  free_.resize(count);
  for (Index k = 0; k < count; ++k) free_[k] = whole_free_[touched_[k]];
  if (count == dofs_) return;
  double* target = values_.data();
  for (Index r = 0; r < rows_; ++r) {
    const double* x = column(r);
    for (Index k = 0; k < count; ++k) *target++ = x[touched_[k]];  // never ahead of what is read
  }
  dofs_ = count;
}

void DenseWhitenedJacobian::add_impulses(const Vector& impulse, double sign, Vector& target) const {
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    const Index row = problem_->row(i);
    add_columns(column(row), dofs_, problem_->rows(i), impulse.data() + row, sign, target.data());
  }
}

void DenseWhitenedJacobian::multiply_transposed(const Vector& y, Vector& u) const {
  u.resize(rows_);
  Index row = 0;
  for (; row + 4 <= rows_; row += 4) products<4>(row, y.data(), u.data() + row);
  for (; row < rows_; ++row) products<1>(row, y.data(), u.data() + row);
}

void DenseWhitenedJacobian::velocity_of(const Vector& y, Vector& u) const {
  multiply_transposed(y, u);
  u += problem_->bias();
}

}  // namespace tribo
