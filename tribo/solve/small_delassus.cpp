#include "tribo/solve/small_delassus.h"

namespace tribo {

const SmallDelassus::Dense& SmallDelassus::assemble(const ContactProblem& problem) {
  const Index rows = problem.row_count();
  w_.resize(rows, rows);
  if (problem.has_delassus()) {
    const BlockMatrix& w = problem.delassus();
    w_.setZero();
    for (Index g = 0; g < w.group_count(); ++g) {
      for (Index k = w.row_begin(g); k < w.row_end(g); ++k) {
        const Index c = w.column(k);
        w_.block(w.start(g), w.start(c), w.rows(g), w.rows(c)) = w.block(g, k);
      }
    }
    return w_;
  }
  unit_.setZero(rows);
  column_.resize(rows);
  dofs_.resize(problem.dof_count());
  for (Index j = 0; j < rows; ++j) {
    unit_[j] = 1.0;
    dofs_.setZero();
    problem.jacobian().add_transpose_product(unit_, dofs_);
    problem.mass_factor().solve_in_place(dofs_);
    problem.jacobian().multiply(dofs_, column_);
    w_.col(j) = column_;
    unit_[j] = 0.0;
  }
  return w_;
}

}  // namespace tribo
