// The part of JointConstraints that knows actuators: what they do at a state, and those that are box constraints.
#include <algorithm>
#include <cmath>

#include "tribo/sim/assembly/joint_constraints.h"

namespace tribo {

double Drive::force() const {
  return std::clamp(constant + position_gain * length + velocity_gain * rate, lower, upper);
}

JointConstraints::DriveKind JointConstraints::kind_of(const ActuatorDescription& actuator) const {
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
  const bool scalar = actuator.joint >= 0 && dofs_of(world_->model.joint(actuator.joint).kind) == 1;
  bool unlimited = std::isinf(actuator.force_lower) && std::isinf(actuator.force_upper);
  if (actuator.joint >= 0) {
    const JointDescription& joint = world_->model.joint(actuator.joint);
    unlimited = unlimited && (!joint.actuator_compensation || (std::isinf(joint.actuator_force_lower) &&
                                                               std::isinf(joint.actuator_force_upper)));
  }
  if (unlimited && scalar) return DriveKind::smooth;
  // A box needs gains that never vanish.
  return changing ? DriveKind::explicit_force : DriveKind::box;
}

void JointConstraints::set_law(const ActuatorDescription& actuator, double input, Drive& drive) const {
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
void JointConstraints::set_limits(const ActuatorDescription& actuator, const Kinematics& kinematics,
                                  Drive& drive) const {
  drive.lower = actuator.force_lower;
  drive.upper = actuator.force_upper;
  if (actuator.joint < 0 || actuator.gear[0] == 0.0) return;
  const JointDescription& joint = world_->model.joint(actuator.joint);
  if (!joint.actuator_compensation || dofs_of(joint.kind) != 1) return;
  if (std::isinf(joint.actuator_force_lower) && std::isinf(joint.actuator_force_upper)) return;
  const double own = body_forces_.compensation_of(kinematics, world_->model.joint_dof(actuator.joint));
  const double a = (joint.actuator_force_lower - own) / actuator.gear[0],
               b = (joint.actuator_force_upper - own) / actuator.gear[0];
  drive.lower = std::clamp(drive.lower, std::min(a, b), std::max(a, b));
  drive.upper = std::clamp(drive.upper, std::min(a, b), std::max(a, b));
}

JointConstraints::Acting JointConstraints::acting(Index number, const Kinematics& kinematics, const Vector& q,
                                                  const Vector& v, const Vector& input,
                                                  std::vector<Term>& room) const {
  const Model& model = world_->model;
  const ActuatorDescription& actuator = model.actuators()[number];
  Acting result;
  if (actuator.site >= 0) {
    result.drive.length = site_transmission(kinematics, actuator, site_terms_);
    room.clear();
    for (const DofTerm& term : site_terms_) {
      const Index tree = model.body_tree(model.joint(model.dof_joint(term.dof)).body);
      room.push_back({tree, term.dof, -1, term.coefficient});
    }
    result.terms = room;
  } else {
    result.terms = {terms_.data() + actuator_start_[number], terms_.data() + actuator_start_[number + 1]};
    result.drive.length = transmission_length(result.terms, q);
    if (actuator.tendon >= 0) result.drive.length += actuator.gear[0] * spatial_length_[actuator.tendon];
  }
  for (const Term& term : result.terms) result.drive.rate += term.coefficient * v[term.dof];
  set_law(actuator, input[number], result.drive);
  set_limits(actuator, kinematics, result.drive);
  return result;
}

Drive JointConstraints::gains(Index number, const Vector& input) const {
  Drive drive;
  set_law(world_->model.actuators()[number], input[number], drive);
  return drive;
}

void JointConstraints::add_drives(const Kinematics& kinematics, const State& state, const Vector& input,
                                  double h, ConstraintSet& set) const {
  for (std::size_t a = 0; a < world_->model.actuators().size(); ++a) {
    const auto number = static_cast<Index>(a);
    if (!is_box(number)) continue;
    const Acting now = acting(number, kinematics, state.q, state.v, input, room_);
    const Drive& drive = now.drive;
    ProblemFiller::Constraint data;
    data.kind = ConstraintKind::box;
    data.lower = h * drive.lower;
    data.upper = h * drive.upper;
    data.compliance[0] = -1.0 / (h * h * drive.position_gain + h * drive.velocity_gain);
    data.bias[0] = -data.compliance[0] * h * (drive.constant + drive.position_gain * drive.length);
    data.key = constraint_key(ConstraintSource::drive, number, 0);
    set.add(data, ConstraintSource::drive, number);
    add_terms(now.terms, 1.0, set);
  }
}

}  // namespace tribo
