// The law of one constraint seen through a penalty: every augmented-Lagrangian solver stands on it.
//
// Lee et al. (2024) (13)-(18) with compliance and one penalty per row. Given the multipliers lambda_k of the
// last outer step and the constraint velocity u of the present inner one, the impulse solves
//   (u + p (lambda - lambda_k) + R lambda, lambda) in S,     p = 1 / beta the proximal compliance,
// which has the closed form lambda = T(y), y = (p lambda_k - u) / (R + p):
//   contact, exact law    strict operator (17): normal first, then the tangent on its disk
//   contact, convex law   projection on the cone in the metric R + p
//   scalar rows           y clamped to the interval of the row
// At lambda = lambda_k the proximal term vanishes: fixed points solve the problem with its own R, whatever p.
// The tangential rows of a contact must see the same R + p; where R differs between them p makes up the difference.
//
// With p = 0 (allowed where R > 0) it is the analytic inverse dynamics of SAP, Castro et al. (27).
#pragma once

#include "tribo/problem/constraints.h"

namespace tribo {

class ProximalLaw {
 public:
  // p of every constraint: 1 / penalty_i, penalty_i = beta / scale_i (N s per m/s). Allocates only when the
  // problem has more rows than any before. beta = infinity: p = 0.
  void prepare(const ContactProblem& problem, double beta) { prepare(problem, problem.compliance(), beta); }
  // The same with another compliance R [rows] than the problem's own.
  void prepare(const ContactProblem& problem, const Vector& compliance, double beta);
  // Contacts with one penalty for their tangents and another for their normal, other rows with the latter.
  void prepare_apart(const ContactProblem& problem, double beta_tangent, double beta_normal);
  // One and the same penalty for all constraints, N s per m/s, as Lee et al. print it.
  void prepare_uniform(const ContactProblem& problem, double penalty);

  // p of constraint i is proximal(i): for more than one slack per constraint.
  template <class Proximal>
  void prepare_each(const ContactProblem& problem, const Proximal& proximal) {
    resize(problem.row_count());
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      prepare_constraint(problem, problem.compliance(), i, proximal(i));
    }
  }

  // lambda(u) for all constraints; u, lambda_k, lambda: [rows]. A lagged De Saxce term (CANAL) is simply part
  // of the u given.
  void impulse(const ContactProblem& problem, Law law, const Vector& u, const Vector& multiplier,
               Vector& impulse) const;
  // The same for constraint i alone, in the vectors of all rows.
  void impulse_of(const ContactProblem& problem, Law law, Index i, const Vector& u, const Vector& multiplier,
                  Vector& impulse) const;
  // D_i = -d lambda_i / d u_i at u, one element of the generalised Jacobian; symmetric under the convex law.
  // Scalar constraints use D_i(0, 0). At the kink between open and touching the element is that of touching;
  // velocities up to `touch` count as being there, so that rounding does not decide.
  void derivative(const ContactProblem& problem, Law law, const Vector& u, const Vector& multiplier,
                  GroupBlocks& derivative, double touch = 0.0) const;

  // (p lambda_k - u) / (R + p) of the contact of N rows at `row`: its impulse as long as it sticks.
  template <int N>
  VecN<N> target(Index row, const Vector& u, const Vector& multiplier) const {
    return (proximal_.segment<N>(row).cwiseProduct(multiplier.segment<N>(row)) - u.segment<N>(row))
        .cwiseProduct(stiffness_.segment<N>(row));
  }

  // 1 / (R + p) of its rows: -d lambda / d u as long as it sticks.
  template <int N>
  VecN<N> stiffness(Index row) const {
    return stiffness_.segment<N>(row);
  }

  double total(Index row) const { return total_[row]; }        // R + p
  double proximal(Index row) const { return proximal_[row]; }  // p

 private:
  void resize(Index rows) {
    proximal_.resize(rows);
    total_.resize(rows);
    stiffness_.resize(rows);
  }
  void prepare_constraint(const ContactProblem& problem, const Vector& compliance, Index i, double p);

  Vector proximal_, total_, stiffness_;  // [rows] p, R + p, 1 / (R + p): asked for often, divided once
};

}  // namespace tribo
