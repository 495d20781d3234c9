// A right-handed orthonormal frame about a normal. Duff et al., "Building an Orthonormal Basis, Revisited", JCGT 2017.
#pragma once

#include <cmath>

#include "tribo/base/types.h"

namespace tribo {

// Rows t1, t2, n for a unit vector n: takes world vectors to components in the frame. Continuous but at n = (0, 0, -0);
// the identity for n = (0, 0, 1).
inline Mat3 contact_frame(const Vec3& n) {
  const double sign = std::copysign(1.0, n.z());
  const double a = -1.0 / (sign + n.z()), b = n.x() * n.y() * a;
  Mat3 frame;
  frame.row(0) << 1.0 + sign * n.x() * n.x() * a, sign * b, -sign * n.x();
  frame.row(1) << b, sign + n.y() * n.y() * a, -n.y();
  frame.row(2) = n.transpose();
  return frame;
}

}  // namespace tribo
