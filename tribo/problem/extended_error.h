// The natural-map errors of problem/certificate.h once more in extended precision, for claims that rounding of the
// ordinary evaluation could make or break.
//
//   v = A^-1 (b + J^T lambda)   solved in double, then refined: v += A^-1 r with the residual r = b + J^T lambda - A v
//                               in long double, twice (Higham, Accuracy and Stability, ch. 12)
//   u = J v + e, or W lambda + q of the file's own W; projections and norms: long double throughout
//
// On x86 long double has 64 bits of mantissa and 15 of exponent: squares of doubles neither underflow nor overflow. Where
// it is no wider than double nothing is gained, and `rounding` says so. Cost: some ten times velocity_of().
#pragma once

#include <vector>

#include "tribo/problem/contact_problem.h"

namespace tribo {

struct ExtendedErrors {
  double scaled = 0.0, fclib = 0.0, siconos = 0.0;
  Index worst = -1;       // constraint of the scaled one
  double rounding = 0.0;  // of this evaluation, at most; included in `scaled`
};

class ExtendedEvaluation {
 public:
  // Allocation-free when called again at the same size.
  ExtendedErrors errors(const ContactProblem& problem, const Vector& impulse, Law law);

 private:
  void move(const ContactProblem& problem, const Vector& impulse);

  std::vector<long double> motion_, residual_, velocity_;
  Vector step_;
};

}  // namespace tribo
