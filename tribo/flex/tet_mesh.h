// Solids cut into tetrahedra: nodes [m] and, for every element, the numbers of its four corners.
//
// An element is positive when (x1 - x0) x (x2 - x0) . (x3 - x0) > 0; its volume is a sixth of that. Elastic bodies need
// positive ones only: complete() turns the others round and refuses flat ones.
//
// Example
//   TetMesh mesh = box_mesh(Vec3(1.0, 0.1, 0.1), {20, 2, 2});         // flex/ready_meshes.h
//   TetMesh other = read_tet_mesh("gear.msh");                        // io/tet_mesh_file.h
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tribo/base/types.h"
#include "tribo/math/pose.h"

namespace tribo {

struct TetMesh {
  using Tet = std::array<Index, 4>;
  std::vector<Vec3> nodes;  // m
  std::vector<Tet> tets;

  Index node_count() const { return static_cast<Index>(nodes.size()); }
  Index tet_count() const { return static_cast<Index>(tets.size()); }
};

double signed_volume(const std::array<Vec3, 4>& corners);  // m^3
double signed_volume(const TetMesh& mesh, Index tet);      // m^3
double volume(const TetMesh& mesh);                        // m^3

// Turns negative elements round. InvalidInput, beginning with `name`, where there is no element, a node is not finite, an
// element names a node that does not exist or one twice, or is flat: its volume below 1e-12 times its longest edge cubed.
// Nodes that belong to no element are an error, too: nothing would hold them.
void complete(TetMesh& mesh, const std::string& name);
// Takes out nodes that belong to no element, as files have them.
void remove_loose_nodes(TetMesh& mesh);

// Triangles of one element only, counter-clockwise seen from outside, also of negative elements; in their order.
using SurfaceTriangle = std::array<Index, 3>;
std::vector<SurfaceTriangle> boundary(const TetMesh& mesh);
// Nodes of the boundary, ascending.
std::vector<Index> boundary_nodes(const std::vector<SurfaceTriangle>& triangles);

// Places the nodes.
TetMesh placed(TetMesh mesh, const Pose& pose);
// Numbers of the nodes within `tolerance` [m] of a plane through `point` with the unit normal, ascending.
std::vector<Index> nodes_on_plane(const TetMesh& mesh, const Vec3& point, const Vec3& normal,
                                  double tolerance);

}  // namespace tribo
