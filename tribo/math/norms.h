// Euclidean norms and roots of energies that neither underflow nor overflow: the plain sum where it is well inside the
// range of doubles, a scaled one elsewhere (entries around 1e-160 or 1e+160, whose squares are lost).
#pragma once

#include <algorithm>
#include <cmath>

#include "tribo/base/types.h"

namespace tribo {

// Squares and products between these lose nothing: what underflows beside them is below their rounding.
inline bool is_safe_square(double x) { return x > 1e-280 && x < 1e280; }

// |x|_2.
template <class Derived>
double safe_norm(const Eigen::MatrixBase<Derived>& x) {
  if (x.size() == 0) return 0.0;
  const double square = x.squaredNorm();
  if (is_safe_square(square)) return std::sqrt(square);
  const double largest = x.cwiseAbs().template maxCoeff<Eigen::PropagateNaN>();
  if (largest == 0.0 || !std::isfinite(largest)) return largest;
  return largest * (x / largest).norm();
}

// sqrt(x . y) of two vectors with x . y >= 0 up to rounding, as b and A^-1 b.
template <class X, class Y>
double root_of_product(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<Y>& y) {
  if (x.size() == 0) return 0.0;
  const double product = x.dot(y);
  if (is_safe_square(product)) return std::sqrt(product);
  const double a = x.cwiseAbs().template maxCoeff<Eigen::PropagateNaN>();
  const double b = y.cwiseAbs().template maxCoeff<Eigen::PropagateNaN>();
  if (a == 0.0 || b == 0.0 || !std::isfinite(a) || !std::isfinite(b)) return a * b;
  return std::sqrt(a) * std::sqrt(b) * std::sqrt(std::max(0.0, (x / a).dot(y / b)));
}

}  // namespace tribo
