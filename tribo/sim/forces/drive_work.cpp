#include "tribo/sim/forces/drive_work.h"

#include <algorithm>

namespace tribo {

namespace {

double rate_along(std::span<const JointConstraints::Term> terms, const Vector& v) {
  double rate = 0.0;
  for (const auto& term : terms) rate += term.coefficient * v[term.dof];
  return rate;
}

// Force of a drive that is no constraint, as the step took it: with gains that stabilise (in A) where the transmission is
// after the step, implicitly; without them where it is before the step (FreeMotion::explicit_step), or
// in the middle of the step (implicit schemes).
double mean_force(const Drive& drive, bool implicit, double rate0, double rate1, Scheme scheme, double h) {
  const bool symplectic = scheme == Scheme::symplectic_euler;
  double theta = scheme == Scheme::midpoint ? 0.5 : 1.0;
  if (symplectic && !implicit) theta = 0.0;
  const double weight = theta_vq(scheme);
  const double length = drive.length + theta * h * (weight * rate1 + (1.0 - weight) * rate0);
  const double rate = symplectic && !implicit ? rate0 : theta * rate1 + (1.0 - theta) * rate0;
  const double force = drive.constant + drive.position_gain * length + drive.velocity_gain * rate;
  return std::clamp(force, drive.lower, drive.upper);
}

}  // namespace

double drive_work(const World& world, const JointConstraints& joints, const ConstraintSet& set,
                  const std::vector<RowValues>& impulse, const State& begun, const Vector& velocity,
                  const Vector& input, const Vector& applied, Scheme scheme, double h) {
  Kinematics kinematics(world.model);  // of transmissions that depend on the state
  if (begun.mocap.size() > 0) kinematics.set_mocap(begun.mocap);
  kinematics.set_positions(begun.q);
  std::vector<JointConstraints::Term> room;
  double work = 0.5 * h * (applied.dot(begun.v) + applied.dot(velocity));
  for (std::size_t a = 0; a < world.model.actuators().size(); ++a) {
    const auto number = static_cast<Index>(a);
    if (joints.is_box(number)) continue;
    const JointConstraints::Acting now = joints.acting(number, kinematics, begun.q, begun.v, input, room);
    const double before = rate_along(now.terms, begun.v), after = rate_along(now.terms, velocity);
    const double force = mean_force(now.drive, joints.is_smooth(number), before, after, scheme, h);
    work += 0.5 * h * force * (before + after);
  }
  for (Index i = 0; i < set.size(); ++i) {
    if (set.entry(i).source != ConstraintSource::drive) continue;
    const auto terms = joints.acting(set.entry(i).origin, kinematics, begun.q, begun.v, input, room).terms;
    work += 0.5 * impulse[i][0] * (rate_along(terms, begun.v) + rate_along(terms, velocity));
  }
  return work;
}

void actuator_forces(const World& world, const JointConstraints& joints, const Kinematics& kinematics,
                     const ConstraintSet& set, const std::vector<RowValues>& impulse, const State& begun,
                     const Vector& velocity, const Vector& input, Scheme scheme, double h, Vector& force) {
  force.setZero(static_cast<Index>(world.model.actuators().size()));
  std::vector<JointConstraints::Term> room;
  for (Index a = 0; a < force.size(); ++a) {
    const ActuatorDescription& actuator = world.model.actuators()[static_cast<std::size_t>(a)];
    if (joints.is_box(a)) continue;
    if (actuator.body >= 0) {
      force[a] =
          std::clamp(actuator.gain * input[a] + actuator.bias[0], actuator.force_lower, actuator.force_upper);
      continue;
    }
    const JointConstraints::Acting now = joints.acting(a, kinematics, begun.q, begun.v, input, room);
    const double before = rate_along(now.terms, begun.v), after = rate_along(now.terms, velocity);
    force[a] = mean_force(now.drive, joints.is_smooth(a), before, after, scheme, h);
  }
  for (Index i = 0; i < set.size(); ++i) {
    if (set.entry(i).source == ConstraintSource::drive) force[set.entry(i).origin] = impulse[i][0] / h;
  }
}

}  // namespace tribo
