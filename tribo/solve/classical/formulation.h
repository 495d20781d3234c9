// The nonsmooth equations G(lambda, w) = 0 of one constraint that Newton methods solve, with one element of their
// generalised Jacobians, Acary et al. (2018) sec. 2 and 3.2 (with its errata; N rows, tangent first, normal last):
//
//   nm  natural map (51)       lambda - P_K(lambda - rho (w + Gamma(w)))
//   ac  Alart-Curnier (63)     lambda_n - (z_n)_+,  lambda_t - P_disk(mu (z_n)_+)(z_t),       z = lambda - rho w
//   jm  Jean-Moreau (61)       the same with the disk of radius mu (lambda_n)_+
//   fb  Fischer-Burmeister     x + y - (x^2 + y^2)^(1/2) of the Jordan algebra, (79), with
//                              x = s (lambda_t, mu lambda_n),  y = (w_t, (w_n + mu |w_t|) / mu) / s
//
// Under the convex law (nm, fb) without Gamma. Values carry the unit s = sqrt(D_i) of the scaled variables, so that
// |G|^2 / 2 is the merit function of the line searches. Where mu = 0, fb is the scalar function of the normal row beside
// lambda_t = 0; idle constraints ask for lambda = 0.
//
// Kinks: an element as in math/cone.h; |w_t| = 0: zero; fb on the boundary of the cone: the limit from inside.
#pragma once

#include <cstdint>

#include "tribo/math/interval.h"
#include "tribo/problem/contact_problem.h"
#include "tribo/solve/classical/steps.h"

namespace tribo {

enum class Formulation : std::uint8_t { natural_map, alart_curnier, jean_moreau, fischer_burmeister };

// What a formulation knows of a constraint.
struct LawAt {
  Formulation formulation = Formulation::alart_curnier;
  Law law = Law::exact;
  double mu = 0.0;
  Steps rho;
  double unit = 1.0;  // s
  bool idle = false;
};

// G, and its derivatives by lambda and by w.
template <int N>
struct Linearised {
  VecN<N> value;
  MatN<N> by_impulse, by_velocity;
};

template <int N>
VecN<N> residual_of(const LawAt& at, const VecN<N>& impulse, const VecN<N>& w);
template <int N>
Linearised<N> linearise(const LawAt& at, const VecN<N>& impulse, const VecN<N>& w);

// A scalar row; its step is rho.normal.
struct LinearisedScalar {
  double value, by_impulse, by_velocity;
};
LinearisedScalar linearise_scalar(const LawAt& at, const Interval& set, double impulse, double w);

extern template VecN<3> residual_of<3>(const LawAt&, const VecN<3>&, const VecN<3>&);
extern template VecN<4> residual_of<4>(const LawAt&, const VecN<4>&, const VecN<4>&);
extern template VecN<6> residual_of<6>(const LawAt&, const VecN<6>&, const VecN<6>&);
extern template Linearised<3> linearise<3>(const LawAt&, const VecN<3>&, const VecN<3>&);
extern template Linearised<4> linearise<4>(const LawAt&, const VecN<4>&, const VecN<4>&);
extern template Linearised<6> linearise<6>(const LawAt&, const VecN<6>&, const VecN<6>&);

}  // namespace tribo
