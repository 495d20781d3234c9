// Actuators on bodies (ActuatorDescription::body): the force f presses the body and what it touches together, f / n along
// the normal of each of its n contacts. Such a force acts on the free motion like any other; the contacts answer it, so a
// body hangs from a ceiling as long as f exceeds its weight, and friction grows with f.
//
// A contact counts while its gap is within the margins of its geoms, and at least kAdhesionReach: bodies at rest keep
// gaps of the size the tolerance lets pass.
#pragma once

#include <algorithm>

#include "tribo/sim/contact/contact_finder.h"

namespace tribo {

inline constexpr double kAdhesionReach =
    1e-5;  // m; far above gaps at rest (1e-8), far below what one would call apart

// Calls use(contact, force on its second body [N, world axes]) for every contact that an actuator presses together.
template <class Use>
void visit_adhesion(const World& world, const std::vector<Contact>& contacts, const Vector& input,
                    const Use& use) {
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
      if (counts(c)) use(c, Vec3(-share * c.normal));
    }
  }
}

// force += of all of them; `input`: [actuators]. Needs the contacts at the positions of `kinematics`.
void add_adhesion(const World& world, const std::vector<Contact>& contacts, const Kinematics& kinematics,
                  const Vector& input, Vector& force);

}  // namespace tribo
