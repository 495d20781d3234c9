#include "tribo/linalg/gmres.h"

#include <algorithm>
#include <cmath>

namespace tribo {

// Column `step` of the Hessenberg matrix through the rotations so far and one of its own; returns what is left of the
// residual.
double Gmres::rotate(Index step) {
  auto column = hessenberg_.col(step);
  for (Index i = 0; i < step; ++i) {
    const double upper = column[i], lower = column[i + 1];
    column[i] = cosine_[i] * upper + sine_[i] * lower;
    column[i + 1] = cosine_[i] * lower - sine_[i] * upper;
  }
  const double length = std::hypot(column[step], column[step + 1]);
  cosine_[step] = length > 0.0 ? column[step] / length : 1.0;
  sine_[step] = length > 0.0 ? column[step + 1] / length : 0.0;
  column[step] = length;
  projected_[step + 1] = -sine_[step] * projected_[step];
  projected_[step] *= cosine_[step];
  return std::abs(projected_[step + 1]);
}

// At the rate of the steps so far, of which the first tell little.
bool Gmres::is_hopeless(double left, double tolerance, Index most) const {
  constexpr Index kFirstSteps = 3;
  if (steps_ < kFirstSteps) return false;
  const double rate = std::log(left) / static_cast<double>(steps_);
  return std::log(tolerance) < rate * static_cast<double>(most);
}

bool Gmres::solve(const Vector& rhs, double tolerance, Index most, const Product& product,
                  const Precondition& precondition, Vector& x) {
  steps_ = 0;
  most = std::min(most, kMostSteps);
  const Eigen::Index size = rhs.size();
  const double length = rhs.norm();
  x.setZero(size);
  if (length == 0.0) return true;
  if (!std::isfinite(length) || most < 1) return false;
  if (basis_.rows() != size || basis_.cols() < most) {
    basis_.resize(size, most);
    directions_.resize(size, most);
  }
  next_.resize(size);
  image_.resize(size);
  basis_.col(0) = rhs / length;
  projected_[0] = 1.0;
  for (double left = 1.0; !(left <= tolerance); ++steps_) {
    if (steps_ == most || is_hopeless(left, tolerance, most)) return false;
    next_ = basis_.col(steps_);
    precondition(next_);
    directions_.col(steps_) = next_;
    product(next_, image_);
    const auto known = basis_.leftCols(steps_ + 1);
    auto along = hessenberg_.col(steps_).head(steps_ + 1);
    along.noalias() = known.transpose() * image_;
    image_.noalias() -= known * along;
    const double across = image_.norm();
    if (!std::isfinite(across)) return false;
    hessenberg_(steps_ + 1, steps_) = across;
    left = rotate(steps_);
    if (hessenberg_(steps_, steps_) == 0.0) return false;  // H is singular
    if (steps_ + 1 < most && across > 0.0) basis_.col(steps_ + 1) = image_ / across;
  }
  for (Index i = steps_ - 1; i >= 0; --i) {
    projected_[i] /= hessenberg_(i, i);
    projected_.head(i) -= projected_[i] * hessenberg_.col(i).head(i);
  }
  x.noalias() = directions_.leftCols(steps_) * projected_.head(steps_);
  x *= length;
  return x.allFinite();
}

}  // namespace tribo
