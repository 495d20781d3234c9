// Accelerations of the bodies in a step and the forces that pass through the joints, from the step's own change of velocity
// and impulses.
//
// The equations of the step hold at (q_m, v_m), the state the scheme looks at (free_motion.h): q0 and v0 of symplectic
// Euler, the end of implicit Euler, the middle of the midpoint rule. There vdot = (v - v0) / h; body b with the dofs of its
// path has the spatial acceleration sum_d S_d vdot_d + drift_b, and by the balance of the bodies below a cut
//   force  through the cut = sum m (a_c - g) - external forces
//   torque through the cut = sum (c - p) x (m (a_c - g)) + I alpha + w x I w - external torques about p
// which the parent exerts on the child. External: impulses of contacts, connects and welds over h, also those of flexible bodies
// and of what is attached to them, adhesion, actuators on sites, drag. Through the joints, and so no external forces: actuators on joints, springs, dampers, limits, couplings,
// applied generalised forces, gravity compensation. Spatial tendons pull on the bodies they pass; that is left out, as
// it is in MuJoCo. Cost: some passes over bodies, dofs and constraints.
#pragma once

#include "tribo/sim/sensors/last_step.h"

namespace tribo {

class StepForces {
 public:
  explicit StepForces(const World& world);

  // Everything below is of this step, until the next call.
  void set(const LastStep& step);

  const Kinematics& kinematics() const { return kinematics_; }  // at (q_m, v_m)
  // Of the point of the body that is at `point`, world axes, m/s^2 and rad/s^2; gravity is not in it.
  Vec3 acceleration(Index body, const Vec3& point) const;
  Vec3 angular_acceleration(Index body) const { return acceleration_[body].tail<3>(); }

  // Of the parent on the body, N, and N m about the point; world axes.
  struct Wrench {
    Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
  };
  Wrench through(Index body, const Vec3& point) const;
  Index subtree_end(Index body) const { return subtree_end_[body]; }

  double actuator_force(Index actuator) const { return actuator_force_[actuator]; }  // before the gear
  // Of all actuators on a hinge or slide, with gravity compensation where they carry it, within the joint's limits.
  double joint_actuator_force(Index joint) const;
  double tendon_actuator_force(Index tendon) const;
  // >= 0, of the limits of a joint or tendon.
  double limit_force(ConstraintSource source, Index origin) const;

 private:
  void place(const LastStep& step);
  void accelerate(const LastStep& step);
  void add_external(const LastStep& step);
  void add_flexible(const LastStep& step);
  void add_site_actuators();
  void add_coupling(const ConstraintSet::Entry& entry, double impulse);
  void push(Index body, const Vec3& point, const Vec3& force, const Vec3& torque);

  const World* world_;
  const LastStep* step_ = nullptr;
  JointConstraints joints_;
  Kinematics kinematics_;
  std::vector<Index> subtree_end_;
  std::vector<Vec6> acceleration_;  // [bodies] at the tree's origin, with the drift
  std::vector<Wrench> external_;    // [bodies] about the centre of mass
  Vector actuator_force_, middle_v_, change_;
};

}  // namespace tribo
