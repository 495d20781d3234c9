// What an actuator on a site does to the dofs: d(length)/dv and the length, see ActuatorDescription.
//
// Without a reference site the transmission is a wrench in the axes of the site, at the site: row = J^T wrench, length 0.
// With one, the wrench is in the axes of the reference site, acts at the site and, with the opposite sign, at the reference
// site, and dofs that move both stay out. The row is the derivative of the length where those dofs do not move and, for
// the rotational part, while the rotation vector keeps its direction.
#pragma once

#include <vector>

#include "tribo/multibody/kinematics.h"

namespace tribo {

struct DofTerm {
  Index dof;
  double coefficient;
};

// Replaces the terms; returns the length. Needs no more room than twice the dofs.
double site_transmission(const Kinematics& kinematics, const ActuatorDescription& actuator,
                         std::vector<DofTerm>& terms);

// Any transmission but that of a body: row [dofs], at the positions of `kinematics`. For loaders.
Vector transmission_row(const Kinematics& kinematics, const ActuatorDescription& actuator);

}  // namespace tribo
