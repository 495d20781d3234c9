// math/cone.h for friction cones of more than three rows: the same sets and names, the tangent having N - 1 entries.
//
// An elliptic friction cone { sum_j (x_j / mu_j)^2 <= x_n^2, x_n >= 0 } with a coefficient per tangential row (sliding in
// two directions, torsion, rolling) is, in the coordinates x_j' = x_j / mu_j, the circular one with mu = 1; velocities
// scale by u_j' = mu_j u_j, which keeps x . u, and De Saxce's term is |u_t'|. Everything here is about circular cones.
//
// Rows are ordered (t_1 .. t_{N-1}, n). Functions of three rows stand in math/cone.h: overloads pick them.
#pragma once

#include "tribo/math/cone.h"

namespace tribo {

namespace detail {

template <int N>
double tangent_norm(const VecN<N>& x) {
  const double squares = x.template head<N - 1>().squaredNorm();
  if (squares > 1e-280 && squares < 1e280) return std::sqrt(squares);
  return x.template head<N - 1>().stableNorm();  // 0 for zeros
}

template <int N>
VecN<N> project_circular_cone(const VecN<N>& z, Aperture cone) {
  const double tangent = tangent_norm(z);
  const double normal = z[N - 1];
  if (cone.cosine * tangent <= cone.sine * normal && normal >= 0.0) return z;
  if (cone.sine * tangent <= -cone.cosine * normal) return VecN<N>::Zero();
  const double r = cone.sine * tangent + cone.cosine * normal;
  VecN<N> image = VecN<N>::Zero();
  const double length = cone.sine * r;
  if (length != 0.0) image.template head<N - 1>() = z.template head<N - 1>() / tangent * length;
  image[N - 1] = cone.cosine * r;
  return image;
}

// along e e^T + across (I - e e^T) on the tangent, mixed e beside it.
template <int N>
MatN<N> cone_jacobian(const VecN<N>& z, double tangent, double along, double across, double upper,
                      double lower, double normal) {
  MatN<N> jacobian = MatN<N>::Zero();
  const VecN<N - 1> e = z.template head<N - 1>() / tangent;
  jacobian.template topLeftCorner<N - 1, N - 1>() = (along - across) * e * e.transpose();
  jacobian.diagonal().template head<N - 1>().array() += across;
  jacobian.template topRightCorner<N - 1, 1>() = upper * e;
  jacobian.template bottomLeftCorner<1, N - 1>() = lower * e.transpose();
  jacobian(N - 1, N - 1) = normal;
  return jacobian;
}

template <int N>
MatN<N> project_circular_cone_jacobian(const VecN<N>& z, Aperture cone) {
  const double tangent = tangent_norm(z);
  const double normal = z[N - 1];
  if (cone.sine == 0.0) {  // the ray { x_t = 0, x_n >= 0 }
    MatN<N> jacobian = MatN<N>::Zero();
    jacobian(N - 1, N - 1) = normal >= 0.0 ? 1.0 : 0.0;
    return jacobian;
  }
  if (cone.cosine * tangent <= cone.sine * normal) return MatN<N>::Identity();
  if (cone.cosine == 0.0) {  // outside the half-space { x_n >= 0 }
    MatN<N> jacobian = MatN<N>::Identity();
    jacobian(N - 1, N - 1) = 0.0;
    return jacobian;
  }
  if (cone.sine * tangent <= -cone.cosine * normal) return MatN<N>::Zero();
  const double r = cone.sine * tangent + cone.cosine * normal;
  const double mixed = cone.sine * cone.cosine;
  return cone_jacobian(z, tangent, cone.sine * cone.sine, (cone.sine * r) / tangent, mixed, mixed,
                       cone.cosine * cone.cosine);
}

}  // namespace detail

template <int N>
bool in_cone(const VecN<N>& x, double mu, double tol = 0.0) {
  return detail::tangent_norm(x) <= mu * x[N - 1] + tol && x[N - 1] >= -tol;
}

template <int N>
bool in_dual_cone(const VecN<N>& x, double mu, double tol = 0.0) {
  return mu * detail::tangent_norm(x) <= x[N - 1] + tol;
}

template <int N>
VecN<N> project_cone(const VecN<N>& z, double mu) {
  return detail::project_circular_cone(z, detail::coulomb_aperture(mu));
}

template <int N>
MatN<N> project_cone_jacobian(const VecN<N>& z, double mu) {
  return detail::project_circular_cone_jacobian(z, detail::coulomb_aperture(mu));
}

template <int N>
VecN<N> project_dual_cone(const VecN<N>& z, double mu) {
  return detail::project_circular_cone(z, detail::dual_aperture(mu));
}

template <int N>
MatN<N> project_dual_cone_jacobian(const VecN<N>& z, double mu) {
  return detail::project_circular_cone_jacobian(z, detail::dual_aperture(mu));
}

template <int N>
VecN<N> project_strict(const VecN<N>& z, double mu) {
  VecN<N> image = VecN<N>::Zero();
  if (!(z[N - 1] > 0.0)) return image;
  const double radius = mu * z[N - 1], tangent = detail::tangent_norm(z);
  image[N - 1] = z[N - 1];
  if (tangent <= radius) return z;
  if (radius > 0.0) image.template head<N - 1>() = z.template head<N - 1>() / tangent * radius;
  return image;
}

template <int N>
MatN<N> project_strict_jacobian(const VecN<N>& z, double mu) {
  MatN<N> jacobian = MatN<N>::Zero();
  if (z[N - 1] < 0.0) return jacobian;
  jacobian(N - 1, N - 1) = 1.0;
  if (mu == 0.0) return jacobian;
  const double tangent = detail::tangent_norm(z);
  const double radius = mu * z[N - 1];
  if (tangent <= radius) return MatN<N>::Identity();
  return detail::cone_jacobian(z, tangent, 0.0, radius / tangent, mu, 0.0, 1.0);
}

// In the metric diag(d_t .. d_t, d_n); see math/cone.h.
template <int N>
VecN<N> project_cone_metric(const VecN<N>& z, double mu, double d_t, double d_n) {
  if (in_cone(z, mu)) return z;
  const double a = std::sqrt(d_t / d_n);
  VecN<N> y = z;
  y.template head<N - 1>() *= a;
  y = project_cone(y, a * mu);
  y.template head<N - 1>() /= a;
  return y;
}

template <int N>
MatN<N> project_cone_metric_jacobian(const VecN<N>& z, double mu, double d_t, double d_n) {
  if (mu > 0.0 && in_cone(z, mu)) return MatN<N>::Identity();
  const double a = std::sqrt(d_t / d_n);
  VecN<N> y = z;
  y.template head<N - 1>() *= a;
  MatN<N> jacobian = project_cone_jacobian(y, a * mu);
  jacobian.template topRightCorner<N - 1, 1>() /= a;
  jacobian.template bottomLeftCorner<1, N - 1>() *= a;
  return jacobian;
}

template <int N>
VecN<N> de_saxce(const VecN<N>& u, double mu) {
  VecN<N> shift = VecN<N>::Zero();
  shift[N - 1] = mu * detail::tangent_norm(u);
  return shift;
}

}  // namespace tribo
