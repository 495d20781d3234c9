// Surface made of triangles, with a tree of boxes to find the triangles near a region.
//
// Example
//   auto mesh = TriangleMesh::make(vertices, triangles);   // counter-clockwise seen from outside
//   Shape terrain = Shape::mesh(mesh);                     // contacts with each triangle
//   Shape rock = Shape::hull(ConvexHull::around(mesh->vertices()));
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "tribo/collide/shape.h"

namespace tribo {

class TriangleMesh {
 public:
  using Triangle = std::array<Index, 3>;

  // Triangles without area are left out. InvalidInput if a vertex is not finite, a triangle names a vertex that
  // does not exist, or no triangle has area.
  static std::shared_ptr<const TriangleMesh> make(std::vector<Vec3> vertices,
                                                  std::vector<Triangle> triangles);

  const std::vector<Vec3>& vertices() const { return vertices_; }
  const std::vector<Triangle>& triangles() const { return triangles_; }
  const Vec3& normal(Index triangle) const { return normals_[triangle]; }
  // Triangle on the other side of edge (corner k, corner k + 1); -1: none or several.
  Index neighbour(Index triangle, int k) const { return neighbours_[triangle][k]; }
  const Aabb& bounds() const { return bounds_; }
  VolumeMoments moments() const;

  // Appends the triangles whose boxes meet `region` (in the mesh frame), ascending.
  void find(const Aabb& region, std::vector<Index>& hits) const;

 private:
  struct Node {
    Aabb box;
    Index left, right;  // children; a leaf: first, -count of order_
  };
  void link();
  void build_tree();

  std::vector<Vec3> vertices_;
  std::vector<Triangle> triangles_;
  std::vector<Vec3> normals_;
  std::vector<Triangle> neighbours_;
  std::vector<Node> nodes_;
  std::vector<Index> order_;
  Aabb bounds_{Vec3::Zero(), Vec3::Zero()};
};

namespace detail {
// For every vertex the first one at the same place, bit for bit: files often repeat vertices per triangle.
std::vector<Index> first_at_same_place(const std::vector<Vec3>& vertices);
}  // namespace detail

}  // namespace tribo
