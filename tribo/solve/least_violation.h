// The velocity that violates the demands of a problem least, and the proof that none meets them.
//
//   min over v of  1/2 sum_i viol_i(J v + e)^2 / w_i        demands and proofs: problem/infeasibility.h
//
// At a minimum y_i = viol_i / w_i has J^T y = 0 and y . e = -sum w_i y_i^2: unless nothing is violated, y is the ray
// of Farkas' lemma. The minimum is found by the proximal point method, that is the method of multipliers for the
// projection of the free motion on the demands,
//   v_k+1 = argmin 1/2 |v - v*|_A^2 + sum_i viol_i(u - delta w_i lambda_i)^2 / (2 delta w_i),   lambda_k+1 its impulses,
// each step a piecewise quadratic function for Newton's method with exact line search (solve/convex_newton.h). Where
// the demands can be met, v_k tends to the nearest velocity that does so; where they cannot, to the nearest of those
// that violate them least (Rockafellar 1976; Chiche & Gilbert 2016 for the rate).
// The ray is then cleared of rounding: y -= D J H^-1 (J^T y), H = A + J^T D J the last Newton matrix, J^T y summed in
// long double, which leaves delta of it each time.
//
// Cost: some 4 to 15 factorisations of A + J^T D J.
#pragma once

#include <optional>

#include "tribo/problem/infeasibility.h"
#include "tribo/solve/convex_newton.h"

namespace tribo {

class LeastViolation {
 public:
  // The proof that the problem has no solution; nothing where none was found, or where `interrupt` (may be null)
  // said to stop. Deterministic. Not to be asked where rest_meets_demands(): there is none.
  std::optional<Contradiction> prove(const ContactProblem& problem, Law law,
                                     const std::function<bool()>* interrupt = nullptr);

  // Of the last proof: the velocity of least violation [dofs], and J v + e [rows].
  const Vector& velocity() const { return newton_.velocity(); }
  const Vector& constraint_velocity() const { return newton_.constraint_velocity(); }

  Index factorizations() const { return factorizations_; }  // of the last call
  // Multiply-adds of one of them, beyond which prove() does not begin.
  static constexpr double kMostFlops = 4e9;

 private:
  bool minimize(const ContactProblem& problem, const std::function<bool()>* interrupt);
  double violation(const ContactProblem& problem);
  std::optional<Contradiction> judge(const ContactProblem& problem, Law law);
  void refine(const ContactProblem& problem, Law law);

  ConvexNewton newton_;
  ConvexPotential potential_, plain_;  // with multipliers, and without
  ContradictionCheck check_;
  Vector offset_, multiplier_, ray_, change_;  // [rows]
  Vector free_, residual_;                     // [dofs]
  double size_ = 0.0;                          // of the violation at the start, sqrt(J)
  Index factorizations_ = 0;
};

}  // namespace tribo
