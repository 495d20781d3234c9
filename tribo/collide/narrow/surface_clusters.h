// Contact points found triangle by triangle: doubles on common edges go, the rest is reduced per direction.
#pragma once

#include "tribo/collide/narrow/pair_query.h"

namespace tribo::detail {

// For the points from `begin` on. Of points closer than `near` with normals within about 8 degrees the deepest
// stays. Then points of similar normals form a cluster, of which at most `limit` stay, and feature numbers are
// made unique. Cost: up to the square of the number of points.
void cluster_points(const PairQuery& query, std::size_t begin, double near, Index limit);

// For the points of a distance field from `begin` on: at most `limit`, far apart or with different normals; then
// doubles closer than `near` go.
void thin_out(const PairQuery& query, std::size_t begin, double near, Index limit);

// Mixes numbers into one that differs for different inputs except by bad luck.
inline std::uint32_t mix(std::uint32_t a, std::uint32_t b) {
  std::uint32_t h = a * 0x9e3779b1u + 0x7f4a7c15u;
  h ^= h >> 15;
  h = (h + b) * 0x85ebca6bu;
  h ^= h >> 13;
  return h * 0xc2b2ae35u;
}

}  // namespace tribo::detail
