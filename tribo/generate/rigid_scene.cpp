#include "tribo/generate/rigid_scene.h"

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <span>

#include "tribo/math/contact_frame.h"
#include "tribo/math/pose.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo::detail {

namespace {

using Mat36 = Eigen::Matrix<double, 3, 6>;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using Vec6 = Eigen::Matrix<double, 6, 1>;

// sign F [1, -[r]x]: the velocity of the body's point at r from its centre, in the frame F.
Mat36 point_jacobian(const Mat3& frame, const Vec3& r, double sign) {
  Mat36 jacobian;
  jacobian.leftCols<3>() = sign * frame;
  jacobian.rightCols<3>() = -jacobian.leftCols<3>() * cross_matrix(r);
  return jacobian;
}

}  // namespace

double geometric_mass(Index i, Index n, double ratio) {
  return n > 1 ? std::pow(ratio, static_cast<double>(i) / static_cast<double>(n - 1)) : 1.0;
}

Mat3 box_inertia(double mass, const Vec3& half_extents) {
  const Vec3 squares = half_extents.cwiseAbs2() * (mass / 3.0);
  return Vec3(squares.y() + squares.z(), squares.z() + squares.x(), squares.x() + squares.y()).asDiagonal();
}

Mat3 sphere_inertia(double mass, double radius) { return 0.4 * mass * radius * radius * Mat3::Identity(); }

Mat3 tube_inertia(double mass, double inner, double outer, double height) {
  const double axial = 0.5 * mass * (inner * inner + outer * outer);
  const double across = 0.5 * axial + mass * height * height / 12.0;
  return Vec3(across, across, axial).asDiagonal();
}

RigidScene::RigidScene(const GeneratorSettings& settings) : settings_(settings) {}

void RigidScene::reserve(Index bodies, Index constraints) {
  position_.reserve(bodies);
  builder_.reserve(bodies, constraints);
}

Index RigidScene::add_body(const RigidBody& body) {
  const double h = settings_.time_step;
  Mat6 mass = Mat6::Zero();
  mass.topLeftCorner<3, 3>().diagonal().setConstant(body.mass);
  mass.bottomRightCorner<3, 3>() = body.inertia;
  const Vec3 weight(0.0, 0.0, -body.mass * kGravity);
  const Vec3 spin_momentum = body.inertia * body.spin;
  Vec6 momentum;
  momentum << body.mass * body.velocity + h * (weight + body.force),
      spin_momentum + h * (body.torque - body.spin.cross(spin_momentum));
  position_.push_back(body.position);
  return builder_.add_tree(mass, momentum);
}

void RigidScene::add_contact(Index a, Index b, const Vec3& point, const Vec3& normal, double gap,
                             Index feature) {
  const Mat3 frame = contact_frame(normal);
  const Mat36 on_a = point_jacobian(frame, point - position_[a], 1.0);
  const Mat36 on_b = b == kGround ? Mat36::Zero() : point_jacobian(frame, point - position_[b], -1.0);
  builder_.add_body_contact(settings_.friction, a, on_a, b, on_b,
                            Vec3(0.0, 0.0, gap_bias(gap, settings_.time_step)),
                            Vec3::Constant(settings_.compliance), feature_key(a, b, feature));
}

void RigidScene::add_ball_joint(Index a, Index b, const Vec3& point, Index feature) {
  const Mat36 on_a = point_jacobian(Mat3::Identity(), point - position_[a], 1.0);
  const Mat36 on_b =
      b == kGround ? Mat36::Zero() : point_jacobian(Mat3::Identity(), point - position_[b], -1.0);
  for (Index axis = 0; axis < 3; ++axis) {
    const std::array<JacobianPiece, 2> pieces{{{a, on_a.row(axis)}, {b, on_b.row(axis)}}};
    builder_.add_bilateral(std::span(pieces).first(b == kGround ? 1 : 2), 0.0, 0.0,
                           feature_key(a, b, feature + axis));
  }
}

}  // namespace tribo::detail
