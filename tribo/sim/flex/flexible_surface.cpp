#include "tribo/sim/flex/flexible_surface.h"

#include <algorithm>
#include <limits>

namespace tribo {

namespace {

// A node with less than this share of a point carries none of it.
constexpr double kNoShare = 1e-9;

}  // namespace

Vec3 nearest_weights(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a, ac = c - a, ap = p - a;
  const double d1 = ab.dot(ap), d2 = ac.dot(ap);
  if (d1 <= 0.0 && d2 <= 0.0) return Vec3(1.0, 0.0, 0.0);
  const Vec3 bp = p - b;
  const double d3 = ab.dot(bp), d4 = ac.dot(bp);
  if (d3 >= 0.0 && d4 <= d3) return Vec3(0.0, 1.0, 0.0);
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return Vec3(1.0 - d1 / (d1 - d3), d1 / (d1 - d3), 0.0);
  const Vec3 cp = p - c;
  const double d5 = ab.dot(cp), d6 = ac.dot(cp);
  if (d6 >= 0.0 && d5 <= d6) return Vec3(0.0, 0.0, 1.0);
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return Vec3(1.0 - d2 / (d2 - d6), 0.0, d2 / (d2 - d6));
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
    const double share = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    return Vec3(0.0, 1.0 - share, share);
  }
  return Vec3(va, vb, vc) / (va + vb + vc);
}

FlexibleSurface::FlexibleSurface(const TetMesh& mesh) {
  const std::vector<SurfaceTriangle> outside = boundary(mesh);
  nodes_ = boundary_nodes(outside);
  for (const SurfaceTriangle& triangle : outside) {
    TriangleMesh::Triangle own;
    for (int k = 0; k < 3; ++k) {
      own[k] =
          static_cast<Index>(std::lower_bound(nodes_.begin(), nodes_.end(), triangle[k]) - nodes_.begin());
    }
    triangles_.push_back(own);
  }
}

void FlexibleSurface::place(const double* positions) {
  std::vector<Vec3> vertices;
  vertices.reserve(nodes_.size());
  for (const Index node : nodes_) vertices.push_back(Eigen::Map<const Vec3>(positions + 3 * node));
  shape_ = Shape::mesh(TriangleMesh::make(std::move(vertices), triangles_));
}

bool FlexibleSurface::find(const Vec3& point, double reach, FlexibleContact::Side& side,
                           Vec3& nearest) const {
  const Vec3 around = Vec3::Constant(reach);
  hits_.clear();
  mesh().find({point - around, point + around}, hits_);
  double best = std::numeric_limits<double>::infinity();
  Vec3 weights;
  Index chosen = -1;
  for (const Index t : hits_) {
    const TriangleMesh::Triangle& corner = mesh().triangles()[t];
    const Vec3 &a = mesh().vertices()[corner[0]], &b = mesh().vertices()[corner[1]],
               &c = mesh().vertices()[corner[2]];
    const Vec3 w = nearest_weights(point, a, b, c);
    const Vec3 at = w[0] * a + w[1] * b + w[2] * c;
    const double distance = (at - point).squaredNorm();
    if (distance >= best) continue;
    best = distance;
    weights = w;
    chosen = t;
    nearest = at;
  }
  if (chosen < 0) return false;
  side.count = 0;
  side.weights.setZero();
  for (int k = 0; k < 3; ++k) {
    if (weights[k] <= kNoShare) continue;
    side.nodes[side.count] = nodes_[mesh().triangles()[chosen][k]];
    side.weights[side.count++] = weights[k];
  }
  side.weights /= side.weights.sum();
  return true;
}

}  // namespace tribo
