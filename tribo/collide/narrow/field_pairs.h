// Surfaces made of triangles against signed distance fields.
#pragma once

#include "tribo/collide/narrow/pair_query.h"

namespace tribo::detail {

void collide_surface_distance_field(
    const PairQuery& query);  // mesh or distance field against a distance field
void collide_height_field_distance_field(const PairQuery& query);

}  // namespace tribo::detail
