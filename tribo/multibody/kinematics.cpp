#include "tribo/multibody/kinematics.h"

#include <cassert>
#include <cmath>

#include "tribo/multibody/spatial.h"

namespace tribo {
namespace {

// wxyz in memory; a quaternion of length zero stands for no rotation.
Quat unit_quaternion(const double* q) {
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(square > 0.0)) return Quat::Identity();
  const double scale = 1.0 / std::sqrt(square);
  return Quat(scale * q[0], scale * q[1], scale * q[2], scale * q[3]);
}

Quat hinge_rotation(const Vec3& axis, double angle) {
  const double sine = std::sin(0.5 * angle);
  return Quat(std::cos(0.5 * angle), sine * axis.x(), sine * axis.y(), sine * axis.z());
}

}  // namespace

Kinematics::Kinematics(const Model& model)
    : model_(&model),
      pose_(model.body_count()),
      orientation_(model.body_count(), Quat::Identity()),
      center_(model.body_count(), Vec3::Zero()),
      origin_(model.tree_count(), Vec3::Zero()),
      joint_anchor_(model.joint_count(), Vec3::Zero()),
      motion_(Motion::Zero(6, model.dof_count())),
      velocity_(model.body_count(), Vec6::Zero()),
      drift_(model.body_count(), Vec6::Zero()) {
  joints_.reserve(model.joint_count());
  for (Index j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(j);
    const bool offset =
        (joint.kind == JointKind::hinge || joint.kind == JointKind::ball) && !joint.anchor.isZero(0.0);
    joints_.push_back({joint.kind, offset, model.joint_coordinate(j), model.joint_dof(j), joint.reference,
                       joint.axis, joint.anchor});
    if (joint.kind == JointKind::free) motion_.block<3, 3>(0, model.joint_dof(j)).setIdentity();
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
    const Index root = model_->tree_body(t);
    if (joints_[model_->joint_begin(root)].kind == JointKind::free) {
      place_free(root, q.data() + joints_[model_->joint_begin(root)].coordinate);
    } else {
      place_body(root, q);
    }
    origin_[t] = center_[root];
    set_motion(root);
    for (Index b = root + 1; b < model_->tree_body_end(t); ++b) {
      place_body(b, q);
      set_motion(b);
    }
  }
}

void Kinematics::place_free(Index body, const double* q) {
  orientation_[body] = unit_quaternion(q + 3);
  Pose& pose = pose_[body];
  pose.position = Vec3(q[0], q[1], q[2]);
  pose.rotation = orientation_[body].toRotationMatrix();
  center_[body] = pose * model_->inertia(body).center;
  const Index joint = model_->joint_begin(body);
  joint_anchor_[joint] = pose.position;
  motion_.block<3, 3>(3, joints_[joint].dof + 3) = pose.rotation;
}

// The joints in their order, each in the frame the ones before left. A rotation about an anchor keeps the anchor
// where it is; an axis is the same before and after its own rotation.
void Kinematics::place_body(Index body, const Vector& q) {
  const Index parent = model_->body_parent(body);
  Vec3 position = pose_[parent] * model_->body_position(body);
  Quat orientation = orientation_[parent] * model_->body_rotation(body);
  for (Index j = model_->joint_begin(body); j < model_->joint_end(body); ++j) {
    const Joint& joint = joints_[j];
    const double* value = q.data() + joint.coordinate;
    if (joint.kind == JointKind::slide) {
      const Vec3 axis = orientation * joint.axis;
      position += (*value - joint.reference) * axis;
      motion_.col(joint.dof).head<3>() = axis;
      continue;
    }
    const Vec3 anchor = joint.offset ? Vec3(position + orientation * joint.anchor) : position;
    joint_anchor_[j] = anchor;
    if (joint.kind == JointKind::hinge) {
      orientation = orientation * hinge_rotation(joint.axis, *value - joint.reference);
      motion_.col(joint.dof).tail<3>() = orientation * joint.axis;
    } else {
      orientation = orientation * unit_quaternion(value);
      motion_.block<3, 3>(3, joint.dof) = orientation.toRotationMatrix();
    }
    if (joint.offset) position = anchor - orientation * joint.anchor;
  }
  orientation.normalize();
  orientation_[body] = orientation;
  pose_[body] = {position, orientation.toRotationMatrix()};
  center_[body] = pose_[body] * model_->inertia(body).center;
}

// The linear parts of the rotations, at the tree's origin.
void Kinematics::set_motion(Index body) {
  for (Index j = model_->joint_begin(body); j < model_->joint_end(body); ++j) {
    const Joint& joint = joints_[j];
    if (joint.kind == JointKind::slide) continue;
    const Vec3 arm = origin_[model_->body_tree(body)] - joint_anchor_[j];
    const Index last = joint.dof + dofs_of(joint.kind);
    for (Index d = joint.kind == JointKind::free ? joint.dof + 3 : joint.dof; d < last; ++d) {
      motion_.col(d).head<3>() = motion_.col(d).tail<3>().cross(arm);
    }
  }
}

void Kinematics::set_velocities(const Vector& v) {
  assert(v.size() == model_->dof_count());
  for (Index t = 0; t < model_->tree_count(); ++t) {
    for (Index b = model_->tree_body(t); b < model_->tree_body_end(t); ++b) move_body(b, v);
  }
}

// A motion column fixed in a frame that moves with V changes by V x s. The columns of a ball joint turn with what
// it carries; its own velocity drops out of the sum because w x w = 0. Those of a free joint's translation stand
// still.
void Kinematics::move_body(Index body, const Vector& v) {
  const Index parent = model_->body_parent(body);
  Vec6 velocity = velocity_[parent], drift = drift_[parent];
  for (Index j = model_->joint_begin(body); j < model_->joint_end(body); ++j) {
    const Joint& joint = joints_[j];
    Vec6 own = Vec6::Zero();
    switch (joint.kind) {
      case JointKind::free:
        velocity.head<3>() += v.segment<3>(joint.dof);
        own.noalias() = motion_.middleCols<3>(joint.dof + 3) * v.segment<3>(joint.dof + 3);
        break;
      case JointKind::ball:
        own.noalias() = motion_.middleCols<3>(joint.dof) * v.segment<3>(joint.dof);
        break;
      case JointKind::hinge:
      case JointKind::slide:
        own = v[joint.dof] * motion_.col(joint.dof);
        break;
    }
    drift += cross_motion(velocity, own);
    velocity += own;
  }
  velocity_[body] = velocity;
  drift_[body] = drift;
}

Vec3 Kinematics::point_velocity(Index body, const Vec3& point) const {
  const Index tree = model_->body_tree(body);
  if (tree < 0) return Vec3::Zero();
  return velocity_[body].head<3>() + velocity_[body].tail<3>().cross(point - origin_[tree]);
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

}  // namespace tribo
