// Spatial vectors at one common point, world axes, linear part first, and rigid inertias by their ten parameters.
//
//   motion V = (v, w)       velocity of the body's point at the origin, angular velocity
//   force  F = (f, n)       force, moment about the origin
//   I V = (m v + w x h, h x v + J w),  h = m c: first moment, J: second moments about the origin (6 numbers)
//
// Ten numbers add up faster than a full 6 x 6 matrix and take a quarter of the memory.
#pragma once

#include "tribo/math/pose.h"
#include "tribo/multibody/model.h"

namespace tribo {

// d/dt of a motion vector fixed in a frame that moves with `by`.
inline Vec6 cross_motion(const Vec6& by, const Vec6& motion) {
  const Vec3 v = by.head<3>(), w = by.tail<3>(), a = motion.head<3>(), b = motion.tail<3>();
  Vec6 rate;
  rate.head<3>() = w.cross(a) + v.cross(b);
  rate.tail<3>() = w.cross(b);
  return rate;
}

// d/dt of a force vector fixed in a frame that moves with `by`.
inline Vec6 cross_force(const Vec6& by, const Vec6& force) {
  const Vec3 v = by.head<3>(), w = by.tail<3>(), f = force.head<3>(), n = force.tail<3>();
  Vec6 rate;
  rate.head<3>() = w.cross(f);
  rate.tail<3>() = w.cross(n) + v.cross(f);
  return rate;
}

struct SpatialInertia {
  double mass = 0.0;
  double hx = 0.0, hy = 0.0, hz = 0.0;
  double xx = 0.0, yy = 0.0, zz = 0.0, xy = 0.0, xz = 0.0, yz = 0.0;

  // `rotational` is taken about the centre of mass at `rotation * inertia.center` plus `offset` from the origin.
  static SpatialInertia of(const RigidInertia& inertia, const Pose& pose, const Vec3& origin) {
    const Vec3 c = pose * inertia.center - origin;
    const Mat3 half = pose.rotation * inertia.rotational;
    const Mat3& r = pose.rotation;
    const double m = inertia.mass;
    const auto entry = [&](int i, int k) {
      return half(i, 0) * r(k, 0) + half(i, 1) * r(k, 1) + half(i, 2) * r(k, 2);
    };
    return {m,
            m * c.x(),
            m * c.y(),
            m * c.z(),
            entry(0, 0) + m * (c.y() * c.y() + c.z() * c.z()),
            entry(1, 1) + m * (c.x() * c.x() + c.z() * c.z()),
            entry(2, 2) + m * (c.x() * c.x() + c.y() * c.y()),
            entry(0, 1) - m * c.x() * c.y(),
            entry(0, 2) - m * c.x() * c.z(),
            entry(1, 2) - m * c.y() * c.z()};
  }

  SpatialInertia& operator+=(const SpatialInertia& o) {
    mass += o.mass;
    hx += o.hx;
    hy += o.hy;
    hz += o.hz;
    xx += o.xx;
    yy += o.yy;
    zz += o.zz;
    xy += o.xy;
    xz += o.xz;
    yz += o.yz;
    return *this;
  }

  Vec6 operator*(const Vec6& motion) const {
    const double v0 = motion[0], v1 = motion[1], v2 = motion[2], w0 = motion[3], w1 = motion[4],
                 w2 = motion[5];
    Vec6 force;
    force << mass * v0 + w1 * hz - w2 * hy, mass * v1 + w2 * hx - w0 * hz, mass * v2 + w0 * hy - w1 * hx,
        xx * w0 + xy * w1 + xz * w2 + hy * v2 - hz * v1, xy * w0 + yy * w1 + yz * w2 + hz * v0 - hx * v2,
        xz * w0 + yz * w1 + zz * w2 + hx * v1 - hy * v0;
    return force;
  }
};

}  // namespace tribo
