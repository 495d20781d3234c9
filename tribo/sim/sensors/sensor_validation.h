// Whether sensors fit their world.
#pragma once

#include "tribo/sim/world.h"

namespace tribo {

// InvalidInput naming the sensor and the field that is wrong.
void validate_sensors(const World& world);

}  // namespace tribo
