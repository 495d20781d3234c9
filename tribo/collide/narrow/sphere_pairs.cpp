// Balls and capsules (balls swept along a segment) against each other, against boxes and cylinders: nearest
// points in closed form.
#include "tribo/collide/narrow/sphere_pairs.h"

#include <algorithm>
#include <cmath>

namespace tribo::detail {

SurfaceDistance distance_from_box(const Vec3& half, const Vec3& p) {
  const Vec3 nearest = p.cwiseMax(-half).cwiseMin(half);
  const Vec3 d = p - nearest;
  const double square = d.squaredNorm();
  // Nearer than rounding resolves the direction of d: the face decides.
  const double tiny = 1e-10 * half.maxCoeff();
  if (square > tiny * tiny) {
    const double distance = std::sqrt(square);
    return {d / distance, distance};
  }
  int axis = 0;
  Vec3 depth = half - p.cwiseAbs();
  for (int k = 1; k < 3; ++k)
    if (depth[k] < depth[axis]) axis = k;
  Vec3 normal = Vec3::Zero();
  normal[axis] = p[axis] < 0.0 ? -1.0 : 1.0;
  return {normal, -depth[axis]};
}

// A rectangle in the half plane (distance from the axis, z).
SurfaceDistance distance_from_cylinder(double radius, double half, const Vec3& p) {
  const double rho = std::hypot(p.x(), p.y());
  const Vec3 outward = rho > 1e-12 * radius ? Vec3(p.x() / rho, p.y() / rho, 0.0) : Vec3::UnitX();
  const Vec3 along(0.0, 0.0, p.z() < 0.0 ? -1.0 : 1.0);
  const double over_rim = rho - radius, over_cap = std::abs(p.z()) - half;
  if (over_rim > 0.0 && over_cap > 0.0) {
    const double distance = std::hypot(over_rim, over_cap);
    return {(over_rim * outward + over_cap * along) / distance, distance};
  }
  if (over_cap > over_rim) return {along, over_cap};
  return {outward, over_rim};
}

namespace {

// Parameter in [-half, half] of the point of the segment (center, unit axis) nearest to p.
double nearest_on_segment(const Vec3& center, const Vec3& axis, double half, const Vec3& p) {
  return std::clamp(axis.dot(p - center), -half, half);
}

}  // namespace

void collide_sphere_sphere(const PairQuery& query) {
  query.add_balls(query.pose_a.position, query.a.radius(), query.pose_b.position, query.b.radius(), 0);
}

void collide_sphere_capsule(const PairQuery& query) {
  const Vec3 axis = query.pose_b.rotation.col(2);
  const double t =
      nearest_on_segment(query.pose_b.position, axis, query.b.half_length(), query.pose_a.position);
  const Vec3 q = query.pose_b.position + t * axis;
  Vec3 d = q - query.pose_a.position;
  if (d.squaredNorm() < 1e-24 * query.b.radius() * query.b.radius()) {
    // The centre lies on the axis: leave sideways.
    const double gap = -query.a.radius() - query.b.radius();
    const Vec3 normal = query.pose_b.rotation.col(0);
    query.add(query.pose_a.position + (query.a.radius() + 0.5 * gap) * normal, normal, gap, 0);
    return;
  }
  query.add_balls(query.pose_a.position, query.a.radius(), q, query.b.radius(), 0);
}

void collide_sphere_box(const PairQuery& query) {
  const Vec3 local = query.pose_b.to_local(query.pose_a.position);
  const double radius = query.a.radius(), reach = radius + query.margin;
  if ((local.cwiseAbs() - query.b.size()).maxCoeff() > reach) return;
  const SurfaceDistance nearest = distance_from_box(query.b.size(), local);
  const double gap = nearest.distance - radius;
  const Vec3 normal = -(query.pose_b.rotation * nearest.normal);
  query.add(query.pose_a.position + (radius + 0.5 * gap) * normal, normal, gap, 0);
}

void collide_sphere_cylinder(const PairQuery& query) {
  const Vec3 local = query.pose_b.to_local(query.pose_a.position);
  const auto nearest = distance_from_cylinder(query.b.radius(), query.b.half_length(), local);
  const double radius = query.a.radius(), gap = nearest.distance - radius;
  const Vec3 normal = -(query.pose_b.rotation * nearest.normal);
  query.add(query.pose_a.position + (radius + 0.5 * gap) * normal, normal, gap, 0);
}

namespace {

// Two segments p + s u (|s| <= half_p) and q + t v (|t| <= half_q).
struct SegmentPair {
  Vec3 p, u, q, v;
  double half_p, half_q;
  double cosine;  // u . v
};

// Parameters of the nearest points; parallel segments: the middle of the overlap.
std::pair<double, double> nearest_parameters(const SegmentPair& pair) {
  const Vec3 d = pair.q - pair.p;
  const double du = d.dot(pair.u), dv = d.dot(pair.v), c = pair.cosine;
  const double sine2 = 1.0 - c * c;
  double s = 0.0;
  if (sine2 > 1e-12) {
    s = std::clamp((du - c * dv) / sine2, -pair.half_p, pair.half_p);
  } else {
    const double lower = std::max(-pair.half_p, du - pair.half_q),
                 upper = std::min(pair.half_p, du + pair.half_q);
    s = std::clamp(0.5 * (lower + upper), -pair.half_p, pair.half_p);
  }
  const double t = std::clamp(c * s - dv, -pair.half_q, pair.half_q);
  s = std::clamp(c * t + du, -pair.half_p, pair.half_p);
  return {s, t};
}

// Axes that meet: the direction normal to both, or any sideways one if they are parallel.
void add_crossing(const PairQuery& query, const SegmentPair& pair, double s, double t) {
  Vec3 normal = pair.u.cross(pair.v);
  if (normal.squaredNorm() < 1e-16) normal = query.pose_a.rotation.col(0);
  normal.normalize();
  if (normal.dot(pair.q - pair.p) < 0.0) normal = -normal;
  const double gap = -query.a.radius() - query.b.radius();
  const Vec3 middle = 0.5 * (pair.p + s * pair.u + pair.q + t * pair.v);
  query.add(middle + 0.5 * (query.a.radius() - query.b.radius()) * normal, normal, gap, 0);
}

}  // namespace

// Crossing capsules touch in one point. Nearly parallel ones touch along a line: the two ends of the common part,
// and the nearest point where it is nearer than both.
void collide_capsule_capsule(const PairQuery& query) {
  SegmentPair pair{query.pose_a.position,
                   query.pose_a.rotation.col(2),
                   query.pose_b.position,
                   query.pose_b.rotation.col(2),
                   query.a.half_length(),
                   query.b.half_length(),
                   0.0};
  pair.cosine = pair.u.dot(pair.v);
  const double reach = query.a.radius() + query.b.radius() + query.margin;
  const auto [s, t] = nearest_parameters(pair);
  const Vec3 nearest = pair.q + t * pair.v - pair.p - s * pair.u;
  const double square = nearest.squaredNorm();
  if (square > reach * reach) return;
  if (square < 1e-24 * reach * reach) return add_crossing(query, pair, s, t);

  constexpr double nearly_parallel = 0.995;  // 5.7 degrees
  const double du = pair.u.dot(pair.q - pair.p), spread = std::abs(pair.cosine) * pair.half_q;
  const double lower = std::max(-pair.half_p, du - spread), upper = std::min(pair.half_p, du + spread);
  const bool line = std::abs(pair.cosine) > nearly_parallel && upper - lower > 1e-3 * reach;
  if (!line)
    return query.add_balls(pair.p + s * pair.u, query.a.radius(), pair.q + t * pair.v, query.b.radius(), 0);

  double end_distance2 = std::numeric_limits<double>::infinity();
  for (const int end : {0, 1}) {
    const Vec3 p = pair.p + (end == 0 ? lower : upper) * pair.u;
    const Vec3 q = pair.q + nearest_on_segment(pair.q, pair.v, pair.half_q, p) * pair.v;
    end_distance2 = std::min(end_distance2, (q - p).squaredNorm());
    query.add_balls(p, query.a.radius(), q, query.b.radius(), 1 + end);
  }
  if (square < end_distance2 * (1.0 - 1e-6))
    query.add_balls(pair.p + s * pair.u, query.a.radius(), pair.q + t * pair.v, query.b.radius(), 0);
}

}  // namespace tribo::detail
