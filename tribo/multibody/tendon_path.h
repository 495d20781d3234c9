// Length of spatial tendons and how it changes with the velocities.
//
// A tendon is a taut string through its points (sites), around or through its shapes, divided by pulleys:
//   length = sum over pieces of (straight parts + arcs) / divisor.
// The string is as short as it can be where it lies on a shape, so arcs and the points where they begin do not count in
// the derivative: with u the unit vector of a straight part from x on body p to y on body q,
//   d(length)/dt = sum of u . (velocity of y with q - velocity of x with p) / divisor.
// Dofs that move both ends of a part alike do not change its length and are left out, exactly.
// Cost: the pieces times the dofs between their bodies.
#pragma once

#include <span>
#include <vector>

#include "tribo/multibody/kinematics.h"

namespace tribo {

// The dofs on which the length of a spatial tendon can depend, ascending.
std::vector<Index> tendon_dofs(const Model& model, const TendonDescription& tendon);

// Length, m, at the positions of `kinematics`. d(length)/dt per unit of v is added to `gradient` [dofs].
double add_tendon_gradient(const Kinematics& kinematics, const TendonDescription& tendon,
                           std::span<double> gradient);

}  // namespace tribo
