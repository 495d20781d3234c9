// Sensors that look at the contacts of the last step: touch, and contact with its query.
#pragma once

#include "tribo/sim/sensors/last_step.h"
#include "tribo/sim/world.h"

namespace tribo {

// Normal forces, N, added up over the contacts of the sensor's body whose outward normal meets the sensor's volume.
double touch_force(const SensorDescription& sensor, const LastStep& step, const Kinematics& kinematics);

// Fills sensor.size() numbers; places without a contact are zero. Contacts count that touch (gap <= `slop`) or carry.
void read_contacts(const World& world, const SensorDescription& sensor, const LastStep& step,
                   const Kinematics& kinematics, double slop, double* out);

}  // namespace tribo
