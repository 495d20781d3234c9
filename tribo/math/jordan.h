// Jordan algebra of the second-order cone L = { x : x_n >= |x_t| } in R^3, and its Nesterov-Todd scaling.
//
// Component order follows the contacts, (t1, t2, n): the LAST component x_n is the scalar part, x_t = (t1,
// t2) the vector part (the literature puts the scalar first). L is its own dual. With J = diag(-1, -1, 1):
//   product      x o y = (x_n y_t + y_n x_t, x^T y) = Arw(x) y,      identity e = (0, 0, 1)
//   eigenvalues  x_n -+ |x_t|,      determinant  det x = x^T J x = (x_n - |x_t|)(x_n + |x_t|)
//   inverse      J x / det x,      square root and powers act on the eigenvalues
//   quadratic representation  Q_x = 2 x x^T - det(x) J = 2 Arw(x)^2 - Arw(x o x)
//
// Coulomb contacts enter by T_mu = diag(1, 1, mu), mu > 0:
//   impulse  lambda in K_mu  <=>  T_mu lambda in L,      velocity  y in K*_mu  <=>  T_mu^-1 y in L,
// with y^T lambda unchanged. A frictionless contact (mu = 0) has no such map; treat it as a scalar
// constraint.
//
// Determinants use the factored form, which keeps full relative accuracy next to the boundary, where interior
// points end.
#pragma once

#include <cmath>

#include "tribo/base/platform.h"
#include "tribo/base/types.h"
#include "tribo/math/cone.h"

namespace tribo {

// ---- maps between Coulomb and self-dual coordinates; T_mu and its inverse, never as matrices ----

TRIBO_HD inline Vec3 impulse_to_self_dual(const Vec3& impulse, double mu) {
  return {impulse[0], impulse[1], mu * impulse[2]};
}

TRIBO_HD inline Vec3 impulse_from_self_dual(const Vec3& x, double mu) { return {x[0], x[1], x[2] / mu}; }

TRIBO_HD inline Vec3 velocity_to_self_dual(const Vec3& velocity, double mu) {
  return {velocity[0], velocity[1], velocity[2] / mu};
}

TRIBO_HD inline Vec3 velocity_from_self_dual(const Vec3& y, double mu) { return {y[0], y[1], mu * y[2]}; }

// ---- algebra ----

TRIBO_HD inline Vec3 jordan_identity() { return {0.0, 0.0, 1.0}; }

// J x: flips the vector part.
TRIBO_HD inline Vec3 jordan_reflect(const Vec3& x) { return {-x[0], -x[1], x[2]}; }

TRIBO_HD inline Vec3 jordan_product(const Vec3& x, const Vec3& y) {
  return {x[2] * y[0] + y[2] * x[0], x[2] * y[1] + y[2] * x[1], x[0] * y[0] + x[1] * y[1] + x[2] * y[2]};
}

// (smaller, larger) eigenvalue; x is in L when the smaller is >= 0.
TRIBO_HD inline Vec2 jordan_eigenvalues(const Vec3& x) {
  const double tangent = detail::tangent_norm(x);
  return {x[2] - tangent, x[2] + tangent};
}

TRIBO_HD inline double jordan_determinant(const Vec3& x) {
  const Vec2 eigenvalues = jordan_eigenvalues(x);
  return eigenvalues[0] * eigenvalues[1];
}

// x^-1 with x o x^-1 = e; det x must not be 0.
TRIBO_HD inline Vec3 jordan_inverse(const Vec3& x) {
  const Vec2 eigenvalues = jordan_eigenvalues(x);
  return jordan_reflect(x) / eigenvalues[0] / eigenvalues[1];
}

namespace detail {

// The element with the eigenvectors of x and the eigenvalues given; x_t = 0 may take any direction, here
// none, which is right because its eigenvalues then agree.
TRIBO_HD inline Vec3 jordan_with_eigenvalues(const Vec3& x, double smaller, double larger) {
  const double tangent = tangent_norm(x);
  const double half_difference = 0.5 * (larger - smaller);
  const double scale = tangent > 0.0 ? half_difference / tangent : 0.0;
  return {scale * x[0], scale * x[1], 0.5 * (larger + smaller)};
}

}  // namespace detail

// The square root inside L of a point of L (rounding below the boundary counts as on it).
TRIBO_HD inline Vec3 jordan_sqrt(const Vec3& x) {
  const Vec2 eigenvalues = jordan_eigenvalues(x);
  return detail::jordan_with_eigenvalues(x, std::sqrt(project_orthant(eigenvalues[0])),
                                         std::sqrt(project_orthant(eigenvalues[1])));
}

// x^exponent for x strictly inside L.
TRIBO_HD inline Vec3 jordan_power(const Vec3& x, double exponent) {
  const Vec2 eigenvalues = jordan_eigenvalues(x);
  return detail::jordan_with_eigenvalues(x, std::pow(eigenvalues[0], exponent),
                                         std::pow(eigenvalues[1], exponent));
}

// Arw(x) y = x o y.
TRIBO_HD inline Mat3 arrow_matrix(const Vec3& x) {
  Mat3 arrow;
  arrow << x[2], 0.0, x[0],  //
      0.0, x[2], x[1],       //
      x[0], x[1], x[2];
  return arrow;
}

// Arw(x)^-1 y, the z with x o z = y; x strictly inside L.
TRIBO_HD inline Vec3 jordan_divide(const Vec3& y, const Vec3& x) {
  const double vector_dot = x[0] * y[0] + x[1] * y[1];
  const double scalar = (x[2] * y[2] - vector_dot) / jordan_determinant(x);
  return {(y[0] - scalar * x[0]) / x[2], (y[1] - scalar * x[1]) / x[2], scalar};
}

TRIBO_HD inline Mat3 quadratic_representation(const Vec3& x) {
  const double determinant = jordan_determinant(x);
  Mat3 quadratic = 2.0 * x * x.transpose();
  quadratic(0, 0) += determinant;
  quadratic(1, 1) += determinant;
  quadratic(2, 2) -= determinant;
  return quadratic;
}

// ---- Nesterov-Todd scaling ----

// The scaling point w of a pair (x, y) strictly inside L is the only w inside L with Q_w y = x.
// N = Q_{sqrt w} is symmetric positive definite, N^2 = Q_w, and N y = N^-1 x is the scaled point of both.
// An interior point with x = impulse, y = velocity (self-dual coordinates) has N^-2 dx + dy = r, that is
// dx = N^2 (r - dy): N^2 is the stiffness block of the primal kernel, N^-2 the diagonal block of the dual
// one.
//
// w = scale * unit with det(unit) = 1 and scale = (det x / det y)^(1/4); Mangoni, section 4.14.2.
struct NesterovTodd {
  Vec3 unit = Vec3(0.0, 0.0, 1.0);
  double scale = 1.0;
  bool valid = false;  // false if x or y was not strictly inside L; the scaling is then the identity

  TRIBO_HD Vec3 point() const { return scale * unit; }

  TRIBO_HD Mat3 matrix() const { return scale * root(unit[0], unit[1]); }  // N

  TRIBO_HD Mat3 inverse() const { return root(-unit[0], -unit[1]) / scale; }  // N^-1

  TRIBO_HD Mat3 squared() const { return (scale * scale) * square(unit[0], unit[1]); }  // N^2 = Q_w

  TRIBO_HD Mat3 squared_inverse() const { return square(-unit[0], -unit[1]) / (scale * scale); }

 private:
  // Q of the square root of (a, b, unit_n), whose determinant is 1; flipping (a, b) inverts it.
  TRIBO_HD Mat3 root(double a, double b) const {
    const double fraction = 1.0 / (1.0 + unit[2]);
    Mat3 matrix;
    matrix << 1.0 + fraction * a * a, fraction * a * b, a,  //
        fraction * a * b, 1.0 + fraction * b * b, b,        //
        a, b, unit[2];
    return matrix;
  }

  // Q of (a, b, unit_n): 2 u u^T - J, with 2 u_n^2 - 1 = u_n^2 + |u_t|^2 to avoid the cancellation.
  TRIBO_HD Mat3 square(double a, double b) const {
    Mat3 matrix;
    matrix << 1.0 + 2.0 * a * a, 2.0 * a * b, 2.0 * a * unit[2],  //
        2.0 * a * b, 1.0 + 2.0 * b * b, 2.0 * b * unit[2],        //
        2.0 * a * unit[2], 2.0 * b * unit[2], unit[2] * unit[2] + a * a + b * b;
    return matrix;
  }
};

// With xb = x / sqrt(det x), yb = y / sqrt(det y): unit = (xb + J yb) / (2 g), g^2 = (1 + xb^T yb) / 2.
TRIBO_HD inline NesterovTodd nesterov_todd(const Vec3& x, const Vec3& y) {
  NesterovTodd scaling;
  const Vec2 x_eigenvalues = jordan_eigenvalues(x);
  const Vec2 y_eigenvalues = jordan_eigenvalues(y);
  if (!(x_eigenvalues[0] > 0.0 && y_eigenvalues[0] > 0.0)) return scaling;
  const double x_norm = std::sqrt(x_eigenvalues[0]) * std::sqrt(x_eigenvalues[1]);  // sqrt(det x)
  const double y_norm = std::sqrt(y_eigenvalues[0]) * std::sqrt(y_eigenvalues[1]);
  const Vec3 xb = x / x_norm;
  const Vec3 yb = y / y_norm;
  const double twice_g = std::sqrt(2.0 * (1.0 + xb.dot(yb)));
  const double a = (xb[0] - yb[0]) / twice_g;
  const double b = (xb[1] - yb[1]) / twice_g;
  // The scalar part from the vector part keeps det(unit) = 1 to the last digit.
  scaling.unit = Vec3(a, b, std::sqrt(1.0 + a * a + b * b));
  scaling.scale = std::sqrt(x_norm / y_norm);
  scaling.valid = true;
  return scaling;
}

// ---- step length ----

// The largest alpha in [0, alpha_max] with x + alpha d in L, for x in L (alpha_max may be infinite).
//
// After scaling x_n to 1 the boundary solves c + 2 k alpha + a alpha^2 = 0 with c = det x, k = x^T J d, a =
// det d (Mangoni 4.53). The wanted root is c / (-k + sqrt(D)) for k < 0, and for k >= 0 it is (k + sqrt(D)) /
// (-a) if a < 0, none otherwise. The discriminant D = k^2 - a c cancels badly when d is nearly parallel to x;
// with v = d_t - d_n x_t it equals c |v|^2 + (x_t . v)^2, a sum of non-negative terms.
TRIBO_HD inline double step_length_to_cone(const Vec3& x, const Vec3& d, double alpha_max) {
  const double largest = d.cwiseAbs().maxCoeff();
  if (largest == 0.0) return alpha_max;
  const Vec3 p = d / largest;
  if (!(x[2] > 0.0)) return jordan_eigenvalues(p)[0] >= 0.0 ? alpha_max : 0.0;  // x is the apex
  const double ta = x[0] / x[2];
  const double tb = x[1] / x[2];
  const double tangent = detail::norm2(ta, tb);
  const double c = project_orthant((1.0 - tangent) * (1.0 + tangent));
  const double k = p[2] - ta * p[0] - tb * p[1];
  const double a = jordan_determinant(p);
  const double va = p[0] - p[2] * ta;
  const double vb = p[1] - p[2] * tb;
  const double along = ta * va + tb * vb;
  const double root = std::sqrt(c * (va * va + vb * vb) + along * along);
  double alpha;
  if (k < 0.0) {
    alpha = c / (root - k);
  } else if (a < 0.0) {
    alpha = (k + root) / (-a);
  } else {
    return alpha_max;
  }
  alpha *= x[2] / largest;
  return alpha < alpha_max ? alpha : alpha_max;
}

}  // namespace tribo
