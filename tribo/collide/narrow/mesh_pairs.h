// Convex shapes and meshes against surfaces made of triangles.
#pragma once

#include "tribo/collide/narrow/pair_query.h"

namespace tribo::detail {

void collide_convex_mesh(const PairQuery& query);
void collide_convex_height_field(const PairQuery& query);
void collide_mesh_mesh(const PairQuery& query);
void collide_mesh_height_field(const PairQuery& query);
void collide_convex_distance_field(const PairQuery& query);

}  // namespace tribo::detail
