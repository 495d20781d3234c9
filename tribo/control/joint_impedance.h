// Joint impedance: springs and dampers about a reference motion, with the weight carried and the inertia fed forward.
//
//   tau = K (q_ref - q) + D (v_ref - v) + weight(q) + coriolis(q, v) + M(q) a_ref + feed-forward
//
// for the dofs of the joints it is given, clamped to their efforts; other dofs get nothing. With the model exact,
// M (a - a_ref) + D (v - v_ref) + K (q - q_ref) = contact forces: without contact the reference is followed to the order
// of the time step, and a steady push F displaces by F / K. Applied forces act explicitly: keep h^2 K and h D well below
// the inertia of every dof (armature counts), or use drives with a position gain (ActuatorDescription), which are implicit.
//
// Example
//   JointImpedance arm(simulator.world(), {.joints = joints, .stiffness = 400.0, .damping = 40.0});
//   simulator.force().setZero();
//   arm.add_force(simulator.kinematics(), simulator.state(), target, simulator.force());
#pragma once

#include <limits>
#include <vector>

#include "tribo/control/trajectory.h"
#include "tribo/multibody/dynamics.h"
#include "tribo/sim/world.h"

namespace tribo {

struct JointImpedanceSettings {
  std::vector<Index> joints = {};          // hinges and slides; empty: all of the model
  double stiffness = 0.0;                  // of every joint, N m/rad or N/m, >= 0
  double damping = 0.0;                    // N m s/rad or N s/m, >= 0
  Vector stiffnesses = {}, dampings = {};  // of each joint, in place of the above
  Vector efforts = {};                     // largest |tau| of each joint; empty: no limit
  bool compensate_weight = true;
  bool compensate_coriolis = true;
};

// Of the joints in the settings' order; what is empty is zero, but for `value`, which must be given.
struct JointTarget {
  Vector value, velocity = {}, acceleration = {}, force = {};

  static JointTarget of(const Reference& reference) {
    return {reference.value, reference.velocity, reference.acceleration, {}};
  }
};

class JointImpedance {
 public:
  // Keeps a reference to the world. InvalidInput when a joint is not a hinge or slide, a size does not fit or a gain is
  // negative.
  JointImpedance(const World& world, JointImpedanceSettings settings);

  // sum += tau, [dofs]. `kinematics` at the positions and velocities of `state`.
  void add_force(const Kinematics& kinematics, const State& state, const JointTarget& target, Vector& sum);
  const std::vector<Index>& joints() const { return settings_.joints; }
  // Their coordinates in a state.
  Vector values(const State& state) const;

 private:
  const World* world_;
  JointImpedanceSettings settings_;
  Dynamics dynamics_;
  Vector acceleration_, inertia_, bias_, weight_;  // [dofs]
};

// sum += what carries the weight of all bodies of the model, [dofs], less what BodyDescription::gravity_compensation carries.
void add_weight_compensation(const World& world, const Kinematics& kinematics, Vector& sum);

}  // namespace tribo
