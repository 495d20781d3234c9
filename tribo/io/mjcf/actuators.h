// <actuator> of MJCF.
#pragma once

#include "tribo/io/mjcf/world.h"

namespace tribo::detail {

void read_actuators(WorldAssembly& assembly, const ModelPart& part);
// Force limits of joints pass to the actuator on them.
void apply_joint_force_limits(WorldAssembly& assembly);

}  // namespace tribo::detail
