// X = L^-1 J^T [dofs x rows] of a problem on a few trees as one dense matrix, and the momentum in the coordinates
// y = L^T v, in which the mass is the identity:  y = y_free + X lambda,  u = X^T y + e. Coordinates that no constraint
// touches (the arms of a robot that stands) are left out.
#pragma once

#include "tribo/problem/contact_problem.h"

namespace tribo {

class DenseHalf {
 public:
  // Allocates only for more entries than ever before. `problem` must stay.
  void assemble(const ContactProblem& problem);

  Index dofs() const { return dofs_; }  // that are touched
  Index rows() const { return rows_; }
  const double* column(Index row) const { return values_.data() + static_cast<std::size_t>(dofs_) * row; }
  Eigen::Map<const Matrix> matrix() const { return {values_.data(), dofs_, rows_}; }
  const Vector& free() const { return free_; }  // y_free [dofs]

  // target += sign X lambda; zeros cost nothing.
  void add_impulses(const Vector& impulse, double sign, Vector& target) const;
  // u = X^T y + e.
  void velocity_of(const Vector& y, Vector& u) const;
  // u = X^T y.
  void multiply_transposed(const Vector& y, Vector& u) const;

 private:
  void leave_out_untouched();

  const ContactProblem* problem_ = nullptr;
  Index dofs_ = 0, rows_ = 0;
  std::vector<Index> touched_;
  Numbers values_;
  Vector free_, whole_free_, largest_;
};

}  // namespace tribo
