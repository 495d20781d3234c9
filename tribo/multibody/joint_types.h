// How each type of joint moves: one struct per type, chosen once per joint by with_joint(). The numbers of a joint are
// given by pointers to its first coordinate and its first dof.
//
//   reference    its coordinates at the body's described pose
//   integrate    q <- q (+) h v
//   difference   the v with from (+) v = to, angles at most pi
//   turn         rotation of the joint at q; waits for nothing but q. Types that turn.
//   place        moves the frame (orientation, point) of a body along, where `point` is the place of the anchor of the
//                last joint that turned, and writes what it can of its motion columns: 6 numbers per dof, linear at the
//                tree's origin, angular (multibody/kinematics.h). Types that do not float.
//   kFirstTurn   the first dof whose column turns: its linear part, angular x (origin - anchor), is known later
//   kStill       dofs whose columns stand still in the world; they are the world's axes
//
// Columns that are not still are fixed in a frame that moves: of one dof in the frame before the joint, of several in the
// frame after it. kStill + the others = dofs.
#pragma once

#include <cmath>

#include "tribo/multibody/joints.h"
#include "tribo/multibody/rotation.h"

namespace tribo {

// wxyz in memory; a quaternion of length zero stands for no rotation.
inline Quat unit_quaternion(const double* q) {
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(square > 0.0)) return Quat::Identity();
  const double scale = 1.0 / std::sqrt(square);
  return Quat(scale * q[0], scale * q[1], scale * q[2], scale * q[3]);
}

namespace detail {

inline Quat quaternion_at(const double* q) { return Quat(q[0], q[1], q[2], q[3]); }

inline void put_quaternion(const Quat& value, double* q) {
  q[0] = value.w();
  q[1] = value.x();
  q[2] = value.y();
  q[3] = value.z();
}

// q <- q exp(rotation), normalised.
inline void turn_quaternion(const Vec3& rotation, double* q) {
  put_quaternion((quaternion_at(q) * rotation_exp(rotation)).normalized(), q);
}

inline Vec3 turned(const double* from, const double* to) {
  return rotation_log(quaternion_at(from).conjugate() * quaternion_at(to));
}

// The angular parts of three columns.
inline Eigen::Map<Mat3, 0, Eigen::OuterStride<6>> angular_columns(double* columns) {
  return Eigen::Map<Mat3, 0, Eigen::OuterStride<6>>(columns + 3);
}

}  // namespace detail

struct FreeJoint {
  static constexpr const JointTraits& kTraits = traits_of(JointKind::free);
  static constexpr Index kFirstTurn = 3, kStill = 3;

  static void reference(const JointDescription&, const Vec3& position, const Quat& rotation, double* q) {
    Eigen::Map<Vec3>{q} = position;
    detail::put_quaternion(rotation, q + 3);
  }
  static void integrate(const double* v, double h, double* q) {
    for (int k = 0; k < 3; ++k) q[k] += h * v[k];
    detail::turn_quaternion(h * Vec3(v[3], v[4], v[5]), q + 3);
  }
  static void difference(const double* from, const double* to, double* v) {
    for (int k = 0; k < 3; ++k) v[k] = to[k] - from[k];
    Eigen::Map<Vec3>(v + 3) = detail::turned(from + 3, to + 3);
  }
};

struct BallJoint {
  static constexpr const JointTraits& kTraits = traits_of(JointKind::ball);
  static constexpr Index kFirstTurn = 0, kStill = 0;

  static void reference(const JointDescription&, const Vec3&, const Quat&, double* q) {
    detail::put_quaternion(Quat::Identity(), q);
  }
  static void integrate(const double* v, double h, double* q) {
    detail::turn_quaternion(h * Vec3(v[0], v[1], v[2]), q);
  }
  static void difference(const double* from, const double* to, double* v) {
    Eigen::Map<Vec3>{v} = detail::turned(from, to);
  }
  static Quat turn(const JointGeometry&, const double* q) { return unit_quaternion(q); }
  static void place(const JointGeometry&, const double*, const Quat& turn, Quat& orientation, Vec3&,
                    double* columns) {
    orientation = orientation * turn;
    detail::angular_columns(columns) = orientation.toRotationMatrix();
  }
};

// One coordinate.
struct ScalarJoint {
  static constexpr Index kStill = 0;

  static void reference(const JointDescription& joint, const Vec3&, const Quat&, double* q) {
    q[0] = joint.reference;
  }
  static void integrate(const double* v, double h, double* q) { q[0] += h * v[0]; }
  static void difference(const double* from, const double* to, double* v) { v[0] = to[0] - from[0]; }
};

struct HingeJoint : ScalarJoint {
  static constexpr const JointTraits& kTraits = traits_of(JointKind::hinge);
  static constexpr Index kFirstTurn = 0;

  static Quat turn(const JointGeometry& joint, const double* q) {
    const double angle = q[0] - joint.reference, sine = std::sin(0.5 * angle);
    return Quat(std::cos(0.5 * angle), sine * joint.axis.x(), sine * joint.axis.y(), sine * joint.axis.z());
  }
  // The axis is the same before and after the rotation about it.
  static void place(const JointGeometry& joint, const double*, const Quat& turn, Quat& orientation, Vec3&,
                    double* column) {
    orientation = orientation * turn;
    Eigen::Map<Vec3>(column + 3) = orientation * joint.axis;
  }
};

struct SlideJoint : ScalarJoint {
  static constexpr const JointTraits& kTraits = traits_of(JointKind::slide);
  static constexpr Index kFirstTurn = 1;

  static void place(const JointGeometry& joint, const double* q, const Quat&, Quat& orientation, Vec3& point,
                    double* column) {
    const Vec3 axis = orientation * joint.axis;
    point += (q[0] - joint.reference) * axis;
    Eigen::Map<Vec3>{column} = axis;
  }
};

// f(type), with an object of the struct that belongs to the kind.
template <class F>
inline void with_joint(JointKind kind, const F& f) {
  switch (kind) {
    case JointKind::free:
      return f(FreeJoint{});
    case JointKind::ball:
      return f(BallJoint{});
    case JointKind::hinge:
      return f(HingeJoint{});
    case JointKind::slide:
      return f(SlideJoint{});
  }
}

// The same of joints that stand in a chain, which a floating one never does.
template <class F>
inline void with_chained_joint(JointKind kind, const F& f) {
  with_joint(kind, [&](auto type) {
    if constexpr (!decltype(type)::kTraits.floating) f(type);
  });
}

}  // namespace tribo
