// Forces of actuators in one step, and the work that they and applied forces do, J: what a balance of energy has to take off.
//
// Of an impulse p along a transmission of rate x (before the step) and x' (after it) the work is p (x + x') / 2: with a mass
// that does not change, M (v' - v) = h f + J^T lambda gives a change of kinetic energy of exactly (h f + J^T lambda) .
// (v + v') / 2. Masses that change with the pose make an error of third order in h.
#pragma once

#include <vector>

#include "tribo/sim/assembly/constraint_set.h"
#include "tribo/sim/forces/free_motion.h"

namespace tribo {

// The step went from `begun` to the velocity `velocity` [dofs] with these inputs [actuators] and applied forces [dofs];
// `impulse` [constraints of the set], N s. Cost: proportional to dofs, actuators and constraints.
double drive_work(const World& world, const JointConstraints& joints, const ConstraintSet& set,
                  const std::vector<RowValues>& impulse, const State& begun, const Vector& velocity,
                  const Vector& input, const Vector& applied, Scheme scheme, double h);

// The forces of the actuators in the same step, before the gear, N or N m: [actuators]. `joints` and `kinematics` as they
// were when the step was posed.
void actuator_forces(const World& world, const JointConstraints& joints, const Kinematics& kinematics,
                     const ConstraintSet& set, const std::vector<RowValues>& impulse, const State& begun,
                     const Vector& velocity, const Vector& input, Scheme scheme, double h, Vector& force);

}  // namespace tribo
