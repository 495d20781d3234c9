// Follows the energy of a simulation: what it was at most, and what was created that no actuator and no applied force paid.
//
// With B = energy - work of actuators and applied forces so far - energy that position corrections cost (lifting a body out of
// the floor, StepReport::correction_work), contacts, friction and damping can only lower B. Two measures
// of the opposite: `created` = max B - B at the beginning, and `largest_rise` = the largest rise of B above an earlier value,
// which also finds what is created after more was lost.
//
// Symplectic Euler moves q_(k-1) to q_k with v_k: the velocity belongs to the middle of its step. Kinetic energy K of v_k at q_k
// beside the potential U at q_k goes up and down by a share of order h of whatever swings. B therefore uses
//   (K(q_(k-1), v_k) + K(q_k, v_k)) / 2 + (U_(k-1) + U_k) / 2,
// which is constant where forces are, and off by order h^2 elsewhere. Other schemes: K + U at the end of the step.
#pragma once

#include "tribo/sim/simulator.h"

namespace tribo::cli {

class EnergyBalance {
 public:
  // At the beginning: `simulator` is in its start state.
  explicit EnergyBalance(const Simulator& simulator);

  // After every step.
  void add(const Simulator& simulator, const StepReport& report);

  double maximum() const { return maximum_; }            // J, of kinetic and potential energy after a step
  double work() const { return work_; }                  // J, of actuators and applied forces
  double correction_work() const { return corrected_; }  // J
  double created() const { return created_; }            // J
  double largest_rise() const { return largest_rise_; }  // J

 private:
  Kinematics kinematics_;  // where the next step begins
  Dynamics dynamics_;
  double begin_, lowest_, maximum_, potential_;
  double work_ = 0.0, corrected_ = 0.0, created_ = 0.0, largest_rise_ = 0.0;
};

}  // namespace tribo::cli
