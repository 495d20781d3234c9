// Meshes of tetrahedra from files, told apart by their ending:
//
// | .msh | Gmsh 2.2 and 4.1, ASCII                                                                    |
// | .vtk | VTK legacy, UNSTRUCTURED_GRID, ASCII, versions to 4 and 5                                  |
// | .vtu | VTK XML, UnstructuredGrid, ASCII or inline base64 without compression, any pieces          |
//
// Points, lines, triangles and quadrilaterals, which files hold for the surface, are left out, and so are nodes that belong to
// no tetrahedron. Elements are turned so that they are positive (flex/tet_mesh.h). Numbers are taken as metres; `scale` makes
// them so.
//
// Example
//   TetMesh mesh = read_tet_mesh("gear.msh", 1e-3);   // written in mm
#pragma once

#include <filesystem>

#include "tribo/flex/tet_mesh.h"

namespace tribo {

// InvalidInput naming the file, the line where there is one, and the field: missing or damaged files, binary or compressed
// ones that are not read, elements that are no linear tetrahedra, nodes that do not exist, flat elements. Never more than ten million
// nodes or elements.
TetMesh read_tet_mesh(const std::filesystem::path& file, double scale = 1.0);

// VTK XML, ASCII, all digits; for looking at it elsewhere and reading it again.
void write_vtu(const std::filesystem::path& file, const TetMesh& mesh);

}  // namespace tribo
