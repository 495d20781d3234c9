// Ready meshes of tetrahedra, centred at the origin. A grid of cells, each cut into six tetrahedra around the diagonal from
// its lowest to its highest corner (Kuhn), so that neighbours fit; round solids are a grid that is bent, each square or cube
// around the middle becoming a circle or sphere.
//
// Example
//   TetMesh beam = box_mesh(Vec3(1.3, 0.6, 0.15), {26, 12, 3});   // 1404 nodes, 5616 elements
#pragma once

#include <array>

#include "tribo/flex/tet_mesh.h"

namespace tribo {

// Edges of the given lengths [m] along x, y, z, and so many cells along each. A bar is a long one.
TetMesh box_mesh(const Vec3& size, const std::array<Index, 3>& cells);
// Axis along z. `across`: cells along the diameter, even ones keep a node on the axis; `along`: cells along the length.
TetMesh cylinder_mesh(double radius, double length, Index across, Index along);
// `across`: cells along the diameter.
TetMesh sphere_mesh(double radius, Index across);

}  // namespace tribo
