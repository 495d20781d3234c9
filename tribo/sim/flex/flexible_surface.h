// The boundary of a flexible body where it is now, as a mesh of triangles that collision detection takes, and back from a point
// on it to the nodes that carry the point.
#pragma once

#include <memory>
#include <vector>

#include "tribo/collide/shapes/triangle_mesh.h"
#include "tribo/flex/tet_mesh.h"
#include "tribo/sim/flex/flexible_contact.h"

namespace tribo {

class FlexibleSurface {
 public:
  explicit FlexibleSurface(const TetMesh& mesh);

  // Nodes of the body, [3 x nodes].
  void place(const double* positions);
  const Shape& shape() const { return shape_; }  // in world axes
  const Aabb& bounds() const { return shape_.mesh().bounds(); }
  const TriangleMesh& mesh() const { return shape_.mesh(); }
  Index node(Index vertex) const { return nodes_[vertex]; }
  Index vertex_count() const { return static_cast<Index>(nodes_.size()); }

  // The point of the surface nearest to `point` among triangles within `reach` of it: its nodes and weights. False: none.
  bool find(const Vec3& point, double reach, FlexibleContact::Side& side, Vec3& nearest) const;

 private:
  std::vector<Index> nodes_;  // [vertices] of the body
  std::vector<TriangleMesh::Triangle> triangles_;
  Shape shape_ = Shape::plane();
  mutable std::vector<Index> hits_;
};

// Barycentric coordinates of the point of a triangle that is nearest to `point` (Ericson, Real-Time Collision Detection,
// 5.1.5).
Vec3 nearest_weights(const Vec3& point, const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace tribo
