// <sensor> of MJCF.
#pragma once

#include "tribo/io/mjcf/world.h"

namespace tribo::detail {

// After the actuators of the same part.
void read_sensors(WorldAssembly& assembly, const ModelPart& part);

}  // namespace tribo::detail
