// Rigid placement of one frame in another: x_outer = position + rotation * x_inner. Lengths in m.
//
// Example
//   Pose body{Vec3(0, 0, 1), Mat3::Identity()}, shape{Vec3(0.1, 0, 0), Mat3::Identity()};
//   Pose placed = body * shape;            // the shape in the world
//   Vec3 tip = placed * Vec3(0, 0, 0.5);   // a point of the shape in the world
#pragma once

#include <Eigen/Geometry>

#include "tribo/base/types.h"

namespace tribo {

using Quat = Eigen::Quaterniond;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat6 = Eigen::Matrix<double, 6, 6>;

struct Pose {
  Vec3 position = Vec3::Zero();
  Mat3 rotation = Mat3::Identity();

  Vec3 operator*(const Vec3& point) const { return position + rotation * point; }
  Pose operator*(const Pose& inner) const { return {*this * inner.position, rotation * inner.rotation}; }
  Pose inverse() const { return {-(rotation.transpose() * position), rotation.transpose()}; }
  // The point of the outer frame seen from the inner one.
  Vec3 to_local(const Vec3& point) const { return rotation.transpose() * (point - position); }
};

// x -> axis x x as a matrix.
inline Mat3 cross_matrix(const Vec3& axis) {
  Mat3 m;
  m << 0.0, -axis.z(), axis.y(), axis.z(), 0.0, -axis.x(), -axis.y(), axis.x(), 0.0;
  return m;
}

}  // namespace tribo
