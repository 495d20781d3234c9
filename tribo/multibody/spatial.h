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

// The kernels take six numbers each and work on them one by one: 3-vectors packed two by two cost more in moving
// than they save.

// rate += d/dt of a motion vector fixed in a frame that moves with `by`.
inline void add_cross_motion(const double* by, const double* motion, double* rate) {
  const double v0 = by[0], v1 = by[1], v2 = by[2], w0 = by[3], w1 = by[4], w2 = by[5];
  const double a0 = motion[0], a1 = motion[1], a2 = motion[2], b0 = motion[3], b1 = motion[4], b2 = motion[5];
  rate[0] += (w1 * a2 - w2 * a1) + (v1 * b2 - v2 * b1);
  rate[1] += (w2 * a0 - w0 * a2) + (v2 * b0 - v0 * b2);
  rate[2] += (w0 * a1 - w1 * a0) + (v0 * b1 - v1 * b0);
  rate[3] += w1 * b2 - w2 * b1;
  rate[4] += w2 * b0 - w0 * b2;
  rate[5] += w0 * b1 - w1 * b0;
}

// rate += d/dt of a force vector fixed in a frame that moves with `by`.
inline void add_cross_force(const double* by, const double* force, double* rate) {
  const double v0 = by[0], v1 = by[1], v2 = by[2], w0 = by[3], w1 = by[4], w2 = by[5];
  const double f0 = force[0], f1 = force[1], f2 = force[2], n0 = force[3], n1 = force[4], n2 = force[5];
  rate[0] += w1 * f2 - w2 * f1;
  rate[1] += w2 * f0 - w0 * f2;
  rate[2] += w0 * f1 - w1 * f0;
  rate[3] += (w1 * n2 - w2 * n1) + (v1 * f2 - v2 * f1);
  rate[4] += (w2 * n0 - w0 * n2) + (v2 * f0 - v0 * f2);
  rate[5] += (w0 * n1 - w1 * n0) + (v0 * f1 - v1 * f0);
}

inline double dot6(const double* a, const double* b) {
  return ((a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])) + (a[4] * b[4] + a[5] * b[5]);
}

struct SpatialInertia {
  double mass = 0.0;
  double hx = 0.0, hy = 0.0, hz = 0.0;
  double xx = 0.0, yy = 0.0, zz = 0.0, xy = 0.0, xz = 0.0, yz = 0.0;

  // A rigid inertia given in a frame with the given pose, about `origin`, in world axes.
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

  // force = I motion, six numbers each.
  void apply(const double* motion, double* force) const {
    const double v0 = motion[0], v1 = motion[1], v2 = motion[2], w0 = motion[3], w1 = motion[4],
                 w2 = motion[5];
    force[0] = mass * v0 + w1 * hz - w2 * hy;
    force[1] = mass * v1 + w2 * hx - w0 * hz;
    force[2] = mass * v2 + w0 * hy - w1 * hx;
    force[3] = xx * w0 + xy * w1 + xz * w2 + hy * v2 - hz * v1;
    force[4] = xy * w0 + yy * w1 + yz * w2 + hz * v0 - hx * v2;
    force[5] = xz * w0 + yz * w1 + zz * w2 + hx * v1 - hy * v0;
  }
};

}  // namespace tribo
