// The natural-map errors of problem/certificate.h once more in extended precision, for claims that rounding of the
// ordinary evaluation could make or break.
//
//   v = A^-1 (b + J^T lambda)   solved in double, then refined: v += A^-1 r with the residual r = b + J^T lambda - A v
//                               in long double, twice (Higham, Accuracy and Stability, ch. 12)
//   of sparse trees A, b and J are those that were given, not their coordinates (problem/sparse_trees.h)
//   u = J v + e, or W lambda + q of the file's own W; projections and norms: long double throughout
//
// On x86 long double has 64 bits of mantissa and 15 of exponent: squares of doubles neither underflow nor overflow. Where
// it is no wider than double nothing is gained, and `rounding` says so. Cost: some ten times velocity_of().
#pragma once

#include <vector>

#include "tribo/problem/contact_problem.h"
#include "tribo/problem/sparse_trees.h"

namespace tribo {

struct ExtendedErrors {
  double scaled = 0.0, fclib = 0.0, siconos = 0.0;
  Index worst = -1;       // constraint of the scaled one
  double rounding = 0.0;  // of this evaluation, at most; included in `scaled` where it can matter
};

class ExtendedEvaluation {
 public:
  // Memory for problems of this size; errors() allocates nothing then.
  void reserve(const ContactProblem& problem);
  ExtendedErrors errors(const ContactProblem& problem, const Vector& impulse, Law law);

 private:
  void move(const ContactProblem& problem, const Vector& impulse);
  void solve(const ContactProblem& problem);
  void subtract_sparse_product(const ContactProblem& problem);
  void bound_rounding(const ContactProblem& problem, const Vector& impulse);
  double rounding_of(const ContactProblem& problem, Index i) const;

  // [dofs], with sparse trees [dofs, sparse dofs]: what the coordinates of a sparse tree move is of no use.
  std::vector<long double> motion_, residual_;
  std::vector<long double> velocity_;  // [rows]
  Vector step_;
  SparseScratch scratch_;
  std::vector<double>
      tree_size_;  // [trees] what rounding of its motion is relative to, sqrt(J); Delassus: of all
};

}  // namespace tribo
