// Depth of two overlapping convex cores (expanding polytope): the face of their difference a - b nearest to the
// origin inside it.
#pragma once

#include "tribo/collide/narrow/gjk.h"

namespace tribo::detail {

struct Penetration {
  Vec3 normal;      // unit, from a to b
  double depth;     // >= 0 up to rounding
  Simplex witness;  // the face of the polytope, weighted
};

// `simplex`: where nearest_points ended touching. Shapes without depth (two flat ones in one plane) give the
// direction in which they are flat.
Penetration penetration(const CorePair& pair, const Simplex& simplex);

}  // namespace tribo::detail
