// Drives an arm with a hand: a frame on the palm follows poses, the fingers open and close.
//
// The joint references come from the pose by damped Gauss-Newton steps from the last ones, so that they never jump, with what
// is left of the seventh joint kept near a posture:
//   dq = J+ e + (1 - J+ J) gain (q_posture - q),   J+ = J^T (J J^T + eps)^-1,   e: pose error (position, rotation vector)
// Joint impedances (control/joint_impedance.h) follow them; what the arm's joints lose to their damping is fed forward.
//
// Example
//   GuidedArm left(world, arm, hand, settings);
//   left.place(scene.start, home);                   // joints of the state and the references
//   left.go(now, {{0.8, above}, {1.2, there}});      // times from now
//   left.grip(true); left.move(time); left.add_force(simulator);   // in every step
#pragma once

#include <memory>

#include "tribo/control/joint_impedance.h"
#include "tribo/control/trajectory.h"
#include "tribo/scenes/manipulators.h"

namespace tribo::detail {

struct GuidedArmSettings {
  Vec3 point = Vec3::Zero();     // of the frame that is led, in the palm's, m
  Mat3 axes = Mat3::Identity();  // its axes in the palm's
  Vector posture;                // [7] rad; where the search for the first pose begins, too
  Vector stiffness, damping;     // [7] N m/rad, N m s/rad
  Vector open, closed;          // rad, of the hand's joints: wide open; references that press on what is held
  Vector finger_stiffness;      // N m/rad
  double finger_damping = 0.0;  // N m s/rad, beside that of the joints
  double closing_time = 0.4;    // s, from open to closed
};

class GuidedArm {
 public:
  GuidedArm(std::shared_ptr<const World> world, const Manipulator& arm, const Manipulator& hand,
            GuidedArmSettings settings);

  // Reference and state at this pose, the hand open. InvalidInput if the arm does not get there.
  void place(State& state, const Pose& pose);
  void restart();  // as after place()
  void follow(const PoseReference& target);
  // From where the reference is through poses at times from now [s], at rest in each.
  void go(double now, std::vector<PoseTrajectory::Keyframe> poses);
  void move(double time) { follow(path_.at(time)); }
  bool arrived(double time) const { return time >= path_.end(); }
  void grip(bool closed) { closing_ = closed; }
  void add_force(Simulator& simulator);

  const Pose& reference() const { return reference_; }
  Pose pose(const Kinematics& kinematics) const;  // where the frame is
  Index palm() const { return palm_; }
  double error() const { return error_; }  // of the joints' reference against the pose's, m and rad

 private:
  using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic>;
  void solve(const Pose& target, int iterations);

  std::shared_ptr<const World> world_;
  GuidedArmSettings settings_;
  Index palm_;
  std::vector<Index> joints_, fingers_;
  Kinematics kinematics_;
  JointImpedance arm_control_, finger_control_;
  PoseTrajectory path_{{{0.0, Pose{}}}};
  Vector all_, q_, v_, home_q_;  // [coordinates of the model], [7] references
  Vector losses_;                // [7] N m s/rad, damping of the joints themselves
  Jacobian jacobian_;            // at the reference
  Pose reference_, home_;
  double error_ = 0.0, closed_ = 0.0;  // closed_: 0 open, 1 closed
  bool closing_ = false;
};

}  // namespace tribo::detail
