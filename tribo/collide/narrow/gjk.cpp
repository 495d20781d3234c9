// Each step adds the support point against the current nearest point v and keeps the part of the simplex that v
// lies on. The support gives the bound v.w / |v| <= distance <= |v|, so both the end and a distance beyond the reach
// are certain. Cost: one support per step; 3 to 8 steps for polytopes, 10 to 20 for smooth shapes.
#include "tribo/collide/narrow/gjk.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tribo::detail {

namespace {

constexpr int max_steps = 60;
constexpr double relative_tolerance = 1e-11;  // of the squared distance
constexpr double round_tolerance = 1e-4;      // where Newton's method finishes the work
constexpr double touching_distance = 1e-9;    // of the scale: below, the direction of v is rounding

using Weights = std::array<double, 4>;

struct Part {
  Vec3 nearest;
  double square = std::numeric_limits<double>::infinity();
  Weights weights{};  // zero: the point does not take part
};

void consider(Part& best, const Vec3& nearest, const Weights& weights) {
  const double square = nearest.squaredNorm();
  if (square < best.square) best = {nearest, square, weights};
}

void corner(const Simplex& s, int i, Part& best) {
  Weights weights{};
  weights[i] = 1.0;
  consider(best, s.points[i].w, weights);
}

void edge(const Simplex& s, int i, int j, Part& best) {
  const Vec3 &p = s.points[i].w, &q = s.points[j].w, d = q - p;
  const double length2 = d.squaredNorm(), along = -p.dot(d);
  if (along <= 0.0) return corner(s, i, best);
  if (along >= length2) return corner(s, j, best);
  const double t = along / length2;
  Weights weights{};
  weights[i] = 1.0 - t, weights[j] = t;
  consider(best, p + t * d, weights);
}

void triangle(const Simplex& s, int i, int j, int k, Part& best) {
  const Vec3 &p = s.points[i].w, &q = s.points[j].w, &r = s.points[k].w;
  const Vec3 u = q - p, v = r - p, normal = u.cross(v);
  const double area2 = normal.squaredNorm();
  // Barycentric coordinates of the origin's projection.
  const double bj = v.cross(p).dot(normal), bk = p.cross(u).dot(normal);
  const double bi = area2 - bj - bk;
  if (area2 > 1e-28 * u.squaredNorm() * v.squaredNorm() && bi > 0.0 && bj > 0.0 && bk > 0.0) {
    Weights weights{};
    weights[i] = bi / area2, weights[j] = bj / area2, weights[k] = bk / area2;
    return consider(best, (normal.dot(p) / area2) * normal, weights);
  }
  if (bk <= 0.0 || area2 == 0.0) edge(s, i, j, best);
  if (bi <= 0.0 || area2 == 0.0) edge(s, j, k, best);
  if (bj <= 0.0 || area2 == 0.0) edge(s, k, i, best);
  if (best.square == std::numeric_limits<double>::infinity()) {
    edge(s, i, j, best);
    edge(s, j, k, best);
    edge(s, k, i, best);
  }
}

// False: the origin is inside.
bool tetrahedron(const Simplex& s, Part& best) {
  static constexpr int faces[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
  bool outside = false;
  for (const auto& f : faces) {
    const Vec3& p = s.points[f[0]].w;
    const Vec3 normal = (s.points[f[1]].w - p).cross(s.points[f[2]].w - p);
    const double opposite = normal.dot(s.points[f[3]].w - p), origin = -normal.dot(p);
    const bool flat =
        opposite * opposite <= 1e-24 * normal.squaredNorm() * (s.points[f[3]].w - p).squaredNorm();
    if (!flat && opposite * origin >= 0.0) continue;
    outside = true;
    triangle(s, f[0], f[1], f[2], best);
  }
  return outside;
}

void keep_part(Simplex& s, const Part& part) {
  int kept = 0;
  for (int k = 0; k < s.count; ++k) {
    if (part.weights[k] <= 0.0) continue;
    if (kept != k) s.points[kept] = s.points[k];
    s.weights[kept++] = part.weights[k];
  }
  s.count = kept;
}

}  // namespace

Vec3 Simplex::on_a() const {
  Vec3 result = Vec3::Zero();
  for (int k = 0; k < count; ++k) result += weights[k] * points[k].a;
  return result;
}

Vec3 Simplex::on_b() const {
  Vec3 result = Vec3::Zero();
  for (int k = 0; k < count; ++k) result += weights[k] * points[k].b;
  return result;
}

GjkResult nearest_points(const CorePair& pair, double reach, double slack, Simplex& simplex, Vec3& nearest) {
  Vec3 towards = pair.offset + pair.rotation * pair.b.center() - pair.a.center();
  if (towards.squaredNorm() == 0.0) towards = Vec3::UnitZ();
  simplex.points[0] = pair.support(towards);
  simplex.weights[0] = 1.0;
  simplex.count = 1;
  nearest = simplex.points[0].w;
  const double tolerance = pair.a.round() && pair.b.round() ? round_tolerance : relative_tolerance;
  const double touching = touching_distance * (pair.a.scale + pair.b.scale);
  double square = nearest.squaredNorm();
  for (int step = 0; step < max_steps; ++step) {
    if (square <= touching * touching) return GjkResult::touching;
    const SupportPoint next = pair.support(-nearest);
    const double along = nearest.dot(next.w);
    if (along > 0.0 && along * along > reach * reach * square) return GjkResult::far;
    if (square - along <= std::max(tolerance * square, slack * std::sqrt(square)))
      return GjkResult::separated;
    for (int k = 0; k < simplex.count; ++k)
      if (simplex.points[k].w == next.w) return GjkResult::separated;
    simplex.points[simplex.count++] = next;
    Part part;
    if (simplex.count == 2)
      edge(simplex, 0, 1, part);
    else if (simplex.count == 3)
      triangle(simplex, 0, 1, 2, part);
    else if (!tetrahedron(simplex, part))
      return GjkResult::touching;
    // Rounding: no progress means the nearest point is found.
    if (!(part.square < square)) {
      --simplex.count;
      return GjkResult::separated;
    }
    keep_part(simplex, part);
    nearest = part.nearest;
    square = part.square;
  }
  return GjkResult::separated;
}

}  // namespace tribo::detail
