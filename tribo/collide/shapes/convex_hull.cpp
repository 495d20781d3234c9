#include "tribo/collide/shapes/convex_hull.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tribo/base/errors.h"
#include "tribo/collide/shapes/quickhull.h"
#include "tribo/collide/shapes/volume_moments.h"

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

// Numbers the triangles by the plane they lie in: the largest triangle of a face collects its neighbours as long as
// their corners stay within the tolerance of its plane.
std::vector<Index> merge_coplanar(std::span<const Vec3> points,
                                  std::span<const detail::HullTriangle> triangles, double tolerance,
                                  std::vector<Vec3>& normals) {
  std::vector<std::pair<double, Index>> by_area;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const auto& v = triangles[t].vertices;
    const double area = (points[v[1]] - points[v[0]]).cross(points[v[2]] - points[v[0]]).norm();
    by_area.emplace_back(-area, static_cast<Index>(t));
  }
  std::sort(by_area.begin(), by_area.end());
  std::vector<Index> face(triangles.size(), -1), queue;
  for (const auto& [area, seed] : by_area) {
    if (face[seed] >= 0) continue;
    const auto number = static_cast<Index>(normals.size());
    const Vec3 normal = triangles[seed].normal;
    const double offset = normal.dot(points[triangles[seed].vertices[0]]);
    normals.push_back(normal);
    face[seed] = number;
    queue.assign(1, seed);
    for (std::size_t q = 0; q < queue.size(); ++q)
      for (const Index next : triangles[queue[q]].neighbours) {
        if (face[next] >= 0) continue;
        const auto flat = [&](Index v) { return std::abs(normal.dot(points[v]) - offset) <= tolerance; };
        const auto& v = triangles[next].vertices;
        if (!flat(v[0]) || !flat(v[1]) || !flat(v[2])) continue;
        face[next] = number;
        queue.push_back(next);
      }
  }
  return face;
}

// The outer edges of each face as a loop; empty if they are not exactly one (rounding).
std::vector<std::vector<Index>> outline_faces(std::span<const detail::HullTriangle> triangles,
                                              std::span<const Index> face, std::size_t faces) {
  std::vector<std::vector<std::pair<Index, Index>>> edges(faces);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (int e = 0; e < 3; ++e)
      if (face[triangles[t].neighbours[e]] != face[t])
        edges[face[t]].emplace_back(triangles[t].vertices[e], triangles[t].vertices[(e + 1) % 3]);
  std::vector<std::vector<Index>> loops(faces);
  for (std::size_t f = 0; f < faces; ++f) {
    auto& list = edges[f];
    std::sort(list.begin(), list.end());
    if (list.empty()) continue;
    Index v = list[0].first;
    for (std::size_t k = 0; k < list.size(); ++k) {
      loops[f].push_back(v);
      const auto next = std::lower_bound(list.begin(), list.end(), std::pair<Index, Index>(v, -1));
      if (next == list.end() || next->first != v) break;
      v = next->second;
    }
    if (v != list[0].first) loops[f].clear();
  }
  return loops;
}

}  // namespace

std::shared_ptr<const ConvexHull> ConvexHull::around(std::span<const Vec3> points) {
  if (points.size() < 4)
    throw InvalidInput(fmt::format("a convex hull needs 4 points, not {}", points.size()));
  Aabb box{points[0], points[0]};
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (!points[p].allFinite()) throw InvalidInput(fmt::format("point {} of a convex hull is not finite", p));
    box.lower = box.lower.cwiseMin(points[p]);
    box.upper = box.upper.cwiseMax(points[p]);
  }
  const double extent = (box.upper - box.lower).maxCoeff();
  const auto triangles = detail::quickhull(points, 1e-10 * extent);
  std::vector<Vec3> normals;
  // Files with single precision know their planes to about 1e-7.
  const auto face = merge_coplanar(points, triangles, 3e-7 * extent, normals);
  const auto loops = outline_faces(triangles, face, normals.size());

  // A vertex of only two faces lies within an edge.
  std::vector<Index> uses(points.size(), 0), number(points.size(), -1);
  for (const auto& loop : loops)
    for (const Index v : loop) ++uses[v];
  auto hull = std::make_shared<ConvexHull>();
  hull->face_starts_.push_back(0);
  for (std::size_t f = 0; f < loops.size(); ++f) {
    std::vector<Index> loop;
    for (const Index v : loops[f])
      if (uses[v] > 2) loop.push_back(v);
    if (loop.size() < 3) continue;
    double offset = -std::numeric_limits<double>::infinity();
    for (const Index v : loop) {
      if (number[v] < 0) {
        number[v] = static_cast<Index>(hull->vertices_.size());
        hull->vertices_.push_back(points[v]);
      }
      hull->face_vertices_.push_back(number[v]);
      offset = std::max(offset, normals[f].dot(points[v]));
    }
    hull->face_starts_.push_back(static_cast<Index>(hull->face_vertices_.size()));
    hull->face_normals_.push_back(normals[f]);
    hull->face_offsets_.push_back(offset);
  }
  hull->link();
  return hull;
}

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
