// Actuators on bodies (ActuatorDescription::body): the force f presses the body and what it touches together, f / n along
// the normal of each of its n contacts. Such a force acts on the free motion like any other; the contacts answer it, so a
// body hangs from a ceiling as long as f exceeds its weight, and friction grows with f.
//
// A contact counts while its gap is within the margins of its geoms, and at least kAdhesionReach: bodies at rest keep
// gaps of the size the tolerance lets pass.
#pragma once

#include "tribo/sim/contact/contact_finder.h"

namespace tribo {

inline constexpr double kAdhesionReach =
    1e-5;  // m; far above gaps at rest (1e-8), far below what one would call apart

// force += of all of them; `input`: [actuators]. Needs the contacts at the positions of `kinematics`.
void add_adhesion(const World& world, const std::vector<Contact>& contacts, const Kinematics& kinematics,
                  const Vector& input, Vector& force);

}  // namespace tribo
