// A half space, shape a, against everything.
#pragma once

#include "tribo/collide/narrow/pair_query.h"

namespace tribo::detail {

void collide_plane_sphere(const PairQuery& query);
void collide_plane_capsule(const PairQuery& query);
void collide_plane_box(const PairQuery& query);
void collide_plane_cylinder(const PairQuery& query);
void collide_plane_ellipsoid(const PairQuery& query);
void collide_plane_hull(const PairQuery& query);
void collide_plane_surface(const PairQuery& query);  // mesh, distance field: the vertices

}  // namespace tribo::detail
