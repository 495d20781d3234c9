// Shapes and poses that the collision benchmarks of tribo and of Bullet share.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tribo/collide/broad_phase.h"
#include "tribo/collide/narrow_phase.h"

namespace tribo::bench {

struct PairScene {
  std::string name;
  Shape a = Shape::plane(), b = Shape::plane();
  std::vector<std::pair<Pose, Pose>> poses;  // all with contacts, most of them shallow
};

std::vector<PairScene> pair_scenes();

// Balls in a box, packed like a pile, or with sizes that differ up to tenfold.
std::vector<Aabb> pile_bounds(Index bodies, bool mixed_sizes);
// The same a step later: each box goes its own way, `by` sizes per step (0.001: settling, 0.03: flying).
void move(std::vector<Aabb>& bounds, double by);

// Bullet's double-precision collision library on the same input; ns per pair, mean ns per box and step. Negative: no
// counterpart.
double bullet_pair_time(const PairScene& scene);
double bullet_broad_time(Index bodies, bool mixed_sizes, double by, int steps);

}  // namespace tribo::bench
