// Bodies that overlap where a simulation begins: links that were drawn into each other, a base that stands in the floor,
// feet a few millimetres below it. Positions are corrected from there (sim/assembly/position_correction.h), which may not be what the
// model's author meant: a warning says which they are, and those that never can come apart may be left out.
//
// Example
//   for (const InitialOverlap& o : initial_overlaps(world, start)) fmt::print("{}\n", describe(world, o));
#pragma once

#include <string>
#include <vector>

#include "tribo/sim/world.h"

namespace tribo {

struct InitialOverlap {
  Index geom_a = 0, geom_b = 0;  // the deepest pair of the two bodies
  Index body_a = 0, body_b = 0;
  double depth = 0.0;  // m
  // Both belong to one mechanism, or one to a mechanism that hangs on the world and the other is fixed there.
  bool within_mechanism = false;
};

// Pairs of bodies whose rigid contacts overlap by more than `tolerance` [m], the deepest first.
std::vector<InitialOverlap> initial_overlaps(const World& world, const State& start, double tolerance = 1e-4);
// One line that names the two and the depth.
std::string describe(const World& world, const InitialOverlap& overlap);
// No contacts between these two bodies any more, nor explicit pairs of their geoms.
void exclude(World& world, const InitialOverlap& overlap);

}  // namespace tribo
