// X = L^-1 J^T [dofs x rows] of a problem on a few trees as one dense matrix, and the momentum in the coordinates
// y = L^T v, in which the mass is the identity:  y = y_free + X lambda,  u = X^T y + e. Coordinates that no constraint
// touches (the arms of a robot that stands) are left out.
#pragma once

#include "tribo/problem/contact_problem.h"

namespace tribo {

// Inner products of kRows columns, one after the other, with y [dofs]; the order of the sums does not depend on where
// the numbers lie.
template <int kRows>
[[gnu::always_inline]] inline void column_products(const double* columns, Index dofs, const double* y,
                                                   double* out) {
  using Four = Eigen::Array4d;
  Four sum[kRows];
  for (Four& s : sum) s.setZero();
  Index d = 0;
  for (; d + 4 <= dofs; d += 4) {
    const Four now = Eigen::Map<const Four>(y + d);
    for (int r = 0; r < kRows; ++r) sum[r] += Eigen::Map<const Four>(columns + r * dofs + d) * now;
  }
  for (int r = 0; r < kRows; ++r) out[r] = (sum[r][0] + sum[r][2]) + (sum[r][1] + sum[r][3]);
  for (; d < dofs; ++d) {
    for (int r = 0; r < kRows; ++r) out[r] += columns[r * dofs + d] * y[d];
  }
}

// target [dofs] += sign times kRows columns, one after the other, times `factors`; zeros cost nothing.
template <int kRows>
[[gnu::always_inline]] inline void add_columns(const double* columns, Index dofs, const double* factors,
                                               double sign, double* target) {
  const double* x0 = columns;
  const double f0 = sign * factors[0];
  if constexpr (kRows == 1) {
    if (f0 == 0.0) return;
    for (Index d = 0; d < dofs; ++d) target[d] += f0 * x0[d];
  } else {
    const double f1 = sign * factors[1], f2 = sign * factors[2];
    bool zero = f0 == 0.0 && f1 == 0.0 && f2 == 0.0;
    for (int r = 3; r < kRows; ++r) zero = zero && factors[r] == 0.0;
    if (zero) return;
    const double *x1 = x0 + dofs, *x2 = x1 + dofs;
    for (Index d = 0; d < dofs; ++d) target[d] += f0 * x0[d] + f1 * x1[d] + f2 * x2[d];
    for (int r = 3; r < kRows; ++r) {
      const double f = sign * factors[r];
      const double* x = x0 + static_cast<std::size_t>(r) * dofs;
      for (Index d = 0; d < dofs; ++d) target[d] += f * x[d];
    }
  }
}
inline void add_columns(const double* columns, Index dofs, Index rows, const double* factors, double sign,
                        double* target) {
  with_rows(rows, [&](auto n) { add_columns<n()>(columns, dofs, factors, sign, target); });
}

class DenseWhitenedJacobian {
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
  // Rows [row, row + kRows) of X^T y.
  template <int kRows>
  void products(Index row, const double* y, double* out) const {
    column_products<kRows>(column(row), dofs_, y, out);
  }

 private:
  void leave_out_untouched();

  const ContactProblem* problem_ = nullptr;
  Index dofs_ = 0, rows_ = 0;
  std::vector<Index> touched_;
  Numbers values_;
  Vector free_, whole_free_, largest_;
};

}  // namespace tribo
