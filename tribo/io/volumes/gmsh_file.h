// Gmsh's .msh, ASCII: versions 2.2 (nodes, then elements, all numbered) and 4.1 (both in blocks per entity).
#pragma once

#include <filesystem>
#include <string_view>

#include "tribo/flex/tet_mesh.h"

namespace tribo::detail {

// Tetrahedra and all nodes, as in the file. InvalidInput as read_tet_mesh.
TetMesh read_gmsh(std::string_view text, const std::filesystem::path& file);

}  // namespace tribo::detail
