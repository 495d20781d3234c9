#include "tribo/collide/narrow/surface_clusters.h"

#include <algorithm>

#include "tribo/collide/narrow/manifold_reduction.h"
#include "tribo/collide/narrow/pair_scratch.h"

namespace tribo::detail {

namespace {

constexpr double same_direction = 0.99;  // cosine

// Sorted by depth, so that a point only has to look at those kept before it.
void drop_doubles(std::vector<ContactPoint>& points, double near) {
  std::sort(points.begin(), points.end(), [](const ContactPoint& x, const ContactPoint& y) {
    return x.gap < y.gap || (x.gap == y.gap && x.feature < y.feature);
  });
  std::size_t kept = 0;
  for (const ContactPoint& point : points) {
    const auto is_double = [&](const ContactPoint& other) {
      return (other.position - point.position).squaredNorm() < near * near &&
             other.normal.dot(point.normal) > same_direction;
    };
    if (std::any_of(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(kept), is_double)) continue;
    points[kept++] = point;
  }
  points.resize(kept);
}

}  // namespace

void cluster_points(const PairQuery& query, std::size_t begin, double near, Index limit) {
  std::vector<ContactPoint>& all = query.scratch.points;
  std::vector<Index>& cluster = query.scratch.cluster;
  all.assign(query.points.begin() + static_cast<std::ptrdiff_t>(begin), query.points.end());
  query.points.resize(begin);
  drop_doubles(all, near);
  cluster.assign(all.size(), -1);
  for (std::size_t seed = 0; seed < all.size(); ++seed) {
    if (cluster[seed] >= 0) continue;
    const std::size_t first = query.points.size();
    for (std::size_t k = seed; k < all.size(); ++k) {
      if (cluster[k] >= 0 || all[k].normal.dot(all[seed].normal) <= same_direction) continue;
      cluster[k] = static_cast<Index>(seed);
      query.points.push_back(all[k]);
    }
    reduce_manifold(query.points, first, limit, query.scratch.distances);
  }
  separate_features(query.points, begin);
}

void thin_out(const PairQuery& query, std::size_t begin, double near, Index limit) {
  reduce_manifold(query.points, begin, limit, query.scratch.distances, 4.0 * near);
  std::vector<ContactPoint>& all = query.scratch.points;
  all.assign(query.points.begin() + static_cast<std::ptrdiff_t>(begin), query.points.end());
  drop_doubles(all, near);
  query.points.resize(begin);
  query.points.insert(query.points.end(), all.begin(), all.end());
  separate_features(query.points, begin);
}

}  // namespace tribo::detail
