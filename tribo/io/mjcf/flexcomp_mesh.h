// The meshes of <flexcomp dim="3">, with the points numbered as MuJoCo numbers them, so that pins mean the same nodes.
//
// | type      | points                                                | elements                                              |
// | grid      | all of the grid, z fastest                            | six per cell, around its diagonal from lowest to highest |
// | box       | the centre, then those on the surface of the grid     | between the centre and each triangle of the surface   |
// | cylinder  | of the box, rows around the z axis becoming ellipses  | the same                                              |
// | ellipsoid | of the box, pushed onto the ellipsoid                 | the same                                              |
// | mesh      | the origin, then the vertices of the surface          | between the origin and each triangle it sees from inside |
// (Grids of MuJoCo are cut along other diagonals.)
#pragma once

#include <array>
#include <cstdint>

#include "tribo/flex/tet_mesh.h"
#include "tribo/io/assets/mesh_file.h"

namespace tribo::detail {

enum class FlexcompType : std::uint8_t { grid, box, cylinder, ellipsoid };

// `count` >= 2 points along each axis, `spacing` m apart, centred at the origin.
TetMesh flexcomp_mesh(FlexcompType type, const std::array<Index, 3>& count, const Vec3& spacing);
TetMesh mesh_around(const Vec3& origin, const MeshData& surface);

}  // namespace tribo::detail
