// What sensors know of the step that ended at the present state: references, valid until the next step is prepared.
#pragma once

#include <vector>

#include "tribo/sim/assembly/constraint_set.h"
#include "tribo/sim/contact/contact_finder.h"
#include "tribo/sim/flex/flexible_contact.h"
#include "tribo/sim/forces/free_motion.h"

namespace tribo {

struct LastStep {
  const State& begun;                     // where it began, after impacts
  const Vector& velocity;                 // of its end, [dofs]
  const Vector& input;                    // [actuators], see activation.h
  const ConstraintSet& set;               // as it was posed ...
  const std::vector<RowValues>& impulse;  // ... and solved, N s
  const std::vector<Contact>& contacts;
  const std::vector<Vec3>& contact_impulses;  // world axes, on the second bodies, N s
  const std::vector<Vec3>& contact_torques;   // N m s
  const std::vector<FlexibleContact>& flexible_contacts;
  const std::vector<Vec3>& flexible_impulses;  // on their sides b, N s
  const std::vector<Vec6>& mocap_velocity;     // Kinematics::set_mocap_velocities
  Vec3 gravity;                                // m/s^2
  Scheme scheme;
  double h;  // s
};

}  // namespace tribo
