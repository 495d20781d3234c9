// Other methods for the one-contact problem of solve/law/one_contact.h, for comparison and for the cheapest
// sweeps. Each takes the present impulse and velocity of a contact and returns its new impulse.
//
//   step_projection  one projected step of length 1 / lambda_max(W); does not solve the contact's problem
//   solve_newton     Newton on Alart and Curnier's function, Acary et al. (2018) (63), for the convex law on
//                    the natural map; where it fails from projected points too, ExactContact answers
//   solve_quartic    slip through the roots of a quartic, isolated between those of its derivatives; an
//                    independent check of ExactContact, which answers where no root is found
#pragma once

#include "tribo/base/types.h"
#include "tribo/problem/constraints.h"

namespace tribo {

// W with its steps of rule (111) of Acary et al.: rho_n = 1 / W_nn, rho_t = 1 / lambda_max(W_tt). N rows.
template <int N>
struct LocalMatrixN {
  MatN<N> w = MatN<N>::Identity();
  double mu = 0.0;
  double rho_n = 1.0, rho_t = 1.0;
  double rho = 1.0;  // 1 / bound on the largest eigenvalue of W

  LocalMatrixN() = default;
  LocalMatrixN(const MatN<N>& w, double mu);
};
using LocalMatrix = LocalMatrixN<3>;

template <int N>
VecN<N> solve_newton(const LocalMatrixN<N>& local, Law law, const VecN<N>& velocity, const VecN<N>& impulse);
template <int N>
VecN<N> step_projection(const LocalMatrixN<N>& local, Law law, const VecN<N>& velocity,
                        const VecN<N>& impulse);
// Law exact, three rows only.
Vec3 solve_quartic(const LocalMatrix& local, const Vec3& velocity, const Vec3& impulse);

extern template struct LocalMatrixN<3>;
extern template struct LocalMatrixN<4>;
extern template struct LocalMatrixN<6>;

}  // namespace tribo
