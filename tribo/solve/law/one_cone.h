// The one-contact problems of solve/law/one_contact.h for cones of N = 4 or 6 rows, with the same interface and the same
// two theorems behind them:
//
//   ExactCone    w_n = 0 leaves r_n = -(q_n + W_nt r_t) / W_nn and w_t = S r_t - b; slip is r_t(a) = (S + a I)^-1 b with
//                a > 0 the root of |r_t| = mu r_n, bracketed as there. The tangent axes are turned so that the symmetric
//                part of S is diagonal; without a skew part (W symmetric) an evaluation costs 3 (N - 1) multiplications.
//   ConvexCone   r minimises r.W r / 2 + q.r over K_mu: in coordinates in which W is the identity and the cone is
//                sum (x_i / a_i)^2 <= x_n^2, a projection whose multiplier is the root of a function of one variable.
//
// Both cannot fail: the root is bracketed. Cost: about 1 us.
#pragma once

#include <type_traits>

#include "tribo/problem/constraints.h"
#include "tribo/solve/law/one_contact.h"

namespace tribo {

template <int N>
class ExactCone {
 public:
  ExactCone() = default;
  ExactCone(const MatN<N>& w, double mu);

  // The solution of FC(W, velocity - W impulse, mu).
  VecN<N> solve(const VecN<N>& velocity, const VecN<N>& impulse);

 private:
  using Tangent = VecN<N - 1>;
  struct Point {
    Tangent r;          // r_t(a)
    double psi, slope;  // rho / |r_t| - 1 - m g.t and its derivative; psi(0) < 0 outside the cone
  };
  Tangent shifted_solve(double a, const Tangent& b) const;
  Point at(double a, const Tangent& b, double rho) const;
  double find_multiplier(const Tangent& b, double rho) const;

  MatN<N - 1> turn_ = MatN<N - 1>::Identity();  // columns: the turned axes
  Tangent s_ = Tangent::Ones();                 // symmetric part of S, diagonal, > 0
  MatN<N - 1> skew_ = MatN<N - 1>::Zero();      // what S has beside it
  bool skewed_ = false;
  Tangent g_ = Tangent::Zero(), h_ = Tangent::Zero();  // W_nt and W_tn / W_nn, turned
  double wnn_ = 1.0, mu_ = 0.0;
  double multiplier_ = 0.0;  // of the last slip
};

template <int N>
class ConvexCone {
 public:
  ConvexCone() = default;
  ConvexCone(const MatN<N>& w, double mu);

  VecN<N> solve(const VecN<N>& velocity, const VecN<N>& impulse) const;

 private:
  MatN<N> w_ = MatN<N>::Identity();      // symmetric part
  MatN<N> basis_ = MatN<N>::Identity();  // B: B^T W B = I, B^T diag(1 .. 1, -mu^2) B diagonal
  VecN<N - 1> alpha_ = VecN<N - 1>::Ones();
  double mu_ = 0.0;
};

extern template class ExactCone<4>;
extern template class ExactCone<6>;
extern template class ConvexCone<4>;
extern template class ConvexCone<6>;

// The solver of a contact of N rows.
template <int N>
using ExactContactN = std::conditional_t<N == 3, ExactContact, ExactCone<N == 3 ? 4 : N>>;
template <int N>
using ConvexContactN = std::conditional_t<N == 3, ConvexContact, ConvexCone<N == 3 ? 4 : N>>;

// W_ii + R_ii of a contact, divided by omega.
template <int N>
MatN<N> local_matrix(const ContactProblem& problem, Index i, double omega = 1.0) {
  MatN<N> w = problem.delassus_block<N>(i);
  w.diagonal() += problem.compliance().segment<N>(problem.row(i));
  return omega == 1.0 ? w : MatN<N>(w / omega);
}

// Constraint i as if there were no other: from zero impulse, velocity q_i. [rows of the constraint]
void solve_alone(const ContactProblem& problem, Index i, Law law, Eigen::Ref<Vector> impulse);

}  // namespace tribo
