// The scalar, index and matrix types used in every room.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "tribo/base/platform.h"

namespace tribo {

using Index = int;

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Mat2 = Eigen::Matrix2d;
using Mat3 = Eigen::Matrix3d;
template <int N>
using VecN = Eigen::Matrix<double, N, 1>;
template <int N>
using MatN = Eigen::Matrix<double, N, N>;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

// Numbers that are seen as matrices. Eigen groups a sum by where its memory lies relative to the width of a vector
// register; memory that always begins at such a boundary gives the same bits in every object and on every thread.
using Numbers = std::vector<double, Eigen::aligned_allocator<double>>;

}  // namespace tribo
