// Newton's method for the strongly convex function behind the convex law,
//   l(v) = 1/2 v.A v - b.v + phi(J v + e),      phi: solve/law/convex_potential.h
//   grad l = A v - b - J^T lambda(u),  hess l = A + J^T D J    (symmetric positive definite)
// with an exact line search: Castro et al. Alg. 2 (p = 0), Lee et al. (21)-(26) (p = 1 / beta). It works on A
// and J, for problems in Delassus form on the lifted ones, that is on the symmetric part of W.
//
// Cost of a step: one evaluation of the constraints, one assembly and Cholesky factorisation (PrimalKernel),
// one solve, J d and A d once, then O(rows) per trial of the line search.
//
// Example
//   newton.prepare(problem);
//   newton.start(problem, v);
//   while (newton.linearize(problem, potential), newton.gradient_norm(problem) > tolerance) {
//     if (!newton.step(problem, potential).progress) break;
//   }
#pragma once

#include <functional>
#include <vector>

#include "tribo/linalg/kernels/primal_kernel.h"
#include "tribo/solve/law/convex_potential.h"

namespace tribo {

enum class LineSearch { exact, armijo };

class ConvexNewton {
 public:
  struct Step {
    bool progress = false;    // v was moved downhill; false: at the minimum to rounding, or no factor
    bool factorized = false;  // a factorisation was made
    double length = 0.0;      // alpha
    double slope = 0.0;       // d . grad l at v: minus the squared Newton decrement
    int trials = 0;           // evaluations of the line search
  };

  // Exact line search: |l'(alpha)| <= tolerance |l'(0)|.
  void set_line_search(LineSearch kind, double tolerance) {
    line_search_ = kind;
    line_tolerance_ = tolerance;
  }
  void set_interrupt(const std::function<bool()>* interrupt) { kernel_.set_interrupt(interrupt); }

  void prepare(const ContactProblem& problem);
  // Places the iterate at v ([dofs]): u = J v + e.
  void start(const ContactProblem& problem, const Vector& v);
  // lambda, D and the gradient at the iterate; to be called before step() and after any change of `potential`.
  void linearize(const ContactProblem& problem, const ConvexPotential& potential);
  // One Newton step from the linearised iterate.
  Step step(const ContactProblem& problem, const ConvexPotential& potential);

  double cost(const ContactProblem& problem, const ConvexPotential& potential) const;
  double gradient_norm(const ContactProblem& problem);  // in the A^-1 norm, sqrt(J)
  // sqrt(sum p |lambda - lambda_k|^2), sqrt(J): what the next proximal step from the multipliers lambda_k will change.
  double proximal_change(const ProximalLaw& law, const Vector& multiplier) const;

  const Vector& velocity() const { return v_; }             // v
  const Vector& constraint_velocity() const { return u_; }  // J v + e
  const Vector& inertia() const { return inertia_; }        // A v
  const Vector& gradient() const { return gradient_; }
  const Vector& impulse() const { return impulse_; }  // lambda at the linearised iterate
  const GroupBlocks& derivative() const { return derivative_; }

 private:
  ValueAndDerivative slope_at(const ConvexPotential& potential, double alpha) const;
  double exact_length(const ConvexPotential& potential, int& trials) const;
  double armijo_length(const ConvexPotential& potential, int& trials) const;

  LineSearch line_search_ = LineSearch::exact;
  double line_tolerance_ = 1e-8;
  PrimalKernel kernel_;
  Vector v_, inertia_, gradient_, direction_, inertia_change_;  // [dofs]
  Vector u_, change_, impulse_;                                 // [rows]
  mutable Vector trial_;                                        // [rows]
  GroupBlocks derivative_;
  // l(v + alpha d) without phi: its slope at 0 and its curvature; the whole slope at 0.
  double linear_ = 0.0, quadratic_ = 0.0, slope_ = 0.0;
  double cost_size_ = 0.0;  // magnitude of the terms of l, for rounding
};

}  // namespace tribo
