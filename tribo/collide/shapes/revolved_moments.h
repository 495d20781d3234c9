// Volume, centre and inertia of revolved figures.
#pragma once

#include "tribo/collide/shape.h"
#include "tribo/collide/shapes/profile.h"

namespace tribo::detail {

// Of the profile's part with x >= 0, revolved about x = 0 (the z axis; y is z). Relative error below 1e-10. What is
// thinner than 1/400 of the figure may be missed.
VolumeMoments revolved_moments(const Profile& profile);

}  // namespace tribo::detail
