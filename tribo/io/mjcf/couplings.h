// <contact> and <equality> of MJCF.
#pragma once

#include "tribo/io/mjcf/world.h"

namespace tribo::detail {

// Pairs of geoms with values of their own, and pairs of bodies that do not touch.
void read_contacts(WorldAssembly& assembly, const ModelPart& part);
// Connects, welds, couplings of joints and tendons.
void read_equalities(WorldAssembly& assembly, const ModelPart& part);

}  // namespace tribo::detail
