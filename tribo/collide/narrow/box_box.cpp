// Two boxes by the separating-axis test over the 15 axes (3 + 3 face normals, 9 products of edges), then clipping
// of the two faces that look at each other along the best axis.
//
// The separation along a unit axis n is s(n) = |n . d| - reach_a(n) - reach_b(n); the largest one is the distance
// of overlapping boxes (negative: depth) and of boxes whose nearest features are face-corner or edge-edge. Faces
// of a win ties, then faces of b, so that resting boxes keep their normal.
#include "tribo/collide/narrow/box_box.h"

#include <cmath>
#include <limits>

#include "tribo/collide/narrow/clipping.h"
#include "tribo/collide/narrow/convex_pairs.h"
#include "tribo/collide/narrow/facets.h"

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
      Vec3 normal = Vec3::Zero();
      normal[i1] = -pair.r(i2, j) / sine, normal[i2] = pair.r(i1, j) / sine;
      best.normal = along < 0.0 ? Vec3(-normal) : normal;
    }
  }
  return true;
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

  Facet facet_a, facet_b;
  box_facet(pair.half_a, Pose{}, best.normal, facet_a);
  box_facet(pair.half_b, {pair.d, pair.r}, -(pair.r.transpose() * best.normal), facet_b);
  const std::size_t begin = query.points.size();
  const double lowest = clip_facets(facet_a, facet_b, best.normal, query.margin, query.points);
  // Nothing common at the height of the axis: corner against corner or edge, apart, where the distance is larger
  // than any of the axes tells.
  if (lowest >
      best.separation + 3.0 * tie_fraction * std::min(pair.half_a.minCoeff(), pair.half_b.minCoeff())) {
    query.points.resize(begin);
    return collide_convex(query);
  }
  const Vec3 normal = query.pose_a.rotation * best.normal;
  for (std::size_t k = begin; k < query.points.size(); ++k) {
    query.points[k].position = query.pose_a * query.points[k].position;
    query.points[k].normal = normal;
  }
}

}  // namespace tribo::detail
