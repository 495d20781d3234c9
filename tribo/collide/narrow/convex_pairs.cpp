// Any two convex shapes: nearest points or depth of the cores, a normal made exact where a face, two edges or
// a smooth surface define it, then the facets that look at each other clipped against each other.
//
// The signed distance is the largest value over unit normals of s(n) = -max over a - b of n . w; so of two
// candidates for the normal the one with the larger s is right, and on smooth parts Newton's method on the sphere
//   (P H P + s P) delta = P grad s,   P = I - n n',  H = sum of the second derivatives of the support functions
// converges in two or three steps.
#include "tribo/collide/narrow/convex_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/collide/narrow/epa.h"
#include "tribo/collide/narrow/facets.h"
#include "tribo/collide/narrow/manifold_reduction.h"
#include "tribo/collide/narrow/pair_scratch.h"

namespace tribo::detail {

namespace {

// What is better by less than this fraction of the scale is rounding.
constexpr double noise = 1e-12;
constexpr double tie_fraction = 1e-7;  // a face wins against a general direction that is better by less
constexpr double first_look = 1e-2;    // of the scale: from there Newton's method finds the normal
constexpr double shallow = 1e-3;  // of the scale: depth at which the nearest way out is the only near one

// Direction of the edge of a polytope, or of the line of a cylinder's mantle, on which the nearest points lie.
bool active_edge(const ConvexCore& core, const Simplex& s, bool of_a, const Mat3& rotation, Vec3& direction) {
  if (core.kind == CoreKind::point || core.kind == CoreKind::ellipsoid) return false;
  const auto point = [&](int k) -> const Vec3& { return of_a ? s.points[k].a : s.points[k].b; };
  int other = -1;
  for (int k = 1; k < s.count; ++k) {
    const double apart = (point(k) - point(0)).squaredNorm();
    if (apart <= 1e-20 * core.scale * core.scale) continue;
    if (core.kind == CoreKind::cylinder) {
      const Vec3 axis = rotation.col(2);
      if (std::abs(axis.dot(point(k) - point(0))) < core.size.y()) continue;
      direction = axis;
      return true;
    }
    if (other >= 0 && (point(k) - point(other)).squaredNorm() > 1e-20 * core.scale * core.scale) return false;
    other = k;
  }
  if (other < 0 || core.kind == CoreKind::cylinder) return false;
  direction = (point(other) - point(0)).normalized();
  return true;
}

struct Candidate {
  Vec3 normal;
  double separation;
};

void improve(const CorePair& pair, const Vec3& normal, double slack, Candidate& best) {
  const double s = pair.separation(normal);
  if (s >= best.separation - slack) best = {normal, s};
}

// Newton's method on the unit sphere, within the normals orthogonal to `edge` if there is one.
void newton(const CorePair& pair, const Vec3* edge, Candidate& best) {
  Vec3 n = best.normal;
  if (edge != nullptr) n = (n - edge->dot(n) * *edge).normalized();
  for (int step = 0; step < 10; ++step) {
    const SupportPoint at = pair.support(n);
    const double s = -n.dot(at.w);
    if (s < best.separation - noise * (pair.a.scale + pair.b.scale)) return;
    best = {n, s};
    Vec3 t1, t2;
    if (edge != nullptr)
      t1 = edge->cross(n), t2.setZero();
    else
      tangents(n, t1, t2);
    const Mat3 h = pair.a.support_hessian(n) + pair.rotation *
                                                   pair.b.support_hessian(-(pair.rotation.transpose() * n)) *
                                                   pair.rotation.transpose();
    const double m11 = t1.dot(h * t1) + s, g1 = -t1.dot(at.w);
    Vec3 delta;
    if (edge != nullptr) {
      if (m11 <= 0.0) return;
      delta = (g1 / m11) * t1;
    } else {
      const double m12 = t1.dot(h * t2), m22 = t2.dot(h * t2) + s, g2 = -t2.dot(at.w);
      const double det = m11 * m22 - m12 * m12;
      if (m11 <= 0.0 || det <= 1e-14 * m11 * m22) return;
      delta = ((m22 * g1 - m12 * g2) / det) * t1 + ((m11 * g2 - m12 * g1) / det) * t2;
    }
    const double size = delta.norm();
    if (size < 1e-15 || !(size < 0.5)) return;
    n = (n + delta).normalized();
  }
}

// The exact normal near the one found.
void refine(const CorePair& pair, const Simplex& simplex, const Facet& facet_a, const Facet& facet_b,
            Candidate& best) {
  const bool polytopes = !pair.a.smooth() && !pair.b.smooth();
  // What the search reports bounds the distance of curved shapes from outside; the separation along its normal from
  // inside.
  if (!polytopes) best.separation = pair.separation(best.normal);
  const double scale = pair.a.scale + pair.b.scale, before = best.separation;
  const double slack = tie_fraction * std::min(pair.a.scale, pair.b.scale);
  for (const bool of_a : {true, false}) {
    const Facet& facet = of_a ? facet_a : facet_b;
    if (facet.count < 3) continue;
    const Vec3 normal = of_a ? facet.normal : Vec3(-(pair.rotation * facet.normal));
    if (normal.dot(best.normal) < 0.9) continue;
    const double s = pair.separation(normal);
    if (s < before - slack) continue;
    best = {normal, s};
    return;
  }
  Vec3 edge_a, edge_b;
  const bool has_a = active_edge(pair.a, simplex, true, Mat3::Identity(), edge_a);
  const bool has_b = active_edge(pair.b, simplex, false, pair.rotation, edge_b);
  if (has_a && has_b) {
    const Vec3 cross = edge_a.cross(edge_b);
    const double sine = cross.norm();
    if (sine > 1e-6)
      return improve(pair, (cross.dot(best.normal) < 0.0 ? -1.0 : 1.0) / sine * cross, noise * scale, best);
  }
  if (polytopes) return;
  Candidate polished = best;
  newton(pair, has_a ? &edge_a : has_b ? &edge_b : nullptr, polished);
  if (polished.separation >= best.separation) best = polished;
}

// An ellipsoid and what has a formula for its distance from a point.
bool can_be_proven(const CorePair& pair) {
  const auto simple = [](const ConvexCore& core) {
    return core.kind != CoreKind::hull && core.kind != CoreKind::triangle;
  };
  return (pair.a.kind == CoreKind::ellipsoid && simple(pair.b)) ||
         (pair.b.kind == CoreKind::ellipsoid && simple(pair.a));
}

// Signed distance of `p` from a point, segment, box or cylinder, and the point of its surface nearest to it.
double distance_from(const ConvexCore& core, const Vec3& p, Vec3& on) {
  const bool cylinder = core.kind == CoreKind::cylinder;
  if (!cylinder) {
    on = p.cwiseMax(-core.size).cwiseMin(core.size);
  } else {
    const double across = std::hypot(p.x(), p.y()),
                 factor = across > core.size.x() ? core.size.x() / across : 1.0;
    on = {factor * p.x(), factor * p.y(), std::clamp(p.z(), -core.size.y(), core.size.y())};
  }
  double distance = (p - on).norm();
  if (distance > 0.0 || core.scale == core.radius) return distance;  // points and segments have no inside
  if (cylinder) {
    const double across = std::hypot(p.x(), p.y());
    const double side = across - core.size.x(), cap = std::abs(p.z()) - core.size.y();
    distance = std::max(side, cap);
    if (cap >= side) {
      on.z() = std::copysign(core.size.y(), p.z());
    } else if (across == 0.0) {
      on.x() = core.size.x();  // on the axis every way out is as long
    } else {
      on.head<2>() *= core.size.x() / across;
    }
  } else {
    Index face = 0;
    distance = (p.cwiseAbs() - core.size).maxCoeff(&face);
    on[face] = std::copysign(core.size[face], p[face]);
  }
  return distance;
}

// Where one core is an ellipsoid a normal determines its point. Whether that one is as far from the other core, or as deep
// in it, as the separation along the normal says: bounds from both sides, whatever they were found by.
bool is_proven(const CorePair& pair, const Candidate& found, ConvexContact& contact) {
  const double scale = pair.a.scale + pair.b.scale;
  const SupportPoint at = pair.support(found.normal);
  contact.on_a = at.a, contact.on_b = at.b;
  if (pair.a.kind == CoreKind::ellipsoid && pair.b.kind == CoreKind::ellipsoid) {
    return found.separation > -shallow * std::min(pair.a.scale, pair.b.scale) &&
           (at.w + found.separation * found.normal).norm() <= noise * scale;
  }
  double distance = 0.0;
  if (pair.b.kind == CoreKind::ellipsoid) {
    distance = distance_from(pair.a, at.b, contact.on_a);
  } else {
    Vec3 on_b;
    distance = distance_from(pair.b, pair.rotation.transpose() * (at.a - pair.offset), on_b);
    contact.on_b = pair.offset + pair.rotation * on_b;
  }
  return distance <= found.separation + noise * scale;
}

// The contact along the normal found by the search.
void settle(const CorePair& pair, const Simplex& simplex, std::span<const Vec2> rim, Candidate& best,
            ConvexContact& contact) {
  core_facet(pair.a, best.normal, rim, contact.facet_a);
  core_facet(pair.b, -(pair.rotation.transpose() * best.normal), rim, contact.facet_b);
  refine(pair, simplex, contact.facet_a, contact.facet_b, best);
  contact.normal = best.normal;
  contact.separation = best.separation;
}

// Ellipsoids that all but touch take the search dozens of steps to the last digits; a rough normal takes few.
bool find_proven(const CorePair& pair, double reach, std::span<const Vec2> rim, ConvexContact& contact,
                 bool& far) {
  Simplex simplex;
  Vec3 nearest;
  const double slack = first_look * std::min(pair.a.scale, pair.b.scale);
  const GjkResult result = nearest_points(pair, reach, slack, simplex, nearest);
  far = result == GjkResult::far;
  if (result != GjkResult::separated) return false;
  Candidate best{-nearest.normalized(), nearest.norm()};
  settle(pair, simplex, rim, best, contact);
  if (!is_proven(pair, best, contact)) return false;
  core_facet(pair.a, best.normal, rim, contact.facet_a);
  core_facet(pair.b, -(pair.rotation.transpose() * best.normal), rim, contact.facet_b);
  return true;
}

}  // namespace

void set_normal(const CorePair& pair, const Vec3& normal, std::span<const Vec2> rim, ConvexContact& contact) {
  const SupportPoint at = pair.support(normal);
  contact.normal = normal;
  contact.separation = -normal.dot(at.w);
  contact.on_a = at.a;
  contact.on_b = at.b;
  core_facet(pair.a, normal, rim, contact.facet_a);
  core_facet(pair.b, -(pair.rotation.transpose() * normal), rim, contact.facet_b);
}

bool find_contact(const CorePair& pair, double margin, std::span<const Vec2> rim, ConvexContact& contact) {
  const double reach = margin + pair.a.radius + pair.b.radius;
  if (can_be_proven(pair)) {
    bool far = false;
    if (find_proven(pair, reach, rim, contact, far)) return contact.separation <= reach;
    if (far) return false;
  }
  Simplex simplex;
  Vec3 nearest;
  const GjkResult result = nearest_points(pair, reach, 0.0, simplex, nearest);
  if (result == GjkResult::far) return false;
  Candidate best;
  if (result == GjkResult::separated) {
    const double distance = nearest.norm();
    best.normal = -nearest / distance;
    best.separation = distance;
    if (distance > reach) return false;
  } else {
    const Penetration deep = penetration(pair, simplex);
    best = {deep.normal, -deep.depth};
    simplex = deep.witness;
  }
  contact.on_a = simplex.on_a();
  contact.on_b = simplex.on_b();
  settle(pair, simplex, rim, best, contact);
  if (pair.a.round() && pair.b.round()) {
    const SupportPoint at = pair.support(best.normal);
    contact.on_a = at.a, contact.on_b = at.b;
  }
  return best.separation <= reach;
}

void add_manifold(const PairQuery& query, const CorePair& pair, const Pose& frame, bool nearest,
                  ConvexContact& contact) {
  const double radii = pair.a.radius + pair.b.radius, shift = 0.5 * (pair.a.radius - pair.b.radius);
  place({pair.offset, pair.rotation}, contact.facet_b);
  const std::size_t begin = query.points.size();
  const double lowest =
      clip_facets(contact.facet_a, contact.facet_b, contact.normal, query.margin + radii, query.points);
  const double resolved = 1e-6 * std::min(pair.a.scale, pair.b.scale);
  if (nearest && lowest > contact.separation + resolved) {
    const Vec3 middle = 0.5 * (contact.on_a + contact.on_b);
    query.points.push_back({middle, contact.normal, contact.separation, feature_of_nearest});
  }
  reduce_manifold(query.points, begin, query.settings.max_points, query.scratch.distances);
  for (std::size_t k = begin; k < query.points.size(); ++k) {
    ContactPoint& point = query.points[k];
    point.position = frame * (point.position + shift * point.normal);
    point.normal = frame.rotation * point.normal;
    point.gap -= radii;
  }
}

void collide_convex(const PairQuery& query) {
  const ConvexCore core_a = core_of(query.a), core_b = core_of(query.b);
  const CorePair pair(core_a, query.pose_a, core_b, query.pose_b);
  ConvexContact contact;
  if (!find_contact(pair, query.margin, query.scratch.rim, contact)) return;
  add_manifold(query, pair, query.pose_a, true, contact);
}

}  // namespace tribo::detail
