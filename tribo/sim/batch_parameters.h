// A world with other masses, friction and gains, for batches.
#pragma once

#include "tribo/sim/world.h"

namespace tribo {

// mass [bodies]: kg, that of the world (0) does not count; inertias scale with it. friction [geoms]: sliding friction.
// gain [actuators]: factor of everything the force of the actuator is made of (gains and biases). InvalidInput naming
// body, geom or actuator where a number is not finite or negative, or gives mass to a body without any.
World with_parameters(const World& world, const Eigen::Ref<const Vector>& mass,
                      const Eigen::Ref<const Vector>& friction, const Eigen::Ref<const Vector>& gain);

}  // namespace tribo
