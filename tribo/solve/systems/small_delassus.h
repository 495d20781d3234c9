// The Delassus matrix of a small problem, dense and without a heap: what few contacts need instead of symbolic
// analysis and factorisation set-up.
#pragma once

#include "tribo/problem/contact_problem.h"
#include "tribo/solve/problem_size.h"

namespace tribo {

class SmallDelassus {
 public:
  static constexpr Index kConstraints = kFewConstraints;  // up to here a problem is tiny
  static constexpr Index kRows = 3 * kConstraints;
  using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kRows, kRows>;
  using Column = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kRows, 1>;

  static bool is_tiny(const ContactProblem& problem) {
    return problem.constraint_count() <= kConstraints && problem.row_count() <= kRows;
  }

  // W = J A^-1 J^T, or the explicit one; without compliance. Allocates only for more degrees of freedom than
  // ever before.
  const Dense& assemble(const ContactProblem& problem);
  const Dense& matrix() const { return w_; }

 private:
  void copy_blocks(const BlockMatrix& w);
  void add_couplings(const ContactProblem& problem);

  Dense w_;
  Numbers whitened_;                         // L^-1 J_p^T, piece after piece
  std::vector<std::size_t> whitened_start_;  // [pieces]
};

}  // namespace tribo
