// Which parts of the surface of a flexible body belong together when it is at rest, so that its surface can be held against itself
// without meeting itself where it is in one piece.
//
// A vertex and a triangle are near if one of the triangle's corners is within 2.5 L of the vertex along the edges of the elements,
// L the longest edge of the surface: shortest paths (Dijkstra), so that ends which come close around a gap are far. Cost: once per
// body, O(v k log k) for v vertices with k nodes in their neighbourhoods.
#pragma once

#include <vector>

#include "tribo/sim/flex/flexible_surface.h"

namespace tribo {

class RestNeighbours {
 public:
  RestNeighbours() = default;
  RestNeighbours(const TetMesh& mesh, const FlexibleSurface& surface);

  // Of vertices of the surface.
  bool is_near(Index vertex, const TriangleMesh::Triangle& triangle) const;
  double longest_edge() const { return longest_; }  // L, m

 private:
  std::vector<Index> start_;      // [vertices + 1] into ...
  std::vector<Index> neighbour_;  // ... vertices that are near, ascending
  double longest_ = 0.0;
};

}  // namespace tribo
