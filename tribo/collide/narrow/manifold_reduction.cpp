#include "tribo/collide/narrow/manifold_reduction.h"

#include <algorithm>
#include <limits>

namespace tribo::detail {

namespace {

bool feature_order(const ContactPoint& x, const ContactPoint& y) {
  if (x.feature != y.feature) return x.feature < y.feature;
  return x.gap < y.gap;
}

}  // namespace

void reduce_manifold(std::vector<ContactPoint>& points, std::size_t begin, Index limit,
                     std::vector<double>& distances, double normal_length) {
  const std::size_t count = points.size() - begin;
  const auto keep = static_cast<std::size_t>(std::max<Index>(limit, 1));
  if (count <= keep) return;
  ContactPoint* p = points.data() + begin;
  distances.assign(count, std::numeric_limits<double>::infinity());

  std::size_t next = 0;
  for (std::size_t k = 1; k < count; ++k)
    if (p[k].gap < p[next].gap) next = k;
  for (std::size_t chosen = 0; chosen < keep; ++chosen) {  // the chosen ones gather in front
    std::swap(p[chosen], p[next]);
    std::swap(distances[chosen], distances[next]);
    next = chosen + 1;
    double best = -1.0;
    for (std::size_t k = chosen + 1; k < count; ++k) {
      const double apart2 = (p[k].position - p[chosen].position).squaredNorm();
      const double turned2 = (p[k].normal - p[chosen].normal).squaredNorm();
      distances[k] = std::min(distances[k], apart2 + normal_length * normal_length * turned2);
      // Equal distances (regular polygons): the lower feature, not the rounding, decides.
      const bool farther = distances[k] > best * (1.0 + 1e-9);
      const bool tied = distances[k] >= best * (1.0 - 1e-9) && p[k].feature < p[next].feature;
      if (!farther && !tied) continue;
      next = k;
      best = std::max(best, distances[k]);
    }
  }
  points.resize(begin + keep);
  std::sort(points.begin() + static_cast<std::ptrdiff_t>(begin), points.end(), feature_order);
}

void separate_features(std::vector<ContactPoint>& points, std::size_t begin) {
  std::sort(points.begin() + static_cast<std::ptrdiff_t>(begin), points.end(), feature_order);
  for (std::size_t k = begin + 1; k < points.size(); ++k)
    if (points[k].feature <= points[k - 1].feature) points[k].feature = points[k - 1].feature + 1;
}

}  // namespace tribo::detail
