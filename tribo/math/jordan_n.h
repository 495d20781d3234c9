// math/jordan.h for second-order cones of more than three rows: the same names and formulas, the vector part having N - 1
// entries and the scalar part standing last. Functions of three rows stand in math/jordan.h: overloads pick them.
#pragma once

#include <type_traits>

#include "tribo/math/cone_n.h"
#include "tribo/math/jordan.h"

namespace tribo {

template <int N>
VecN<N> jordan_unit() {
  return VecN<N>::Unit(N - 1);
}

template <int N>
VecN<N> jordan_product(const VecN<N>& x, const VecN<N>& y) {
  VecN<N> product = x[N - 1] * y + y[N - 1] * x;
  product[N - 1] = x.dot(y);
  return product;
}

template <int N>
Vec2 jordan_eigenvalues(const VecN<N>& x) {
  const double tangent = detail::tangent_norm(x);
  return {x[N - 1] - tangent, x[N - 1] + tangent};
}

template <int N>
double jordan_determinant(const VecN<N>& x) {
  const Vec2 eigenvalues = jordan_eigenvalues(x);
  return eigenvalues[0] * eigenvalues[1];
}

// Arw(x)^-1 y, the z with x o z = y; x strictly inside.
template <int N>
VecN<N> jordan_divide(const VecN<N>& y, const VecN<N>& x) {
  const double vector_dot = x.template head<N - 1>().dot(y.template head<N - 1>());
  const double scalar = (x[N - 1] * y[N - 1] - vector_dot) / jordan_determinant(x);
  VecN<N> z = (y - scalar * x) / x[N - 1];
  z[N - 1] = scalar;
  return z;
}

// Nesterov-Todd scaling, see math/jordan.h: w = scale * unit, det(unit) = 1.
template <int N>
struct NesterovToddN {
  VecN<N> unit = VecN<N>::Unit(N - 1);
  double scale = 1.0;
  bool valid = false;

  MatN<N> matrix() const { return scale * root(unit.template head<N - 1>()); }               // N
  MatN<N> inverse() const { return root(-unit.template head<N - 1>()) / scale; }             // N^-1
  MatN<N> squared() const { return (scale * scale) * square(unit.template head<N - 1>()); }  // N^2
  MatN<N> squared_inverse() const { return square(-unit.template head<N - 1>()) / (scale * scale); }

 private:
  MatN<N> root(const VecN<N - 1>& a) const {
    MatN<N> matrix = MatN<N>::Identity();
    matrix.template topLeftCorner<N - 1, N - 1>() += a * a.transpose() / (1.0 + unit[N - 1]);
    matrix.template topRightCorner<N - 1, 1>() = a;
    matrix.template bottomLeftCorner<1, N - 1>() = a.transpose();
    matrix(N - 1, N - 1) = unit[N - 1];
    return matrix;
  }
  MatN<N> square(const VecN<N - 1>& a) const {
    MatN<N> matrix = MatN<N>::Identity();
    matrix.template topLeftCorner<N - 1, N - 1>() += 2.0 * a * a.transpose();
    matrix.template topRightCorner<N - 1, 1>() = 2.0 * unit[N - 1] * a;
    matrix.template bottomLeftCorner<1, N - 1>() = 2.0 * unit[N - 1] * a.transpose();
    matrix(N - 1, N - 1) = unit[N - 1] * unit[N - 1] + a.squaredNorm();
    return matrix;
  }
};

template <int N>
NesterovToddN<N> nesterov_todd(const VecN<N>& x, const VecN<N>& y) {
  NesterovToddN<N> scaling;
  const Vec2 x_eigenvalues = jordan_eigenvalues(x);
  const Vec2 y_eigenvalues = jordan_eigenvalues(y);
  if (!(x_eigenvalues[0] > 0.0 && y_eigenvalues[0] > 0.0)) return scaling;
  const double x_norm = std::sqrt(x_eigenvalues[0]) * std::sqrt(x_eigenvalues[1]);  // sqrt(det x)
  const double y_norm = std::sqrt(y_eigenvalues[0]) * std::sqrt(y_eigenvalues[1]);
  const VecN<N> xb = x / x_norm, yb = y / y_norm;
  const double twice_g = std::sqrt(2.0 * (1.0 + xb.dot(yb)));
  const VecN<N - 1> a = (xb - yb).template head<N - 1>() / twice_g;
  scaling.unit.template head<N - 1>() = a;
  scaling.unit[N - 1] = std::sqrt(1.0 + a.squaredNorm());
  scaling.scale = std::sqrt(x_norm / y_norm);
  scaling.valid = true;
  return scaling;
}

template <int N>
using NesterovToddOf = std::conditional_t<N == 3, NesterovTodd, NesterovToddN<N == 3 ? 4 : N>>;

// The largest alpha in [0, alpha_max] with x + alpha d in the cone; derivation in math/jordan.h.
template <int N>
double step_length_to_cone(const VecN<N>& x, const VecN<N>& d, double alpha_max) {
  const double largest = d.cwiseAbs().maxCoeff();
  if (largest == 0.0) return alpha_max;
  const VecN<N> p = d / largest;
  if (!(x[N - 1] > 0.0)) return jordan_eigenvalues(p)[0] >= 0.0 ? alpha_max : 0.0;  // x is the apex
  const VecN<N - 1> t = x.template head<N - 1>() / x[N - 1];
  const double tangent = t.norm();
  const double c = project_orthant((1.0 - tangent) * (1.0 + tangent));
  const double k = p[N - 1] - t.dot(p.template head<N - 1>());
  const double a = jordan_determinant(p);
  const VecN<N - 1> v = p.template head<N - 1>() - p[N - 1] * t;
  const double along = t.dot(v);
  const double root = std::sqrt(c * v.squaredNorm() + along * along);
  double alpha;
  if (k < 0.0) {
    alpha = c / (root - k);
  } else if (a < 0.0) {
    alpha = (k + root) / (-a);
  } else {
    return alpha_max;
  }
  alpha *= x[N - 1] / largest;
  return alpha < alpha_max ? alpha : alpha_max;
}

}  // namespace tribo
