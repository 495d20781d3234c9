// The scalar, index and matrix types used in every room.
#pragma once

#include <Eigen/Core>

#include "tribo/math/platform.h"

namespace tribo {

using Index = int;

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Mat2 = Eigen::Matrix2d;
using Mat3 = Eigen::Matrix3d;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

}  // namespace tribo
