#include "tribo/multibody/kinematics.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "tribo/multibody/joint_types.h"
#include "tribo/multibody/spatial.h"

namespace tribo {

Kinematics::Kinematics(const Model& model)
    : model_(&model),
      turn_(model.joint_count(), Quat::Identity()),
      pose_(model.body_count()),
      orientation_(model.body_count(), Quat::Identity()),
      center_(model.body_count(), Vec3::Zero()),
      origin_(model.tree_count(), Vec3::Zero()),
      joint_anchor_(model.joint_count(), Vec3::Zero()),
      motion_(Motion::Zero(6, model.dof_count())),
      velocity_(model.body_count(), Vec6::Zero()),
      drift_(model.body_count(), Vec6::Zero()) {
  joints_.reserve(model.joint_count());
  bodies_.reserve(model.body_count());
  for (Index b = 0; b < model.body_count(); ++b) {
    Vec3 anchor = Vec3::Zero();
    for (Index j = model.joint_begin(b); j < model.joint_end(b); ++j) {
      const JointDescription& joint = model.joint(j);
      const JointTraits& traits = traits_of(joint.kind);
      const Vec3 shift = traits.has_anchor ? Vec3(joint.anchor - anchor) : Vec3::Zero();
      if (traits.has_anchor) anchor = joint.anchor;
      joints_.push_back({joint.kind,
                         !shift.isZero(0.0),
                         model.joint_coordinate(j),
                         model.joint_dof(j),
                         {joint.axis, joint.reference},
                         shift});
      if (traits.floating) motion_.block<3, 3>(0, model.joint_dof(j)).setIdentity();
    }
    bodies_.push_back({model.body_parent(b), model.joint_begin(b), model.joint_end(b), !anchor.isZero(0.0),
                       model.body_position(b), model.body_rotation(b), anchor, model.inertia(b).center});
  }
  const Vector reference = model.reference_coordinates();
  for (Index b = 1; b < model.body_count(); ++b) {
    if (model.body_tree(b) < 0) place_body(b, reference);  // fixed in the world: once and for all
  }
  set_positions(reference);
}

void Kinematics::set_positions(const Vector& q) {
  assert(q.size() == model_->coordinate_count());
  for (Index t = 0; t < model_->tree_count(); ++t) {
    const Index root = model_->tree_body(t), end = model_->tree_body_end(t);
    const Joint& joint = joints_[bodies_[root].joint];
    if (traits_of(joint.kind).floating) {
      place_free(root, q.data() + joint.coordinate);
    } else {
      set_turns(root, q);
      place_body(root, q);
    }
    origin_[t] = center_[root];
    set_motion(root, origin_[t]);
    for (Index b = root + 1; b < end; ++b) set_turns(b, q);
    for (Index b = root + 1; b < end; ++b) {
      place_body(b, q);
      set_motion(b, origin_[t]);
    }
  }
}

// Before the chain is walked: sines and cosines wait for nothing, poses for their parents.
void Kinematics::set_turns(Index body, const Vector& q) {
  for (Index j = bodies_[body].joint; j < bodies_[body].joint_end; ++j) {
    const Joint& joint = joints_[j];
    with_chained_joint(joint.kind, [&](auto type) {
      if constexpr (type.kFirstTurn < type.kTraits.dofs) {
        turn_[j] = type.turn(joint.geometry, q.data() + joint.coordinate);
      }
    });
  }
}

void Kinematics::place_free(Index body, const double* q) {
  orientation_[body] = unit_quaternion(q + 3);
  Pose& pose = pose_[body];
  pose.position = Vec3(q[0], q[1], q[2]);
  pose.rotation = orientation_[body].toRotationMatrix();
  center_[body] = pose * bodies_[body].center;
  const Index joint = bodies_[body].joint;
  joint_anchor_[joint] = pose.position;
  motion_.block<3, 3>(3, joints_[joint].dof + 3) = pose.rotation;
}

// The joints in their order, each in the frame the ones before left. A rotation about an anchor keeps the anchor
// where it is. `point` is the place of the last anchor.
void Kinematics::place_body(Index index, const Vector& q) {
  const Body& body = bodies_[index];
  Vec3 point = pose_[body.parent] * body.position;
  Quat orientation = orientation_[body.parent] * body.rotation;
  for (Index j = body.joint; j < body.joint_end; ++j) {
    const Joint& joint = joints_[j];
    with_chained_joint(joint.kind, [&](auto type) {
      if constexpr (type.kTraits.has_anchor) {
        if (joint.shifted) point += orientation * joint.shift;
        joint_anchor_[j] = point;
      }
      type.place(joint.geometry, q.data() + joint.coordinate, turn_[j], orientation, point,
                 motion_.data() + 6 * static_cast<std::size_t>(joint.dof));
    });
  }
  // Products of unit quaternions are off by a few roundings only: one step of Newton's for 1 / length is exact.
  orientation.coeffs() *= 1.5 - 0.5 * orientation.squaredNorm();
  orientation_[index] = orientation;
  Pose& pose = pose_[index];
  pose.rotation = orientation.toRotationMatrix();
  pose.position = body.offset ? Vec3(point - pose.rotation * body.anchor) : point;
  center_[index] = pose * body.center;
}

// The linear parts of the rotations, at the tree's origin.
void Kinematics::set_motion(Index body, const Vec3& origin) {
  for (Index j = bodies_[body].joint; j < bodies_[body].joint_end; ++j) {
    const Joint& joint = joints_[j];
    with_joint(joint.kind, [&](auto type) {
      if constexpr (type.kFirstTurn < type.kTraits.dofs) {
        const Vec3 arm = origin - joint_anchor_[j];
        for (Index d = joint.dof + type.kFirstTurn; d < joint.dof + type.kTraits.dofs; ++d) {
          motion_.col(d).head<3>() = motion_.col(d).tail<3>().cross(arm);
        }
      }
    });
  }
}

void Kinematics::set_velocities(const Vector& v) {
  assert(v.size() == model_->dof_count());
  for (Index t = 0; t < model_->tree_count(); ++t) {
    if (model_->is_free_body(t)) {
      move_free(t, v.data() + model_->tree_dof(t));
      continue;
    }
    for (Index b = model_->tree_body(t); b < model_->tree_body_end(t); ++b) move_body(b, v);
  }
}

// What move_body() comes to: the translation in world axes stands still, the rotation moves with it.
void Kinematics::move_free(Index tree, const double* v) {
  const Index body = model_->tree_body(tree);
  const Vec3 linear(v[0], v[1], v[2]);
  const Vec3 angular = pose_[body].rotation * Vec3(v[3], v[4], v[5]);
  velocity_[body] << linear + angular.cross(origin_[tree] - pose_[body].position), angular;
  drift_[body].head<3>() = linear.cross(angular);
}

// A motion column fixed in a frame that moves with V changes by V x s. The columns of a ball joint turn with what
// it carries; its own velocity drops out of the sum because w x w = 0. Those of a free joint's translation stand
// still.
void Kinematics::move_body(Index body, const Vector& v) {
  const Index parent = bodies_[body].parent;
  double velocity[6], drift[6];
  std::copy_n(velocity_[parent].data(), 6, velocity);
  std::copy_n(drift_[parent].data(), 6, drift);
  for (Index j = bodies_[body].joint; j < bodies_[body].joint_end; ++j) {
    const Joint& joint = joints_[j];
    const double* speed = v.data() + joint.dof;
    const double* motion = motion_.data() + 6 * static_cast<std::size_t>(joint.dof);
    double own[6];
    with_joint(joint.kind, [&](auto type) {
      for (Index k = 0; k < type.kStill; ++k) velocity[k] += speed[k];
      constexpr Index moving = type.kTraits.dofs - type.kStill;
      speed += type.kStill;
      motion += 6 * type.kStill;
      for (int i = 0; i < 6; ++i) {
        own[i] = speed[0] * motion[i];
        for (Index k = 1; k < moving; ++k) own[i] += speed[k] * motion[6 * k + i];
      }
    });
    add_cross_motion(velocity, own, drift);
    for (int i = 0; i < 6; ++i) velocity[i] += own[i];
  }
  std::copy_n(velocity, 6, velocity_[body].data());
  std::copy_n(drift, 6, drift_[body].data());
}

Vec3 Kinematics::point_velocity(Index body, const Vec3& point) const {
  const Index tree = model_->body_tree(body);
  const Vec3 arm = tree < 0 ? point : Vec3(point - origin_[tree]);
  return velocity_[body].head<3>() + velocity_[body].tail<3>().cross(arm);
}

void Kinematics::point_jacobian(Index body, const Vec3& point,
                                Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>> j) const {
  const Index tree = model_->body_tree(body);
  j.setZero();
  if (tree < 0) return;
  assert(j.cols() == model_->tree_dof_count(tree));
  const Vec3 arm = point - origin_[tree];
  for (Index d = model_->body_dof(body), first = model_->tree_dof(tree); d >= 0; d = model_->dof_parent(d)) {
    j.col(d - first) = motion_.col(d).head<3>() + motion_.col(d).tail<3>().cross(arm);
  }
}

void Kinematics::angular_jacobian(Index body, Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>> j) const {
  const Index tree = model_->body_tree(body);
  j.setZero();
  if (tree < 0) return;
  assert(j.cols() == model_->tree_dof_count(tree));
  for (Index d = model_->body_dof(body), first = model_->tree_dof(tree); d >= 0; d = model_->dof_parent(d)) {
    j.col(d - first) = motion_.col(d).tail<3>();
  }
}

void Kinematics::add_force(Index body, const Vec3& point, const Vec3& force, const Vec3& torque,
                           Vector& sum) const {
  const Index tree = model_->body_tree(body);
  if (tree < 0) return;
  const Vec3 moment = torque + (point - origin_[tree]).cross(force);
  for (Index d = model_->body_dof(body); d >= 0; d = model_->dof_parent(d)) {
    sum[d] += motion_.col(d).head<3>().dot(force) + motion_.col(d).tail<3>().dot(moment);
  }
}

// Bodies come depth first: what hangs on a mocap body follows it, up to the next child of the world. Nothing there has
// joints.
void Kinematics::set_mocap(const Vector& mocap) {
  const std::vector<Index>& list = model_->mocap_bodies();
  assert(mocap.size() == static_cast<Eigen::Index>(7 * list.size()));
  for (std::size_t k = 0; k < list.size(); ++k) {
    const Index body = list[k];
    const double* x = mocap.data() + 7 * k;
    orientation_[body] = unit_quaternion(x + 3);
    pose_[body] = {Vec3(x[0], x[1], x[2]), orientation_[body].toRotationMatrix()};
    center_[body] = pose_[body] * bodies_[body].center;
    for (Index b = body + 1; b < model_->body_count() && bodies_[b].parent != 0; ++b) place_body(b, Vector());
  }
}

void Kinematics::set_mocap_velocities(const std::vector<Vec6>& velocities) {
  const std::vector<Index>& list = model_->mocap_bodies();
  for (std::size_t k = 0; k < list.size(); ++k) {
    velocity_[list[k]] = velocities[k];
    for (Index b = list[k] + 1; b < model_->body_count() && bodies_[b].parent != 0; ++b)
      velocity_[b] = velocities[k];
  }
}

}  // namespace tribo
