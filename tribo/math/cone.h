// Projections on the sets of contact mechanics, with one element of their generalised Jacobians.
//
// Contact vectors are ordered (t1, t2, n). With x_t = (t1, t2) and friction coefficient mu >= 0:
//   Coulomb cone      K_mu  = { |x_t| <= mu x_n }       (impulses)
//   its dual          K*_mu = { mu |x_t| <= x_n }       (velocities shifted by De Saxce's term)
// Moreau: z = P_K(z) - P_K*(-z), the two parts being orthogonal.
//
// Both cones are { c |x_t| <= s x_n } with (c, s) = (1, mu) / sqrt(1 + mu^2) for K_mu and the two swapped for
// K*_mu. The sine and cosine keep every formula finite for mu = 0 (a ray, dual: a half-space) and for mu up
// to 1e300. A point outside the cone and outside its polar projects on the generator nearest to it,
//   P(z) = r (s e, c),   e = z_t / |z_t|,   r = s |z_t| + c z_n > 0.
//
// Kinks. The projections are piecewise smooth. On a boundary between two pieces the Jacobian returned is that
// of the set itself (the identity: the boundary counts as inside); on the boundary of the polar it is zero.
// Sets that degenerate to lower dimension (mu = 0, radius 0, lo = hi) return the Jacobian that holds around
// the point.
//
// Cost: one or two square roots each, no allocation. Inputs must be finite.
//
// Example: the natural map of one contact, lambda - P_K(lambda - (u + Gamma(u))), zero exactly at a solution:
//   Vec3 residual = impulse - project_cone(impulse - velocity - de_saxce(velocity, mu), mu);
#pragma once

#include <Eigen/Core>
#include <cmath>

#include "tribo/base/platform.h"
#include "tribo/base/types.h"

namespace tribo {

namespace detail {

// sqrt(a^2 + b^2); the slow overflow-safe library routine runs only where the squares leave the double range.
TRIBO_HD inline double norm2(double a, double b) {
  const double squares = a * a + b * b;
  if (squares > 1e-280 && squares < 1e280) return std::sqrt(squares);
  return a == 0.0 && b == 0.0 ? 0.0 : std::hypot(a, b);
}

TRIBO_HD inline double tangent_norm(const Vec3& x) { return norm2(x[0], x[1]); }

// Sine and cosine of the half-angle of { cosine |x_t| <= sine x_n }.
struct Aperture {
  double sine;
  double cosine;
};

TRIBO_HD inline Aperture coulomb_aperture(double mu) {
  const double cosine = 1.0 / norm2(1.0, mu);
  return {mu * cosine, cosine};
}

TRIBO_HD inline Aperture dual_aperture(double mu) {
  const Aperture primal = coulomb_aperture(mu);
  return {primal.cosine, primal.sine};
}

TRIBO_HD inline Vec3 project_circular_cone(const Vec3& z, Aperture cone) {
  const double tangent = tangent_norm(z);
  const double normal = z[2];
  // The sign decides for the ray (sine = 0), where the first test is an equality for both directions of z_n.
  if (cone.cosine * tangent <= cone.sine * normal && normal >= 0.0) return z;
  if (cone.sine * tangent <= -cone.cosine * normal) return Vec3::Zero();
  const double r = cone.sine * tangent + cone.cosine * normal;
  const double length = cone.sine * r;
  if (length == 0.0)
    return {0.0, 0.0, cone.cosine * r};  // the ray, the only cone where tangent = 0 comes here
  return {z[0] / tangent * length, z[1] / tangent * length, cone.cosine * r};
}

TRIBO_HD inline Mat3 project_circular_cone_jacobian(const Vec3& z, Aperture cone) {
  const double tangent = tangent_norm(z);
  const double normal = z[2];
  if (cone.sine == 0.0) {  // the ray { x_t = 0, x_n >= 0 }
    Mat3 jacobian = Mat3::Zero();
    jacobian(2, 2) = normal >= 0.0 ? 1.0 : 0.0;
    return jacobian;
  }
  if (cone.cosine * tangent <= cone.sine * normal) return Mat3::Identity();
  if (cone.cosine == 0.0) {  // outside the half-space { x_n >= 0 }
    Mat3 jacobian = Mat3::Identity();
    jacobian(2, 2) = 0.0;
    return jacobian;
  }
  if (cone.sine * tangent <= -cone.cosine * normal) return Mat3::Zero();
  const double r = cone.sine * tangent + cone.cosine * normal;
  const double ex = z[0] / tangent;
  const double ey = z[1] / tangent;
  const double along = cone.sine * cone.sine;       // stretch in the direction of the tangent
  const double across = (cone.sine * r) / tangent;  // stretch around the cone
  const double mixed = cone.sine * cone.cosine;
  Mat3 jacobian;
  jacobian << along * ex * ex + across * ey * ey, (along - across) * ex * ey, mixed * ex,  //
      (along - across) * ex * ey, along * ey * ey + across * ex * ex, mixed * ey,          //
      mixed * ex, mixed * ey, cone.cosine * cone.cosine;
  return jacobian;
}

}  // namespace detail

// Membership with an absolute slack `tol` in the units of x.
TRIBO_HD inline bool in_cone(const Vec3& x, double mu, double tol = 0.0) {
  return detail::tangent_norm(x) <= mu * x[2] + tol && x[2] >= -tol;
}

TRIBO_HD inline bool in_dual_cone(const Vec3& x, double mu, double tol = 0.0) {
  return mu * detail::tangent_norm(x) <= x[2] + tol;
}

// Euclidean projection on K_mu.
TRIBO_HD inline Vec3 project_cone(const Vec3& z, double mu) {
  return detail::project_circular_cone(z, detail::coulomb_aperture(mu));
}

TRIBO_HD inline Mat3 project_cone_jacobian(const Vec3& z, double mu) {
  return detail::project_circular_cone_jacobian(z, detail::coulomb_aperture(mu));
}

// Euclidean projection on K*_mu.
TRIBO_HD inline Vec3 project_dual_cone(const Vec3& z, double mu) {
  return detail::project_circular_cone(z, detail::dual_aperture(mu));
}

TRIBO_HD inline Mat3 project_dual_cone_jacobian(const Vec3& z, double mu) {
  return detail::project_circular_cone_jacobian(z, detail::dual_aperture(mu));
}

// Projection on the disk |x| <= radius; a negative radius counts as 0.
TRIBO_HD inline Vec2 project_disk(const Vec2& x, double radius) {
  if (!(radius > 0.0)) return Vec2::Zero();
  const double length = detail::norm2(x[0], x[1]);
  if (length <= radius) return x;
  return {x[0] / length * radius, x[1] / length * radius};
}

TRIBO_HD inline Mat2 project_disk_jacobian(const Vec2& x, double radius) {
  if (!(radius > 0.0)) return Mat2::Zero();
  const double length = detail::norm2(x[0], x[1]);
  if (length <= radius) return Mat2::Identity();
  const double ex = x[0] / length;
  const double ey = x[1] / length;
  const double across = radius / length;
  Mat2 jacobian;
  jacobian << across * ey * ey, -across * ex * ey, -across * ex * ey, across * ex * ex;
  return jacobian;
}

TRIBO_HD inline double project_orthant(double x) { return x > 0.0 ? x : 0.0; }

TRIBO_HD inline double project_orthant_derivative(double x) { return x >= 0.0 ? 1.0 : 0.0; }

// Projection on [lo, hi], lo <= hi; either bound may be infinite.
TRIBO_HD inline double project_box(double x, double lo, double hi) { return x < lo ? lo : (x > hi ? hi : x); }

TRIBO_HD inline double project_box_derivative(double x, double lo, double hi) {
  return lo < hi && lo <= x && x <= hi ? 1.0 : 0.0;
}

// The strict operator of Lee et al. (2024): the normal is clamped at 0 first and the tangent then follows on
// the disk of radius mu * normal. It is not a Euclidean projection on K_mu (the tangent never feeds the
// normal), which is what makes its fixed points satisfy the exact Signorini-Coulomb law without De Saxce's
// shift.
TRIBO_HD inline Vec3 project_strict(const Vec3& z, double mu) {
  const double normal = project_orthant(z[2]);
  const Vec2 tangent = project_disk(Vec2(z[0], z[1]), mu * normal);
  return {tangent[0], tangent[1], normal};
}

// Derivative of project_strict with respect to z (mu constant), not symmetric while sliding. z_n = 0 counts
// as touching: the limit from z_n > 0.
TRIBO_HD inline Mat3 project_strict_jacobian(const Vec3& z, double mu) {
  Mat3 jacobian = Mat3::Zero();
  if (z[2] < 0.0) return jacobian;
  jacobian(2, 2) = 1.0;
  if (mu == 0.0) return jacobian;
  const double tangent = detail::tangent_norm(z);
  const double radius = mu * z[2];
  if (tangent <= radius) return Mat3::Identity();
  jacobian.topLeftCorner<2, 2>() = project_disk_jacobian(Vec2(z[0], z[1]), radius);
  jacobian(0, 2) = mu * (z[0] / tangent);
  jacobian(1, 2) = mu * (z[1] / tangent);
  return jacobian;
}

// Projection on K_mu in the metric D = diag(d_t, d_t, d_n), d_t, d_n > 0: the minimiser of (x-z)^T D (x-z)
// over K_mu. With y = (a x_t, x_n), a = sqrt(d_t / d_n), the metric is d_n times the Euclidean one and K_mu
// becomes |y_t| = a |x_t| <= a mu y_n, so y is the Euclidean projection on the cone of coefficient a mu
// (Carpentier et al. 2024, Alg. 2 line 3, uses it with D = R + rho I).
TRIBO_HD inline Vec3 project_cone_metric(const Vec3& z, double mu, double d_t, double d_n) {
  if (in_cone(z, mu)) return z;
  const double a = std::sqrt(d_t / d_n);
  const Vec3 y = project_cone(Vec3(a * z[0], a * z[1], z[2]), a * mu);
  return {y[0] / a, y[1] / a, y[2]};
}

// Self-adjoint in the metric D, hence not symmetric unless d_t = d_n.
TRIBO_HD inline Mat3 project_cone_metric_jacobian(const Vec3& z, double mu, double d_t, double d_n) {
  if (mu > 0.0 && in_cone(z, mu)) return Mat3::Identity();
  const double a = std::sqrt(d_t / d_n);
  Mat3 jacobian = project_cone_jacobian(Vec3(a * z[0], a * z[1], z[2]), a * mu);
  jacobian.topRightCorner<2, 1>() /= a;
  jacobian.bottomLeftCorner<1, 2>() *= a;
  return jacobian;
}

// De Saxce's shift Gamma(u) = (0, 0, mu |u_t|). With it Signorini-Coulomb reads
// K_mu contains lambda, orthogonal to u + Gamma(u) in K*_mu; and u_n >= 0 exactly when u + Gamma(u) is in
// K*_mu.
TRIBO_HD inline Vec3 de_saxce(const Vec3& u, double mu) { return {0.0, 0.0, mu * detail::tangent_norm(u)}; }

// At u_t = 0 the zero matrix, the centre of the subdifferential.
TRIBO_HD inline Mat3 de_saxce_jacobian(const Vec3& u, double mu) {
  Mat3 jacobian = Mat3::Zero();
  const double tangent = detail::tangent_norm(u);
  if (tangent > 0.0) {
    jacobian(2, 0) = mu * (u[0] / tangent);
    jacobian(2, 1) = mu * (u[1] / tangent);
  }
  return jacobian;
}

}  // namespace tribo
