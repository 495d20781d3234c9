// Signed distance of points from a closed mesh.
#pragma once

#include "tribo/collide/shapes/triangle_mesh.h"

namespace tribo::detail {

class MeshDistance {
 public:
  explicit MeshDistance(const TriangleMesh& mesh);
  // Nearest triangle through growing boxes; the sign from the normal of the nearest face, edge or vertex, weighted
  // by angles (Baerentzen and Aanaes 2005).
  double signed_distance(const Vec3& p) const;

 private:
  const TriangleMesh& mesh_;
  std::vector<Index> same_;           // vertices at one place share a number
  std::vector<Vec3> vertex_normals_;  // sums of the normals, weighted by the corners' angles
  mutable std::vector<Index> hits_;
  mutable double last_ = 0.0;  // distance of the last point: a good first guess for its neighbour
};

}  // namespace tribo::detail
