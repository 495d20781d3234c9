// The sets of impulses that the classical methods project on, and the field that goes with each: a constraint is solved
// when lambda = P(lambda - step F(w)) for any step > 0.
//
//   coulomb    F = w + Gamma(w) on the friction cone K_mu: the exact law, Acary et al. (2018) (39)-(40)
//   cone       F = w on K_mu: the convex law, and the convex problem (95) of ACLM
//   cylinder   F = w on [0, inf) x disk of a given radius: Tresca friction (92)
//   normal     F = (0, w_n) on [0, inf), the tangent held: the normal problem (88) of Panagiotopoulos
//   tangent    F = (w_t, 0) on the disk of a given radius, the normal held: the tangent problem (89)
//
// Scalar rows belong to all of them but `tangent`, which holds them. w = u + R lambda.
#pragma once

#include <cstdint>

#include "tribo/problem/constraints.h"

namespace tribo {

enum class SetKind : std::uint8_t { coulomb, cone, cylinder, normal, tangent };

template <int N>
VecN<N - 1> project_ball(const VecN<N - 1>& x, double radius) {
  if (!(radius > 0.0)) return VecN<N - 1>::Zero();
  const double length = x.norm();
  if (length <= radius) return x;
  return x / length * radius;
}

template <int N>
VecN<N> field(SetKind set, const VecN<N>& w, double mu) {
  VecN<N> f = w;
  switch (set) {
    case SetKind::coulomb:
      f[N - 1] += mu * detail::tangent_norm(w);
      break;
    case SetKind::normal:
      f.template head<N - 1>().setZero();
      break;
    case SetKind::tangent:
      f[N - 1] = 0.0;
      break;
    case SetKind::cone:
    case SetKind::cylinder:
      break;
  }
  return f;
}

template <int N>
VecN<N> project_on(SetKind set, const VecN<N>& z, double mu, double radius) {
  if (set == SetKind::coulomb || set == SetKind::cone) return project_cone(z, mu);
  VecN<N> x = z;
  if (set != SetKind::tangent) x[N - 1] = project_orthant(z[N - 1]);
  if (set != SetKind::normal) {
    x.template head<N - 1>() = project_ball<N>(VecN<N - 1>(z.template head<N - 1>()), radius);
  }
  return x;
}

}  // namespace tribo
