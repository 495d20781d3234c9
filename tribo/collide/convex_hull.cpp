#include "tribo/collide/convex_hull.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tribo/collide/volume_moments.h"

namespace tribo {

namespace {

constexpr std::size_t small_hull = 40;  // below, looking at every vertex beats climbing

// Groups (key, value) pairs by key, values ascending.
void group(std::vector<std::pair<Index, Index>>& pairs, Index keys, std::vector<Index>& starts,
           std::vector<Index>& values) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  starts.assign(keys + 1, 0);
  values.clear();
  for (const auto& [key, value] : pairs) {
    ++starts[key + 1];
    values.push_back(value);
  }
  for (Index k = 0; k < keys; ++k) starts[k + 1] += starts[k];
}

}  // namespace

// Neighbours, faces at vertices and bounds from the faces.
void ConvexHull::link() {
  std::vector<std::pair<Index, Index>> edges, corners;
  for (Index f = 0; f < face_count(); ++f) {
    const auto loop = face(f);
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const Index i = loop[k], j = loop[(k + 1) % loop.size()];
      edges.emplace_back(i, j);
      edges.emplace_back(j, i);
      corners.emplace_back(i, f);
    }
  }
  const auto count = static_cast<Index>(vertices_.size());
  group(edges, count, neighbour_starts_, neighbours_);
  group(corners, count, vertex_face_starts_, vertex_faces_);
  bounds_ = {Vec3::Constant(std::numeric_limits<double>::infinity()),
             Vec3::Constant(-std::numeric_limits<double>::infinity())};
  for (const Vec3& vertex : vertices_) {
    bounds_.lower = bounds_.lower.cwiseMin(vertex);
    bounds_.upper = bounds_.upper.cwiseMax(vertex);
  }
}

Index ConvexHull::support(const Vec3& direction, Index hint) const {
  if (vertices_.size() <= small_hull) {
    Index best = 0;
    double farthest = direction.dot(vertices_[0]);
    for (Index v = 1; v < static_cast<Index>(vertices_.size()); ++v) {
      const double along = direction.dot(vertices_[v]);
      if (along > farthest) farthest = along, best = v;
    }
    return best;
  }
  // On a convex body a local maximum is a global one; strict growth ends the climb. Ties between neighbours are
  // rounding: a plateau is an optimal face.
  Index best = hint;
  double farthest = direction.dot(vertices_[best]);
  for (bool climbing = true; climbing;) {
    climbing = false;
    for (const Index v : neighbours(best)) {
      const double along = direction.dot(vertices_[v]);
      if (along > farthest) farthest = along, best = v, climbing = true;
    }
  }
  return best;
}

VolumeMoments ConvexHull::moments() const {
  detail::SurfaceIntegral integral(0.5 * (bounds_.lower + bounds_.upper));
  for (Index f = 0; f < face_count(); ++f) {
    const auto loop = face(f);
    for (std::size_t k = 2; k < loop.size(); ++k)
      integral.add(vertices_[loop[0]], vertices_[loop[k - 1]], vertices_[loop[k]]);
  }
  return integral.moments();
}

}  // namespace tribo
