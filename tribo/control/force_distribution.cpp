#include "tribo/control/force_distribution.h"

#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/math/cone.h"

namespace tribo {

namespace {

// Enough for the forces of four feet to 1e-6 of the weight where the weights of force and torque differ by ten.
constexpr int kIterations = 400;
constexpr double kSmallChange = 1e-9;  // of the largest force, between two iterations

// Columns: two tangents and the normal.
Mat3 frame_about(const Vec3& normal) {
  Mat3 frame;
  const Vec3 other = std::abs(normal.x()) < 0.7 ? Vec3::UnitX() : Vec3::UnitY();
  frame.col(0) = normal.cross(other).normalized();
  frame.col(1) = normal.cross(frame.col(0));
  frame.col(2) = normal;
  return frame;
}

void check(const SupportPoint& point) {
  if (!(std::abs(point.normal.norm() - 1.0) < 1e-6))
    throw InvalidInput("force distribution: a normal must be of unit length");
  if (!(point.friction >= 0.0)) throw InvalidInput("force distribution: friction must be >= 0");
  if (!(point.reluctance > 0.0)) throw InvalidInput("force distribution: reluctance must be > 0");
}

}  // namespace

std::vector<Vec3> distribute_force(const WrenchRequest& request, const std::vector<SupportPoint>& points) {
  const auto rows = static_cast<Eigen::Index>(3 * points.size());
  if (rows == 0) return {};
  Eigen::Matrix<double, 6, Eigen::Dynamic> map(6, rows);  // forces in the points' frames -> weighted wrench
  Vector reluctance(rows);
  for (std::size_t k = 0; k < points.size(); ++k) {
    check(points[k]);
    const auto row = static_cast<Eigen::Index>(3 * k);
    const Mat3 frame = frame_about(points[k].normal);
    map.block<3, 3>(0, row) = frame;
    map.block<3, 3>(3, row) = cross_matrix(points[k].position - request.center) * frame;
    reluctance.segment<3>(row).setConstant(points[k].reluctance);
  }
  map = request.weights.asDiagonal() * map;
  const Matrix hessian = Matrix(map.transpose() * map) + Matrix(reluctance.asDiagonal());
  const Vector wanted = map.transpose() * (request.weights.asDiagonal() * request.wrench);
  const double step = 1.0 / hessian.trace();  // the trace bounds the largest eigenvalue
  Vector force = Vector::Zero(rows), ahead = force, next(rows);
  double momentum = 1.0;
  for (int k = 0; k < kIterations; ++k) {
    next = ahead - step * (hessian * ahead - wanted);
    for (std::size_t p = 0; p < points.size(); ++p) {
      const auto row = static_cast<Eigen::Index>(3 * p);
      next.segment<3>(row) = project_cone(Vec3(next.segment<3>(row)), points[p].friction);
    }
    const Vector change = next - force;
    if ((ahead - next).dot(change) > 0.0) momentum = 1.0;  // uphill: forget the speed
    const double grown = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * momentum * momentum));
    ahead = next + (momentum - 1.0) / grown * change;
    momentum = grown;
    force = next;
    if (change.lpNorm<Eigen::Infinity>() <= kSmallChange * force.lpNorm<Eigen::Infinity>()) break;
  }
  std::vector<Vec3> forces;
  for (std::size_t k = 0; k < points.size(); ++k)
    forces.push_back(frame_about(points[k].normal) * force.segment<3>(static_cast<Eigen::Index>(3 * k)));
  return forces;
}

}  // namespace tribo
