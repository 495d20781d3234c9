// Two boxes by the separating-axis test over the 15 axes (3 + 3 face normals, 9 products of edges), then clipping
// of the two faces that look at each other along the best axis.
//
// The separation along a unit axis n is s(n) = |n . d| - reach_a(n) - reach_b(n); the largest one is the distance
// of overlapping boxes (negative: depth) and of boxes whose nearest features are face-corner or edge-edge. Faces
// of a win ties, then faces of b, so that resting boxes keep their normal.
#include <cmath>
#include <limits>

#include "tribo/collide/clipping.h"
#include "tribo/collide/facets.h"
#include "tribo/collide/pair_query.h"

namespace tribo::detail {

namespace {

constexpr double tie_fraction = 1e-5;    // of the smallest half extent
constexpr double parallel_sine2 = 1e-6;  // edges within 1e-3 rad count as parallel: faces decide

struct BoxPair {
  Vec3 half_a, half_b;
  Mat3 r, abs_r;  // axes of b in the frame of a
  Vec3 d;         // centre of b in the frame of a
};

struct BestAxis {
  double separation = -std::numeric_limits<double>::infinity();
  Vec3 normal = Vec3::UnitZ();  // in the frame of a, towards b
  int edge_a = -1, edge_b = -1;
};

// False: farther apart than the margin.
bool best_axis(const BoxPair& pair, double margin, BestAxis& best) {
  const double tie = tie_fraction * std::min(pair.half_a.minCoeff(), pair.half_b.minCoeff());
  const Vec3 reach_b = pair.abs_r * pair.half_b, reach_a = pair.abs_r.transpose() * pair.half_a;
  const Vec3 d_in_b = pair.r.transpose() * pair.d;
  int face = 0;
  for (int i = 0; i < 3; ++i) {
    const double s = std::abs(pair.d[i]) - pair.half_a[i] - reach_b[i];
    if (s > margin) return false;
    if (s > best.separation) best.separation = s, face = i;
  }
  for (int j = 0; j < 3; ++j) {
    const double s = std::abs(d_in_b[j]) - pair.half_b[j] - reach_a[j];
    if (s > margin) return false;
    if (s > best.separation + (face < 3 ? tie : 0.0)) best.separation = s, face = 3 + j;
  }
  if (face < 3)
    best.normal = (pair.d[face] < 0.0 ? -1.0 : 1.0) * Vec3::Unit(face);
  else
    best.normal = (d_in_b[face - 3] < 0.0 ? -1.0 : 1.0) * pair.r.col(face - 3);
  double bias = tie;  // an edge has to beat the faces clearly
  for (int i = 0; i < 3; ++i) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (int j = 0; j < 3; ++j) {
      const double sine2 = 1.0 - pair.r(i, j) * pair.r(i, j);
      if (sine2 < parallel_sine2) continue;
      const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      const double along = pair.d[i2] * pair.r(i1, j) - pair.d[i1] * pair.r(i2, j);
      const double reach = pair.half_a[i1] * pair.abs_r(i2, j) + pair.half_a[i2] * pair.abs_r(i1, j) +
                           pair.half_b[j1] * pair.abs_r(i, j2) + pair.half_b[j2] * pair.abs_r(i, j1);
      const double over = std::abs(along) - reach;
      // A bound without the root: s = over / sine.
      const double least = best.separation + bias;
      if (over < 0.0 && least < 0.0 && over * over >= least * least * sine2) continue;
      if (over < 0.0 && least >= 0.0) continue;
      const double sine = std::sqrt(sine2), s = over / sine;
      if (s > margin) return false;
      if (s <= least) continue;
      bias = 0.0;
      best.separation = s;
      best.edge_a = i, best.edge_b = j;
      Vec3 normal = Vec3::Zero();
      normal[i1] = -pair.r(i2, j) / sine, normal[i2] = pair.r(i1, j) / sine;
      best.normal = along < 0.0 ? Vec3(-normal) : normal;
    }
  }
  return true;
}

// Nearest points of the two edges of the best axis.
void add_edge_point(const PairQuery& query, const Vec3& normal, const BestAxis& best) {
  const Mat3 &ra = query.pose_a.rotation, &rb = query.pose_b.rotation;
  Vec3 p = query.pose_a.position, q = query.pose_b.position;
  std::uint32_t corner_a = 0, corner_b = 0;
  for (int k = 0; k < 3; ++k) {
    if (k != best.edge_a) {
      const bool positive = ra.col(k).dot(normal) > 0.0;
      p += (positive ? 1.0 : -1.0) * query.a.size()[k] * ra.col(k);
      corner_a |= positive ? 1u << k : 0u;
    }
    if (k != best.edge_b) {
      const bool positive = rb.col(k).dot(normal) < 0.0;
      q += (positive ? 1.0 : -1.0) * query.b.size()[k] * rb.col(k);
      corner_b |= positive ? 1u << k : 0u;
    }
  }
  const Vec3 u = ra.col(best.edge_a), v = rb.col(best.edge_b), d = q - p;
  const double c = u.dot(v), s = (u.dot(d) - c * v.dot(d)) / (1.0 - c * c);
  const Vec3 on_a = p + s * u;
  const std::uint32_t feature = 3u << 30 | 1u << 29 | static_cast<std::uint32_t>(best.edge_a) << 20 |
                                corner_a << 15 | static_cast<std::uint32_t>(best.edge_b) << 5 | corner_b;
  query.add(on_a + 0.5 * best.separation * normal, normal, best.separation, feature);
}

}  // namespace

void collide_box_box(const PairQuery& query) {
  BoxPair pair{query.a.size(), query.b.size(), {}, {}, {}};
  pair.d = query.pose_a.to_local(query.pose_b.position);
  // Far apart by their balls: most pairs the broad phase lets through.
  const double reach = pair.half_a.norm() + pair.half_b.norm() + query.margin;
  if (pair.d.squaredNorm() > reach * reach) return;
  pair.r = query.pose_a.rotation.transpose() * query.pose_b.rotation;
  pair.abs_r = pair.r.cwiseAbs();
  BestAxis best;
  if (!best_axis(pair, query.margin, best)) return;

  const Vec3 normal = query.pose_a.rotation * best.normal;
  Facet facet_a, facet_b;
  box_facet(pair.half_a, query.pose_a, normal, facet_a);
  box_facet(pair.half_b, query.pose_b, -normal, facet_b);
  const double lowest = clip_facets(facet_a, facet_b, normal, query.margin, query.points);
  if (best.edge_a >= 0) {
    const double resolved = 1e-6 * std::min(pair.half_a.minCoeff(), pair.half_b.minCoeff());
    if (lowest > best.separation + resolved) add_edge_point(query, normal, best);
  }
}

}  // namespace tribo::detail
