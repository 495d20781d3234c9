// A number by which worlds are told apart.
#pragma once

#include <cstdint>

#include "tribo/sim/world.h"

namespace tribo {

// Of model, geoms, couplings and sensors; not of gravity, time step and names. FNV-1a over the bits of their numbers.
std::uint64_t world_hash(const World& world);

}  // namespace tribo
