// Principal axes of an inertia, in descending order of the moments.
#pragma once

#include <Eigen/Eigenvalues>

#include "tribo/math/pose.h"

namespace tribo::detail {

inline Pose principal_frame(const Vec3& center, const Mat3& inertia) {
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(0.5 * (inertia + inertia.transpose()));
  Mat3 axes;
  for (int k = 0; k < 3; ++k) axes.col(k) = solver.eigenvectors().col(2 - k);
  if (axes.determinant() < 0.0) axes.col(2) *= -1.0;
  return {center, axes};
}

}  // namespace tribo::detail
