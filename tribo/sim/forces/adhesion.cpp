#include "tribo/sim/forces/adhesion.h"

#include <algorithm>

namespace tribo {

void add_adhesion(const World& world, const std::vector<Contact>& contacts, const Kinematics& kinematics,
                  const Vector& input, Vector& force) {
  const std::vector<ActuatorDescription>& actuators = world.model.actuators();
  for (std::size_t a = 0; a < actuators.size(); ++a) {
    const ActuatorDescription& actuator = actuators[a];
    if (actuator.body < 0) continue;
    const auto counts = [&](const Contact& c) {
      const double margin = world.geoms[c.geom_a].margin + world.geoms[c.geom_b].margin;
      const bool own = (c.body_a == actuator.body) != (c.body_b == actuator.body);
      return own && c.gap <= std::max(margin, kAdhesionReach);
    };
    const auto count = std::count_if(contacts.begin(), contacts.end(), counts);
    if (count == 0) continue;
    const double whole = std::clamp(actuator.gain * input[static_cast<Index>(a)] + actuator.bias[0],
                                    actuator.force_lower, actuator.force_upper);
    const double share = actuator.gear[0] * whole / static_cast<double>(count);
    for (const Contact& c : contacts) {
      if (!counts(c)) continue;
      kinematics.add_force(c.body_b, c.position, -share * c.normal, Vec3::Zero(), force);
      kinematics.add_force(c.body_a, c.position, share * c.normal, Vec3::Zero(), force);
    }
  }
}

}  // namespace tribo
