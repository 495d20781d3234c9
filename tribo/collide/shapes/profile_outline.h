// The boundary of a profile as chains of points on it.
#pragma once

#include <vector>

#include "tribo/collide/shapes/profile.h"

namespace tribo::detail {

// Chains of the boundary within `region`, the solid on their left; a closed one ends with its first point, an open one
// on the edge of the region. No piece is longer than `spacing` [m], and none leaves the boundary by more than a hundredth
// of it. Corners of polygons are kept. What is thinner than spacing / 8 may be missed.
std::vector<std::vector<Vec2>> outline(const Profile& profile, const Profile::Bounds& region, double spacing);

}  // namespace tribo::detail
