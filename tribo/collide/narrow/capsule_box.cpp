// A capsule against a box. In the box's frame the distance of a point of the segment p(t) = m + t u from the box is
//   d2(t) = sum_i max(0, |p_i(t)| - h_i)^2,
// convex and piecewise quadratic with at most six breaks, so its least value is found exactly. A segment that
// enters the box leaves by the best of the separating axes (3 faces, 3 products of an edge with the segment).
// Points: the two ends of the part of the segment beside the feature of the box it is nearest to (face, edge), and
// the nearest point where it is nearer than both.
#include "tribo/collide/narrow/capsule_box.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "tribo/collide/narrow/sphere_pairs.h"

namespace tribo::detail {

namespace {

// Segment m + t u, |t| <= half_length, in the frame of the box; u is a unit vector.
struct SegmentInBox {
  Vec3 half, m, u;
  double half_length;

  Vec3 at(double t) const { return m + t * u; }

  double slope(double t) const {  // of d2 / 2
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
      const double p = m[k] + t * u[k], over = std::abs(p) - half[k];
      if (over > 0.0) sum += (p < 0.0 ? -over : over) * u[k];
    }
    return sum;
  }
};

// Where the slope, which grows with t, passes zero; in the middle of the stretch where it is zero.
double nearest_parameter(const SegmentInBox& s) {
  std::array<double, 8> breaks{-s.half_length, s.half_length};
  int count = 2;
  for (int k = 0; k < 3; ++k) {
    if (std::abs(s.u[k]) < 1e-12) continue;
    for (const double side : {-1.0, 1.0}) {
      const double t = (side * s.half[k] - s.m[k]) / s.u[k];
      if (std::abs(t) < s.half_length) breaks[count++] = t;
    }
  }
  for (int k = 1; k < count; ++k)
    for (int i = k; i > 0 && breaks[i] < breaks[i - 1]; --i) std::swap(breaks[i], breaks[i - 1]);
  if (s.slope(breaks[0]) > 0.0) return breaks[0];
  if (s.slope(breaks[count - 1]) < 0.0) return breaks[count - 1];
  double before = s.slope(breaks[0]), zero_from = 0.0;
  bool zero = before == 0.0;
  if (zero) zero_from = breaks[0];
  for (int k = 1; k < count; ++k) {
    const double after = s.slope(breaks[k]);
    if (after == 0.0 && !zero) zero = true, zero_from = breaks[k];
    if (after > 0.0) {
      if (zero) return 0.5 * (zero_from + breaks[k - 1]);
      return breaks[k - 1] + (breaks[k] - breaks[k - 1]) * (before / (before - after));
    }
    before = after;
  }
  return 0.5 * (zero_from + breaks[count - 1]);
}

struct Parting {
  Vec3 normal;  // from the box to the segment
  double separation = -std::numeric_limits<double>::infinity();
  int face = -1;
};

// Axis of least overlap of the box and the segment that meet.
Parting best_parting(const SegmentInBox& s) {
  Parting best;
  for (int k = 0; k < 3; ++k) {
    const double separation = std::abs(s.m[k]) - s.half[k] - std::abs(s.u[k]) * s.half_length;
    if (separation <= best.separation) continue;
    best.separation = separation, best.face = k;
    best.normal = (s.m[k] < 0.0 ? -1.0 : 1.0) * Vec3::Unit(k);
  }
  for (int k = 0; k < 3; ++k) {
    Vec3 axis = Vec3::Unit(k).cross(s.u);
    const double length = axis.norm();
    if (length < 1e-3) continue;
    axis /= length;
    const double along = axis.dot(s.m);
    const double separation = std::abs(along) - axis.cwiseAbs().dot(s.half);
    if (separation <= best.separation + 1e-5 * s.half.minCoeff()) continue;
    best.separation = separation, best.face = -1;
    best.normal = along < 0.0 ? Vec3(-axis) : axis;
  }
  return best;
}

// The part of the segment between the sides of the box across the axes in `beside`.
bool clip_to_sides(const SegmentInBox& s, const std::array<bool, 3>& beside, double& from, double& to) {
  from = -s.half_length, to = s.half_length;
  for (int k = 0; k < 3; ++k) {
    if (!beside[k]) continue;
    if (std::abs(s.u[k]) < 1e-12) {
      if (std::abs(s.m[k]) > s.half[k]) return false;
      continue;
    }
    const double t0 = (-s.half[k] - s.m[k]) / s.u[k], t1 = (s.half[k] - s.m[k]) / s.u[k];
    from = std::max(from, std::min(t0, t1));
    to = std::min(to, std::max(t0, t1));
  }
  return from <= to;
}

// Contact of the ball of the capsule at t; `outward` and `distance` as seen from the box.
void add_ball(const PairQuery& query, const SegmentInBox& s, double t, const Vec3& outward, double distance,
              std::uint32_t feature) {
  const double radius = query.a.radius(), gap = distance - radius;
  if (gap > query.margin) return;
  const Vec3 normal = -(query.pose_b.rotation * outward);
  query.points.push_back({query.pose_b * s.at(t) + (radius + 0.5 * gap) * normal, normal, gap, feature});
}

void add_overlapping(const PairQuery& query, const SegmentInBox& s, double nearest) {
  const Parting parting = best_parting(s);
  if (parting.face < 0) return add_ball(query, s, nearest, parting.normal, parting.separation, 0);
  std::array<bool, 3> beside{true, true, true};
  beside[parting.face] = false;
  double from = nearest, to = nearest;
  clip_to_sides(s, beside, from, to);
  const auto height = [&](double t) { return parting.normal.dot(s.at(t)) - s.half[parting.face]; };
  add_ball(query, s, from, parting.normal, height(from), 1);
  if (to - from > 1e-3 * query.a.radius()) add_ball(query, s, to, parting.normal, height(to), 2);
}

}  // namespace

void collide_capsule_box(const PairQuery& query) {
  SegmentInBox s{query.b.size(), query.pose_b.to_local(query.pose_a.position),
                 query.pose_b.rotation.transpose() * query.pose_a.rotation.col(2), query.a.half_length()};
  const double reach = query.a.radius() + query.margin;
  const Vec3 far = s.m.cwiseAbs() - s.half - s.half_length * s.u.cwiseAbs();
  if (far.maxCoeff() > reach) return;
  const double t = nearest_parameter(s);
  const SurfaceDistance nearest = distance_from_box(s.half, s.at(t));
  if (nearest.distance > reach) return;
  if (nearest.distance <= 0.0) return add_overlapping(query, s, t);

  std::array<bool, 3> beside{};
  for (int k = 0; k < 3; ++k) beside[k] = std::abs(nearest.normal[k]) < 0.05;
  double from, to;
  double ends = std::numeric_limits<double>::infinity();
  if (clip_to_sides(s, beside, from, to) && to - from > 1e-3 * query.a.radius()) {
    const SurfaceDistance first = distance_from_box(s.half, s.at(from)),
                          second = distance_from_box(s.half, s.at(to));
    add_ball(query, s, from, first.normal, first.distance, 1);
    add_ball(query, s, to, second.normal, second.distance, 2);
    ends = std::min(first.distance, second.distance);
  }
  if (nearest.distance < ends - 1e-6 * query.a.radius())
    add_ball(query, s, t, nearest.normal, nearest.distance, 0);
}

}  // namespace tribo::detail
