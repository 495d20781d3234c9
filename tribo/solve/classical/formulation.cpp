#include "tribo/solve/classical/formulation.h"

#include <algorithm>
#include <cmath>

#include "tribo/problem/constraints.h"
#include "tribo/solve/classical/sets.h"

namespace tribo {
namespace {

// lambda - rho w with the steps of normal and tangent.
template <int N>
VecN<N> moved(const LawAt& at, const VecN<N>& impulse, const VecN<N>& w) {
  VecN<N> z = impulse - at.rho.tangent * w;
  z[N - 1] = impulse[N - 1] - at.rho.normal * w[N - 1];
  return z;
}

template <int N>
VecN<N> shifted(const LawAt& at, const VecN<N>& w) {
  return corrected(w, at.mu, at.law);
}

// d (w + Gamma(w)) / dw.
template <int N>
MatN<N> shifted_jacobian(const LawAt& at, const VecN<N>& w) {
  MatN<N> jacobian = MatN<N>::Identity();
  const double tangent = detail::tangent_norm(w);
  if (at.law == Law::exact && tangent > 0.0) {
    jacobian.template bottomLeftCorner<1, N - 1>() = at.mu / tangent * w.template head<N - 1>().transpose();
  }
  return jacobian;
}

// (z_n)_+ and z_t on the disk of radius mu (lambda_n)_+.
template <int N>
VecN<N> project_jean_moreau(const LawAt& at, const VecN<N>& impulse, const VecN<N>& z) {
  VecN<N> x;
  x[N - 1] = project_orthant(z[N - 1]);
  x.template head<N - 1>() =
      project_ball<N>(VecN<N - 1>(z.template head<N - 1>()), at.mu * project_orthant(impulse[N - 1]));
  return x;
}

// ---- Fischer-Burmeister ----

template <int N>
struct JordanPair {
  VecN<N> x, y;
  VecN<N> root;         // (x^2 + y^2)^(1/2)
  double small, large;  // roots of the eigenvalues of x^2 + y^2
  VecN<N - 1> axis;     // direction of its tangent; zero without one
};

template <int N>
JordanPair<N> jordan_pair(const LawAt& at, const VecN<N>& impulse, const VecN<N>& w) {
  JordanPair<N> p;
  const VecN<N> f = shifted(at, w);
  p.x = at.unit * impulse;
  p.x[N - 1] *= at.mu;
  p.y = f / at.unit;
  p.y[N - 1] /= at.mu;
  const double xn = p.x[N - 1], yn = p.y[N - 1];
  const VecN<N - 1> xt = p.x.template head<N - 1>(), yt = p.y.template head<N - 1>();
  const VecN<N - 1> mixed = xn * xt + yn * yt;
  const double size = mixed.norm();
  p.axis = size > 0.0 ? VecN<N - 1>(mixed / size) : VecN<N - 1>::Zero();
  if (size > 0.0) {
    // lambda = |x|^2 + |y|^2 -+ 2 |mixed| without cancellation.
    const double xa = p.axis.dot(xt), ya = p.axis.dot(yt);
    const double across = (xt - xa * p.axis).squaredNorm() + (yt - ya * p.axis).squaredNorm();
    p.small = std::sqrt((xn - xa) * (xn - xa) + (yn - ya) * (yn - ya) + across);
    p.large = std::sqrt((xn + xa) * (xn + xa) + (yn + ya) * (yn + ya) + across);
  } else {
    p.small = p.large = std::sqrt(p.x.squaredNorm() + p.y.squaredNorm());
  }
  p.root.template head<N - 1>() = 0.5 * (p.large - p.small) * p.axis;
  p.root[N - 1] = 0.5 * (p.large + p.small);
  return p;
}

// L_a: a_t, a_n -> [a_n I, a_t; a_t^T, a_n].
template <int N>
MatN<N> arrow(const VecN<N>& a) {
  MatN<N> m = a[N - 1] * MatN<N>::Identity();
  m.template topRightCorner<N - 1, 1>() = a.template head<N - 1>();
  m.template bottomLeftCorner<1, N - 1>() = a.template head<N - 1>().transpose();
  return m;
}

// I - L_z^-1 L_a, z on or inside the cone; on the boundary the limit of eigenvalues that tend to it.
template <int N>
MatN<N> complement(const JordanPair<N>& p, const VecN<N>& a) {
  constexpr double kInside = 1e-10;
  if (p.large == 0.0) return (1.0 - std::sqrt(0.5)) * MatN<N>::Identity();  // x = y = 0 along the axis
  const double small = std::max(p.small, kInside * p.large), large = p.large;
  const double zn = 0.5 * (large + small), determinant = large * small;
  const VecN<N - 1> zt = 0.5 * (large - small) * p.axis;
  const MatN<N> l = arrow<N>(a);
  MatN<N> m;
  m.row(N - 1) = (zn * l.row(N - 1) - zt.transpose() * l.template topRows<N - 1>()) / determinant;
  m.template topRows<N - 1>() = (l.template topRows<N - 1>() - zt * m.row(N - 1)) / zn;
  return MatN<N>::Identity() - m;
}

template <int N>
Linearised<N> fischer_burmeister(const LawAt& at, const VecN<N>& impulse, const VecN<N>& w) {
  const JordanPair<N> p = jordan_pair(at, impulse, w);
  Linearised<N> result;
  result.value = p.x + p.y - p.root;
  result.by_impulse = at.unit * complement<N>(p, p.x);
  result.by_impulse.col(N - 1) *= at.mu;
  MatN<N> inner = shifted_jacobian(at, w);
  inner.row(N - 1) /= at.mu;
  result.by_velocity = complement<N>(p, p.y) * inner / at.unit;
  return result;
}

// Without friction: lambda_t = 0 and the scalar function of the normal row.
template <int N>
Linearised<N> frictionless(const LawAt& at, const VecN<N>& impulse, const VecN<N>& w) {
  const LinearisedScalar normal = linearise_scalar(at, Interval::positive(), impulse[N - 1], w[N - 1]);
  Linearised<N> result{at.unit * impulse, at.unit * MatN<N>::Identity(), MatN<N>::Zero()};
  result.value[N - 1] = normal.value;
  result.by_impulse(N - 1, N - 1) = normal.by_impulse;
  result.by_velocity(N - 1, N - 1) = normal.by_velocity;
  return result;
}

// phi(a, b) = a + b - sqrt(a^2 + b^2) with its derivatives; at 0 those along a = b.
struct ScalarFischer {
  double value, by_a, by_b;
};

ScalarFischer scalar_fischer(double a, double b) {
  const double root = detail::norm2(a, b);
  if (root == 0.0) return {0.0, 1.0 - std::sqrt(0.5), 1.0 - std::sqrt(0.5)};
  // The difference without cancellation where both are positive.
  const double value = a > 0.0 && b > 0.0 ? 2.0 * a * (b / (a + b + root)) : a + b - root;
  return {value, 1.0 - a / root, 1.0 - b / root};
}

LinearisedScalar fischer_interval(const LawAt& at, const Interval& set, double impulse, double w) {
  const double s = at.unit;
  if (set.is_free()) return {w / s, 0.0, 1.0 / s};
  if (!set.has_upper()) {
    const ScalarFischer f = scalar_fischer(s * (impulse - set.lower), w / s);
    return {f.value, s * f.by_a, f.by_b / s};
  }
  // At the upper bound -w takes the place of w.
  const ScalarFischer above = scalar_fischer(s * (set.upper - impulse), -w / s);
  if (!set.has_lower()) return {-above.value, s * above.by_a, above.by_b / s};
  const ScalarFischer both = scalar_fischer(s * (impulse - set.lower), -above.value);
  return {both.value, s * (both.by_a + both.by_b * above.by_a), both.by_b * above.by_b / s};
}

}  // namespace

LinearisedScalar linearise_scalar(const LawAt& at, const Interval& set, double impulse, double w) {
  if (at.idle) return {at.unit * (impulse - set.project(0.0)), at.unit, 0.0};
  if (at.formulation == Formulation::fischer_burmeister) return fischer_interval(at, set, impulse, w);
  const double z = impulse - at.rho.normal * w;
  const double slope = set.derivative(z);
  return {at.unit * natural_map(set, impulse, w, at.rho.normal), at.unit * (1.0 - slope),
          at.unit * at.rho.normal * slope};
}

template <int N>
VecN<N> residual_of(const LawAt& at, const VecN<N>& impulse, const VecN<N>& w) {
  if (at.idle) return at.unit * impulse;
  switch (at.formulation) {
    case Formulation::natural_map: {
      const VecN<N> z = impulse - at.rho.normal * shifted(at, w);
      return at.unit * (impulse - project_cone(z, at.mu));
    }
    case Formulation::alart_curnier:
      return at.unit * (impulse - project_strict(moved(at, impulse, w), at.mu));
    case Formulation::jean_moreau:
      return at.unit * (impulse - project_jean_moreau(at, impulse, moved(at, impulse, w)));
    case Formulation::fischer_burmeister: {
      if (at.mu == 0.0) return frictionless(at, impulse, w).value;
      const JordanPair<N> p = jordan_pair(at, impulse, w);
      return p.x + p.y - p.root;
    }
  }
  return VecN<N>::Zero();
}

template <int N>
Linearised<N> linearise(const LawAt& at, const VecN<N>& impulse, const VecN<N>& w) {
  const MatN<N> identity = MatN<N>::Identity();
  if (at.idle) return {at.unit * impulse, at.unit * identity, MatN<N>::Zero()};
  if (at.formulation == Formulation::fischer_burmeister) {
    return at.mu == 0.0 ? frictionless(at, impulse, w) : fischer_burmeister(at, impulse, w);
  }
  Linearised<N> result;
  result.value = residual_of(at, impulse, w);
  if (at.formulation == Formulation::natural_map) {
    const VecN<N> z = impulse - at.rho.normal * shifted(at, w);
    const MatN<N> p = project_cone_jacobian(z, at.mu);
    result.by_impulse = at.unit * (identity - p);
    result.by_velocity = at.unit * at.rho.normal * (p * shifted_jacobian(at, w));
    return result;
  }
  VecN<N> rho = VecN<N>::Constant(at.rho.tangent);
  rho[N - 1] = at.rho.normal;
  const VecN<N> z = moved(at, impulse, w);
  if (at.formulation == Formulation::alart_curnier) {
    const MatN<N> p = project_strict_jacobian(z, at.mu);
    result.by_impulse = at.unit * (identity - p);
    result.by_velocity = at.unit * (p * rho.asDiagonal());
    return result;
  }
  // Jean-Moreau: the radius moves with lambda_n alone.
  const double normal = z[N - 1] >= 0.0 ? 1.0 : 0.0;
  const double radius = at.mu * project_orthant(impulse[N - 1]), length = detail::tangent_norm(z);
  MatN<N> by_z = MatN<N>::Zero();
  by_z(N - 1, N - 1) = normal;
  result.by_impulse = identity;
  if (length <= radius && radius > 0.0) {
    by_z.template topLeftCorner<N - 1, N - 1>().setIdentity();
  } else if (radius > 0.0) {
    const VecN<N - 1> e = z.template head<N - 1>() / length;
    by_z.template topLeftCorner<N - 1, N - 1>() =
        radius / length * (MatN<N - 1>::Identity() - e * e.transpose());
    result.by_impulse.template topRightCorner<N - 1, 1>() = -at.mu * e;
  }
  result.by_impulse = at.unit * (result.by_impulse - by_z);
  result.by_velocity = at.unit * (by_z * rho.asDiagonal());
  return result;
}

template VecN<3> residual_of<3>(const LawAt&, const VecN<3>&, const VecN<3>&);
template VecN<4> residual_of<4>(const LawAt&, const VecN<4>&, const VecN<4>&);
template VecN<6> residual_of<6>(const LawAt&, const VecN<6>&, const VecN<6>&);
template Linearised<3> linearise<3>(const LawAt&, const VecN<3>&, const VecN<3>&);
template Linearised<4> linearise<4>(const LawAt&, const VecN<4>&, const VecN<4>&);
template Linearised<6> linearise<6>(const LawAt&, const VecN<6>&, const VecN<6>&);

}  // namespace tribo
