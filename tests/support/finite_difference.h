// The one finite-difference check used by all tests of derivatives.
//
// A function is any callable Vector -> Vector (wrap scalars and fixed sizes in a lambda), its Jacobian any
// callable Vector -> Matrix with J(i, j) = d f_i / d x_j.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/types.h"

namespace tribo::test {

// (f(x + step d) - f(x)) / step; a negative step differences from the other side.
template <class F>
Vector one_sided_derivative(const F& f, const Vector& x, const Vector& d, double step = 1e-6) {
  return (Vector(f(Vector(x + step * d))) - Vector(f(x))) / step;
}

// Central differences, error O(step^2) + O(1e-16 / step).
template <class F>
Matrix finite_difference_jacobian(const F& f, const Vector& x, double step = 1e-6) {
  Matrix jacobian(Vector(f(x)).size(), x.size());
  for (Index j = 0; j < x.size(); ++j) {
    Vector forward = x;
    Vector backward = x;
    forward[j] += step;
    backward[j] -= step;
    jacobian.col(j) = (Vector(f(forward)) - Vector(f(backward))) / (forward[j] - backward[j]);
  }
  return jacobian;
}

// True if f is smooth around x at the scale of `reach`: the slopes on the two sides of x agree along every
// axis. It looks at f alone, so a wrong Jacobian cannot make a point count as a kink.
template <class F>
bool is_smooth_at(const F& f, const Vector& x, double reach = 1e-3, double tolerance = 0.05) {
  for (Index j = 0; j < x.size(); ++j) {
    const Vector axis = Vector::Unit(x.size(), j);
    const Vector forward = one_sided_derivative(f, x, axis, reach);
    const Vector backward = one_sided_derivative(f, x, axis, -reach);
    const double size =
        1e-3 + std::max(forward.lpNorm<Eigen::Infinity>(), backward.lpNorm<Eigen::Infinity>());
    if ((forward - backward).lpNorm<Eigen::Infinity>() > tolerance * size) return false;
  }
  return true;
}

template <class F, class J>
void expect_jacobian(const F& f, const J& jacobian, const Vector& x, double tolerance = 1e-7,
                     double step = 1e-6) {
  const Matrix exact = jacobian(x);
  const Matrix numeric = finite_difference_jacobian(f, x, step);
  ASSERT_EQ(exact.rows(), numeric.rows());
  ASSERT_EQ(exact.cols(), numeric.cols());
  const double scale = 1.0 + numeric.cwiseAbs().maxCoeff();
  EXPECT_LE((exact - numeric).cwiseAbs().maxCoeff(), tolerance * scale)
      << "at x = " << x.transpose() << "\nexact\n"
      << exact << "\nnumeric\n"
      << numeric;
}

// Checks the Jacobian at `count` points drawn by `draw`, leaving out those near a kink, of which there may be
// at most a tenth.
template <class F, class J, class Draw>
void expect_jacobian_at_random_points(const F& f, const J& jacobian, const Draw& draw, int count = 500) {
  int checked = 0;
  for (int i = 0; i < count; ++i) {
    const Vector x = draw();
    if (!is_smooth_at(f, x)) continue;
    expect_jacobian(f, jacobian, x);
    ++checked;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(checked, count * 9 / 10);
}

// At a kink between two smooth pieces: the entry d^T J d of the Jacobian returned must lie between the slopes
// of d^T f on the two sides of x.
template <class F, class J>
void expect_jacobian_between_sides(const F& f, const J& jacobian, const Vector& x, const Vector& d,
                                   double tolerance = 1e-5) {
  const Matrix element = jacobian(x);
  ASSERT_TRUE(element.allFinite());
  const double forward = d.dot(one_sided_derivative(f, x, d, 1e-7));
  const double backward = d.dot(one_sided_derivative(f, x, d, -1e-7));
  const double slope = d.dot(element * d);
  EXPECT_GE(slope, std::min(forward, backward) - tolerance)
      << "x = " << x.transpose() << ", d = " << d.transpose();
  EXPECT_LE(slope, std::max(forward, backward) + tolerance)
      << "x = " << x.transpose() << ", d = " << d.transpose();
}

}  // namespace tribo::test
