// Convex polyhedron: vertices, polygon faces (coplanar triangles merged) and who is next to whom.
//
// Example
//   auto rock = ConvexHull::around(points);   // points in the shape's frame, m
//   Shape shape = Shape::hull(rock);
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tribo/collide/shape.h"

namespace tribo {

class ConvexHull {
 public:
  // The convex hull of the points. Points less than 1e-10 of the extent outside are left out, triangles that lie
  // in one plane up to 3e-7 of the extent (single precision) become one polygon. InvalidInput if the points are not finite, fewer than four,
  // or all in one plane.
  static std::shared_ptr<const ConvexHull> around(std::span<const Vec3> points);

  const std::vector<Vec3>& vertices() const { return vertices_; }
  Index face_count() const { return static_cast<Index>(face_normals_.size()); }
  // Vertex numbers, counter-clockwise seen from outside.
  std::span<const Index> face(Index f) const { return slice(face_vertices_, face_starts_, f); }
  const Vec3& face_normal(Index f) const { return face_normals_[f]; }  // unit, outward
  double face_offset(Index f) const { return face_offsets_[f]; }       // normal . x on the face
  std::span<const Index> neighbours(Index vertex) const {
    return slice(neighbours_, neighbour_starts_, vertex);
  }
  std::span<const Index> faces_at(Index vertex) const {
    return slice(vertex_faces_, vertex_face_starts_, vertex);
  }
  Index edge_count() const { return static_cast<Index>(neighbours_.size()) / 2; }

  // Number of the vertex farthest along the direction. Large hulls climb from `hint` (any vertex).
  Index support(const Vec3& direction, Index hint = 0) const;

  const Aabb& bounds() const { return bounds_; }
  VolumeMoments moments() const;

 private:
  static std::span<const Index> slice(const std::vector<Index>& items, const std::vector<Index>& starts,
                                      Index k) {
    return {items.data() + starts[k], static_cast<std::size_t>(starts[k + 1] - starts[k])};
  }
  void link();

  std::vector<Vec3> vertices_;
  std::vector<Index> face_starts_, face_vertices_;
  std::vector<Vec3> face_normals_;
  std::vector<double> face_offsets_;
  std::vector<Index> neighbour_starts_, neighbours_;
  std::vector<Index> vertex_face_starts_, vertex_faces_;
  Aabb bounds_{Vec3::Zero(), Vec3::Zero()};
};

}  // namespace tribo
