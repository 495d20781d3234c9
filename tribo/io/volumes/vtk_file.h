// VTK's files of unstructured grids: legacy .vtk (ASCII) and XML .vtu (ASCII, or base64 inside the file, not compressed).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tribo/flex/tet_mesh.h"

namespace tribo::detail {

// Tetrahedra and all nodes, as in the file. InvalidInput as read_tet_mesh.
TetMesh read_vtk(std::string_view text, const std::filesystem::path& file);
TetMesh read_vtu(const std::string& text, const std::filesystem::path& file);

// One cell of VTK: adds a tetrahedron (type 10), leaves out what is flatter, and returns what is wrong, or nothing.
std::string add_vtk_cell(Index type, const Index* corners, Index count, TetMesh& mesh);

}  // namespace tribo::detail
