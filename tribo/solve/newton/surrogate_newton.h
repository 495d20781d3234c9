// Semismooth Newton on Lee et al.'s surrogate problem with the strict operator, no convexification:
//   r(v) = A v - b - J^T T(J v + e + shift) = 0        (19),      H = A + J^T D J, not symmetric
// T and D: solve/law/proximal_law.h. The merit function 1/2 |r|^2 in the A^-1 norm is not convex, so
// neither globalisation can promise a solution:
//   damped    backtracking on |r| along the Newton step
//   dogleg    trust region between the steepest-descent (Cauchy) and the Newton step, in mass-normalised
//             coordinates, where the radius is a velocity in the A norm
//
// Cost of a step: one assembly and LU factorisation (or a few solutions with the last one), then O(entries of J) per
// trial.
#pragma once

#include <functional>
#include <vector>

#include "tribo/linalg/kernels/newton_kernel.h"
#include "tribo/solve/law/proximal_law.h"

namespace tribo {

enum class Globalisation { damped, dogleg };

class SurrogateNewton {
 public:
  struct Result {
    bool solved = false;       // |r| <= tolerance
    Index steps = 0;           // Newton steps, ...
    Index factorizations = 0;  // ... and those that took one
    double residual = 0.0;
  };

  // Asked before every step and column of a factorisation; a true answer ends solve().
  void set_interrupt(const std::function<bool()>* interrupt) {
    interrupt_ = interrupt;
    lu_.set_interrupt(interrupt);
  }
  // damped: |r| must fall by `sufficient` times the step length, which is halved at most `most` times.
  void set_backtracking(double sufficient, int most) {
    sufficient_ = sufficient;
    backtracks_ = most;
  }
  // Newton steps by an iterative solution with the last factors where that costs less than new ones, to a twentieth of the
  // residual; where no length of such a step does, with new factors.
  void set_reuse(bool on) { reuse_ = on; }
  void prepare(const ContactProblem& problem);

  // From v to a root of r, at most `most` steps; the iterate is kept inside. Tolerance in sqrt(J).
  Result solve(const ContactProblem& problem, Law law, const ProximalLaw& proximal, const Vector& multiplier,
               const Vector& shift, const Vector& v, Globalisation method, double tolerance, Index most);

  const Vector& velocity() const { return v_; }             // v
  const Vector& constraint_velocity() const { return u_; }  // J v + e
  const Vector& impulse() const { return impulse_; }        // T at v

 private:
  struct Equation {
    const ContactProblem& problem;
    Law law;
    const ProximalLaw& proximal;
    const Vector& multiplier;
    const Vector& shift;
  };

  double evaluate(const Equation& s, const Vector& v);
  double mass_norm(const ContactProblem& problem, const Vector& momentum);
  bool newton_direction(const Equation& s, Index& factorizations);
  bool direction_from_last_factors(const Equation& s);
  bool damped_step(const Equation& s, double& residual);
  bool dogleg_step(const Equation& s, double& residual);
  void cauchy_step(const ContactProblem& problem);
  void dogleg_direction(const ContactProblem& problem);
  void multiply(const ContactProblem& problem, const Vector& x, bool transposed, Vector& y);

  double sufficient_ = 0.1;
  int backtracks_ = 12;
  bool reuse_ = false;
  const std::function<bool()>* interrupt_ = nullptr;
  PrimalLu lu_;
  GroupBlocks derivative_;
  Vector v_, trial_, residual_, direction_, newton_, cauchy_, work_, product_;  // [dofs]
  Vector u_, shifted_, impulse_, rows_;                                         // [rows]
  double radius_ = 0.0;                                                         // dogleg, sqrt(J)
};

}  // namespace tribo
