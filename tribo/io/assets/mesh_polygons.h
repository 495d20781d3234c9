// Polygons of OBJ files as triangles, chosen like tinyobjloader does, with which MuJoCo reads these files: where a
// polygon is not flat or a mesh not convex, volume and inertia depend on the choice.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tribo/base/types.h"
#include "tribo/math/pose.h"

namespace tribo::detail {

// Appends the triangles of the polygon `corners` [at least 3], numbers of `vertices`. Four corners: along the shorter
// diagonal, along 1-3 where they are equal. More: ears are cut off in the plane of the two axes that the first corner
// spans most; what no ear can be found of is left out. O(n^3) at worst, n the number of corners.
void triangulate(std::span<const Index> corners, const std::vector<Vec3>& vertices,
                 std::vector<std::array<Index, 3>>& triangles);

}  // namespace tribo::detail
