// Fewer contact points that still support what all of them did.
#pragma once

#include <cstddef>
#include <vector>

#include "tribo/collide/narrow_phase.h"

namespace tribo::detail {

// Leaves at most `limit` of the points from `begin` on: the deepest one, then always the one farthest from those
// already kept; these are corners of the support polygon. Opposite normals count as 2 `normal_length` apart.
// `distances` is memory to reuse. Cost: limit x points.
void reduce_manifold(std::vector<ContactPoint>& points, std::size_t begin, Index limit,
                     std::vector<double>& distances, double normal_length = 0.0);

// Makes the feature numbers of the points from `begin` on unique: of equal ones the later move up until free.
void separate_features(std::vector<ContactPoint>& points, std::size_t begin);

}  // namespace tribo::detail
