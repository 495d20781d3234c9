// Area, centre and inertia of the surfaces of primitive shapes at surface density 1.
#pragma once

#include "tribo/collide/shape.h"

namespace tribo::detail {

// "volume" is the area. Other shapes than sphere, capsule, cylinder, ellipsoid and box have none. The shell of an
// ellipsoid is the thin layer between it and the one with slightly longer half axes.
VolumeMoments shell_moments(const Shape& shape);

}  // namespace tribo::detail
