// GMRES with a preconditioner on the right (Saad & Schultz 1986), for systems of which a good approximate inverse is at
// hand, the factors of a matrix that differs little: H P^-1 y = b, x = P^-1 y. Each step costs one product with H and one
// solution with P; it gives up as soon as its rate so far promises no end within the steps allowed.
//
//   Gmres gmres;
//   if (gmres.solve(rhs, 1e-1, 10, times_h, by_p, x)) ...  // |rhs - H x| <= 0.1 |rhs|
//
// Where P was made for a matrix that differs in rank r, r + 1 steps would solve exactly.
#pragma once

#include <functional>

#include "tribo/base/types.h"

namespace tribo {

class Gmres {
 public:
  static constexpr Index kMostSteps = 24;
  // y = H x; y has its size already.
  using Product = std::function<void(const Vector& x, Vector& y)>;
  // x <- P^-1 x.
  using Precondition = std::function<void(Vector& x)>;

  // False, and x is of no use, where the residual did not fall below `tolerance` times |rhs| in `most` steps (no more than
  // kMostSteps) or something was not finite. Memory: two vectors per step; none is taken for the same sizes again.
  bool solve(const Vector& rhs, double tolerance, Index most, const Product& product,
             const Precondition& precondition, Vector& x);

  Index steps() const { return steps_; }  // of the last solve

 private:
  using Small = Eigen::Matrix<double, kMostSteps + 1, kMostSteps>;
  using SmallVector = Eigen::Matrix<double, kMostSteps + 1, 1>;

  double rotate(Index step);
  bool is_hopeless(double left, double tolerance, Index most) const;

  Index steps_ = 0;
  Matrix basis_, directions_;  // columns: an orthonormal basis of the residuals, and P^-1 times it
  Vector next_, image_;
  Small hessenberg_;  // made upper triangular by rotations as it grows
  SmallVector cosine_, sine_, projected_;
};

}  // namespace tribo
