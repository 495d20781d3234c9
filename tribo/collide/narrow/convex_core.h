// Convex shapes as the general algorithms see them: a core given by its support function, rounded by a radius
// (sphere = point, capsule = segment), and two of them in the frame of the first.
#pragma once

#include <array>
#include <cmath>
#include <span>

#include "tribo/collide/narrow/clipping.h"
#include "tribo/collide/shape.h"
#include "tribo/collide/shapes/convex_hull.h"

namespace tribo::detail {

enum class CoreKind : std::uint8_t { point, segment, box, cylinder, ellipsoid, hull, triangle };

struct ConvexCore {
  CoreKind kind = CoreKind::point;
  Vec3 size = Vec3::Zero();  // segment: half length in z; cylinder: radius, half height; else as the shape
  double radius = 0.0;       // of the rounding
  double scale = 0.0;        // m, the smallest half extent: what counts as small
  const ConvexHull* hull = nullptr;
  std::array<Vec3, 3> corners;  // of a triangle
  mutable Index hint = 0;       // last support vertex of the hull

  // Without any edge or face.
  bool round() const { return kind == CoreKind::point || kind == CoreKind::ellipsoid; }
  // Curved somewhere.
  bool smooth() const { return kind == CoreKind::cylinder || kind == CoreKind::ellipsoid; }
  Vec3 center() const;
  // A point of the core farthest along the direction (any length but zero).
  Vec3 support(const Vec3& direction) const;
  // Second derivative of the support function at a unit direction; zero for polytopes.
  Mat3 support_hessian(const Vec3& direction) const;
};

ConvexCore core_of(const Shape& shape);
ConvexCore core_of(const std::array<Vec3, 3>& triangle);

struct SupportPoint {
  Vec3 w, a, b;  // w = a - b
};

// Everything in the frame of a.
struct CorePair {
  const ConvexCore &a, &b;
  Mat3 rotation;  // of b
  Vec3 offset;    // of b

  CorePair(const ConvexCore& core_a, const Pose& pose_a, const ConvexCore& core_b, const Pose& pose_b)
      : a(core_a),
        b(core_b),
        rotation(pose_a.rotation.transpose() * pose_b.rotation),
        offset(pose_a.to_local(pose_b.position)) {}

  // The point of the difference a - b farthest along the direction.
  SupportPoint support(const Vec3& direction) const {
    SupportPoint point;
    point.a = a.support(direction);
    point.b = offset + rotation * b.support(-(rotation.transpose() * direction));
    point.w = point.a - point.b;
    return point;
  }
  // Signed distance of the cores along a unit normal (from a to b).
  double separation(const Vec3& normal) const { return -normal.dot(support(normal).w); }
};

// The face, line or corner of the core that looks into the direction (both in the core's frame). `rim`: points of the
// unit circle that stand for the rim of a cylinder.
void core_facet(const ConvexCore& core, const Vec3& direction, std::span<const Vec2> rim, Facet& facet);

}  // namespace tribo::detail
