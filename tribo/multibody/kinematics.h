// Where the bodies are and how they move: forward kinematics, velocities, Jacobians.
//
// All of a tree's spatial vectors are taken at one reference point of the tree, origin(t) (the centre of mass
// of its root body), in world axes, linear part first: motion(d) = (velocity of the point of the body at
// origin(t), angular velocity) per unit of v_d. So the velocity of a point p of body b is
//   V_b = sum over the dofs d on the path to b of motion(d) v_d,     pdot = V_lin + V_ang x (p - origin(t)).
//
// Example
//   Kinematics kinematics(model);
//   kinematics.set_positions(state.q);
//   Vec3 tip = kinematics.pose(hand) * Vec3(0, 0, 0.1);
//   kinematics.point_jacobian(hand, tip, jacobian);        // 3 x dofs of the tree
#pragma once

#include "tribo/multibody/model.h"

namespace tribo {

class Kinematics {
 public:
  using Motion = Eigen::Matrix<double, 6, Eigen::Dynamic>;

  explicit Kinematics(const Model& model);  // keeps a pointer: the model must outlive it

  const Model& model() const { return *model_; }

  // Poses, centres of mass, motion columns. O(bodies + dofs). Allocation-free.
  void set_positions(const Vector& q);
  // Spatial velocities of the bodies and their drift; after set_positions. Allocation-free.
  void set_velocities(const Vector& v);

  // Mocap bodies and what is welded to them: poses as in State::mocap, and spatial velocities (linear at the world's
  // origin, angular), [mocap bodies]. Allocation-free.
  void set_mocap(const Vector& mocap);
  void set_mocap_velocities(const std::vector<Vec6>& velocities);

  const Pose& pose(Index body) const { return pose_[body]; }
  const Quat& orientation(Index body) const { return orientation_[body]; }
  const Vec3& center(Index body) const { return center_[body]; }  // of mass, in the world
  const Vec3& origin(Index tree) const { return origin_[tree]; }
  const Motion& motion() const { return motion_; }  // 6 x dofs, world axes, at the origin of the dof's tree
  // (linear at origin(tree of the body), angular); zero for bodies fixed in the world, at the world's origin for mocap
  // bodies.
  const Vec6& velocity(Index body) const { return velocity_[body]; }
  // Spatial acceleration (linear at origin(tree), angular) of the body while vdot = 0: sum of d(motion(d))/dt v_d
  // over its path. The point that is at p now accelerates by drift_lin + drift_ang x (p - origin) + ang x pdot.
  const Vec6& drift(Index body) const { return drift_[body]; }
  Vec3 point_velocity(Index body, const Vec3& point) const;

  // d(point of `body` at `point`)/dv over the dofs of the body's tree; 3 x tree_dof_count. Columns of dofs not on
  // the body's path are zero.
  void point_jacobian(Index body, const Vec3& point,
                      Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>> j) const;
  // The same of the angular velocity.
  void angular_jacobian(Index body, Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>> j) const;
  // sum += J^T (force, torque): a force at `point` of the body and a torque on it, world axes, N and N m; sum: [dofs].
  void add_force(Index body, const Vec3& point, const Vec3& force, const Vec3& torque, Vector& sum) const;

 private:
  // What joints and bodies need at every step, side by side.
  struct Joint {
    JointKind kind;
    bool shifted;  // `shift` is not zero
    Index coordinate, dof;
    JointGeometry geometry;
    // From the anchor of the rotation before in the same body (at first the frame's origin) to this one.
    Vec3 shift;
  };
  struct Body {
    Index parent, joint, joint_end;
    bool offset;  // `anchor` is not zero
    Vec3 position;
    Quat rotation;
    Vec3 anchor;  // of the last rotation, in the frame
    Vec3 center;
  };

  void set_turns(Index body, const Vector& q);
  void place_free(Index body, const double* q);
  void place_body(Index body, const Vector& q);
  void set_motion(Index body, const Vec3& origin);
  void move_free(Index tree, const double* v);
  void move_body(Index body, const Vector& v);

  const Model* model_;
  std::vector<Joint> joints_;
  std::vector<Body> bodies_;
  std::vector<Quat> turn_;  // [joints] rotations of those that turn
  std::vector<Pose> pose_;
  std::vector<Quat> orientation_;
  std::vector<Vec3> center_, origin_;
  std::vector<Vec3> joint_anchor_;  // in the world
  Motion motion_;
  std::vector<Vec6> velocity_, drift_;
};

}  // namespace tribo
