// <tendon> of MJCF.
#pragma once

#include "tribo/io/mjcf/world.h"

namespace tribo::detail {

void read_tendons(WorldAssembly& assembly, const ModelPart& part);

}  // namespace tribo::detail
