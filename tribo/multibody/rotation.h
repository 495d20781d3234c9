// Exponential and logarithm of rotations as unit quaternions: exp(w) turns by |w| about w. Both are exact to
// rounding for all angles, the smallest included.
//
// Example
//   Quat q = rotation_exp(Vec3(0, 0, 0.1));     // 0.1 rad about z
//   Vec3 w = rotation_log(q);                   // (0, 0, 0.1)
#pragma once

#include <cmath>

#include "tribo/math/pose.h"

namespace tribo {

inline Quat rotation_exp(const Vec3& w) {
  const double square = w.squaredNorm();
  if (square < 1e-8) {  // the first term left out of sin(x/2)/x is x^6 / 645120 < 1e-29
    const double scale = 0.5 - square * (1.0 / 48.0 - square / 3840.0);
    return Quat(1.0 - square * (1.0 / 8.0 - square / 384.0), scale * w.x(), scale * w.y(), scale * w.z());
  }
  const double angle = std::sqrt(square);
  const double scale = std::sin(0.5 * angle) / angle;
  return Quat(std::cos(0.5 * angle), scale * w.x(), scale * w.y(), scale * w.z());
}

// Of the two rotation vectors of q and -q the one of angle at most pi.
inline Vec3 rotation_log(const Quat& q) {
  const double sine = q.vec().norm();
  const double sign = q.w() < 0.0 ? -1.0 : 1.0;
  if (sine < 1e-150) return (2.0 * sign) * q.vec();
  return (2.0 * sign * std::atan2(sine, sign * q.w()) / sine) * q.vec();
}

}  // namespace tribo
