#include "tribo/sim/forces/drives.h"

#include <algorithm>
#include <cmath>

namespace tribo {

double Drive::force() const {
  return std::clamp(constant + position_gain * length + velocity_gain * rate, lower, upper);
}

DriveKind drive_kind(const Model& model, const ActuatorDescription& actuator) {
  const bool changing = actuator.gain_slope[0] != 0.0 || actuator.gain_slope[1] != 0.0;
  const bool has_input_limits = actuator.activation == ActivationKind::none;
  const double ends[2] = {has_input_limits ? actuator.control_lower : actuator.activation_lower,
                          has_input_limits ? actuator.control_upper : actuator.activation_upper};
  bool stabilising = false, harmless = true;
  for (const double input : ends) {
    const auto slope = [&](int k) {
      return actuator.gain_slope[k] != 0.0 ? actuator.gain_slope[k] * input : 0.0;
    };
    const double position = actuator.bias[1] + slope(0), velocity = actuator.bias[2] + slope(1);
    harmless = harmless && position <= 0.0 && velocity <= 0.0;
    stabilising = stabilising || position < 0.0 || velocity < 0.0;
  }
  if (!stabilising || !harmless || actuator.body >= 0) return DriveKind::explicit_force;
  const bool scalar = actuator.joint >= 0 && dofs_of(model.joint(actuator.joint).kind) == 1;
  bool unlimited = std::isinf(actuator.force_lower) && std::isinf(actuator.force_upper);
  if (actuator.joint >= 0) {
    const JointDescription& joint = model.joint(actuator.joint);
    unlimited = unlimited && (!joint.actuator_compensation || (std::isinf(joint.actuator_force_lower) &&
                                                               std::isinf(joint.actuator_force_upper)));
  }
  if (unlimited && scalar) return DriveKind::smooth;
  // A box needs gains that never vanish.
  return changing ? DriveKind::explicit_force : DriveKind::box;
}

void set_drive_law(const ActuatorDescription& actuator, double input, Drive& drive) {
  const double gain =
      actuator.muscle_gain ? actuator.muscle_gain->active_force(drive.length, drive.rate) : actuator.gain;
  drive.constant = gain * input;
  if (!actuator.muscle_gain) {
    drive.position_gain = actuator.gain_slope[0] * input;
    drive.velocity_gain = actuator.gain_slope[1] * input;
  }
  if (actuator.muscle_bias) {
    drive.constant += actuator.muscle_bias->passive(drive.length);
  } else {
    drive.constant += actuator.bias[0];
    drive.position_gain += actuator.bias[1];
    drive.velocity_gain += actuator.bias[2];
  }
}

// clamp(gear * clamp(f, own limits) + g, limits of the joint) = g + gear * clamp(f, own limits, both then clamped).
void set_drive_limits(const Model& model, const ActuatorDescription& actuator, const BodyForces& body_forces,
                      const Kinematics& kinematics, Drive& drive) {
  drive.lower = actuator.force_lower;
  drive.upper = actuator.force_upper;
  if (actuator.joint < 0 || actuator.gear[0] == 0.0) return;
  const JointDescription& joint = model.joint(actuator.joint);
  if (!joint.actuator_compensation || dofs_of(joint.kind) != 1) return;
  if (std::isinf(joint.actuator_force_lower) && std::isinf(joint.actuator_force_upper)) return;
  const double own = body_forces.compensation_of(kinematics, model.joint_dof(actuator.joint));
  const double a = (joint.actuator_force_lower - own) / actuator.gear[0],
               b = (joint.actuator_force_upper - own) / actuator.gear[0];
  drive.lower = std::clamp(drive.lower, std::min(a, b), std::max(a, b));
  drive.upper = std::clamp(drive.upper, std::min(a, b), std::max(a, b));
}

}  // namespace tribo
