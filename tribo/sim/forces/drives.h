// Actuators along their transmissions: their law at a state, and how a step takes it.
#pragma once

#include <cstdint>

#include "tribo/multibody/kinematics.h"
#include "tribo/sim/forces/body_forces.h"

namespace tribo {

// An actuator seen along its transmission, with its input (see ActivationKind) already in the constant and the gains:
// force = constant + position_gain * length + velocity_gain * rate, clamped. A drive on one hinge or slide without
// force limits is smooth: its gains go into A, the rest into the forces. Other drives with gains are box constraints: with x = the transmission's rate and
// 1/R = -(h^2 position_gain + h velocity_gain) > 0,
//   lambda = clamp(-(x + e) / R),  e = -R h (constant + position_gain * length).
// Without (stabilising) gains, and where the gains change with the input, the clamped force is an ordinary explicit one.
// Gravity compensation g by the actuators of a joint counts against the limits of their sum: g is a force on bodies, and
// what the drive may do is shifted by -g.
struct Drive {
  double constant = 0.0, position_gain = 0.0, velocity_gain = 0.0;
  double lower = 0.0, upper = 0.0;
  double length = 0.0, rate = 0.0;

  double force() const;  // clamped
};

// How a step takes it.
enum class DriveKind : std::uint8_t { explicit_force, smooth, box };
DriveKind drive_kind(const Model& model, const ActuatorDescription& actuator);

// Constant and gains at this input; length and rate of the drive must be known where it has a muscle.
void set_drive_law(const ActuatorDescription& actuator, double input, Drive& drive);
// Limits of the force at the state of `kinematics`, those of the joint included.
void set_drive_limits(const Model& model, const ActuatorDescription& actuator, const BodyForces& body_forces,
                      const Kinematics& kinematics, Drive& drive);

}  // namespace tribo
