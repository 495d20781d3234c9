// A taut string between two points, around a sphere or a cylinder, or pulled against its inside.
//
// In the plane of the wrap (for a sphere that of its centre and the two points, for a cylinder across its axis) the
// string leaves a, touches the circle of radius r along an arc and goes on to b. From a point p at distance L > r the
// tangents touch at (r^2 p +- r sqrt(L^2 - r^2) p_perp) / L^2. On a cylinder the string is a helix: unrolled it is
// straight, so heights grow in proportion to the length in the plane.
// With a side point the string goes round the circle as the path from a over that point to b does, even where the straight
// line misses the circle: it is the shortest one that winds about the centre by the same angle. A side point inside
// the shape holds the string inside: it touches in the one point of the circle where both parts make the same angle
// with the radius, sin of which is z:  asin(z r / |a|) + asin(z r / |b|) - 2 asin(z) + angle(a, b) = 0.
// The rules are those of MuJoCo since its version 4.0.
#pragma once

#include <optional>

#include "tribo/math/pose.h"

namespace tribo::detail {

struct Wrap {
  Vec3 first, second;   // where the string meets and leaves the shape, m
  double length = 0.0;  // on the shape, m
};

// All in one frame. `shape`: centre, and z along the axis of a cylinder (endless). `side`: null if there is none.
// Nothing where the string is straight. Finite for all finite input.
std::optional<Wrap> wrap_around(const Vec3& a, const Vec3& b, const Pose& shape, double radius, bool cylinder,
                                const Vec3* side);

}  // namespace tribo::detail
