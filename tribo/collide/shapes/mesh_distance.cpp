#include "tribo/collide/shapes/mesh_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tribo::detail {

namespace {

// Weights of the corners at the point of the triangle nearest to p.
Vec3 nearest_weights(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& p) {
  const Vec3 ab = b - a, ac = c - a, normal = ab.cross(ac);
  const double area2 = normal.squaredNorm();
  const double wb = (p - a).cross(ac).dot(normal) / area2, wc = ab.cross(p - a).dot(normal) / area2;
  if (wb >= 0.0 && wc >= 0.0 && wb + wc <= 1.0) return {1.0 - wb - wc, wb, wc};
  Vec3 best = Vec3::UnitX();
  double nearest = std::numeric_limits<double>::infinity();
  const std::array<const Vec3*, 3> corners{&a, &b, &c};
  for (int k = 0; k < 3; ++k) {
    const Vec3 &from = *corners[k], d = *corners[(k + 1) % 3] - from;
    const double t = std::clamp(d.dot(p - from) / d.squaredNorm(), 0.0, 1.0);
    const double distance = (from + t * d - p).squaredNorm();
    if (distance >= nearest) continue;
    nearest = distance;
    best.setZero();
    best[k] = 1.0 - t, best[(k + 1) % 3] = t;
  }
  return best;
}

}  // namespace

MeshDistance::MeshDistance(const TriangleMesh& mesh) : mesh_(mesh) {
  const auto& vertices = mesh.vertices();
  same_ = detail::first_at_same_place(vertices);
  vertex_normals_.assign(vertices.size(), Vec3::Zero());
  for (std::size_t t = 0; t < mesh.triangles().size(); ++t)
    for (int k = 0; k < 3; ++k) {
      const auto& v = mesh.triangles()[t];
      const Vec3 u = (vertices[v[(k + 1) % 3]] - vertices[v[k]]).normalized();
      const Vec3 w = (vertices[v[(k + 2) % 3]] - vertices[v[k]]).normalized();
      vertex_normals_[same_[v[k]]] +=
          std::acos(std::clamp(u.dot(w), -1.0, 1.0)) * mesh.normal(static_cast<Index>(t));
    }
}

double MeshDistance::signed_distance(const Vec3& p) const {
  const Vec3 size = mesh_.bounds().upper - mesh_.bounds().lower;
  const Vec3 outside = (mesh_.bounds().lower - p).cwiseMax(p - mesh_.bounds().upper).cwiseMax(0.0);
  double reach = std::max(1.05 * last_, outside.norm()) + 1e-3 * size.norm();
  double best2 = std::numeric_limits<double>::infinity();
  Index best = -1;
  Vec3 weights;
  // Everything within the box is certain once the best distance fits into it.
  while (true) {
    hits_.clear();
    mesh_.find({p.array() - reach, p.array() + reach}, hits_);
    for (const Index t : hits_) {
      const auto& v = mesh_.triangles()[t];
      const Vec3 &a = mesh_.vertices()[v[0]], &b = mesh_.vertices()[v[1]], &c = mesh_.vertices()[v[2]];
      const Vec3 w = nearest_weights(a, b, c, p);
      const double distance2 = (w[0] * a + w[1] * b + w[2] * c - p).squaredNorm();
      if (distance2 < best2) best2 = distance2, best = t, weights = w;
    }
    if (best2 <= reach * reach) break;
    reach *= 2.0;
  }
  const auto& v = mesh_.triangles()[best];
  Vec3 nearest = Vec3::Zero(), normal = mesh_.normal(best);
  int corner = -1, zero = -1, zeros = 0;
  for (int k = 0; k < 3; ++k) {
    nearest += weights[k] * mesh_.vertices()[v[k]];
    if (weights[k] <= 1e-9)
      ++zeros, zero = k;
    else
      corner = k;
  }
  if (zeros == 2) {
    normal = vertex_normals_[same_[v[corner]]];
  } else if (zeros == 1) {
    const Index other = mesh_.neighbour(best, (zero + 1) % 3);
    if (other >= 0) normal += mesh_.normal(other);
  }
  last_ = std::sqrt(best2);
  return normal.dot(p - nearest) < 0.0 ? -last_ : last_;
}

}  // namespace tribo::detail
