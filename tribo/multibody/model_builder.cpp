#include "tribo/multibody/model_builder.h"

#include <fmt/format.h>

#include <utility>

#include "tribo/base/errors.h"
#include "tribo/multibody/joint_types.h"
#include "tribo/multibody/model_validation.h"

namespace tribo {

Index ModelBuilder::add_body(BodyDescription body) {
  bodies_.push_back(std::move(body));
  return static_cast<Index>(bodies_.size());
}

Index ModelBuilder::add_joint(JointDescription joint) {
  const Index last = static_cast<Index>(bodies_.size());
  if (joint.body != last || last == 0) {
    throw InvalidInput(
        fmt::format("joint \"{}\" is of body {}: joints are added to the body added last, which is {}{}",
                    joint.name, joint.body, last, last == 0 ? " (the world, which has no joints)" : ""));
  }
  joints_.push_back(std::move(joint));
  return static_cast<Index>(joints_.size()) - 1;
}

Index ModelBuilder::add_free_body(std::string name, const Pose& pose, const RigidInertia& inertia) {
  const Index body = add_body({.name = name,
                               .parent = 0,
                               .position = pose.position,
                               .rotation = Quat(pose.rotation),
                               .inertia = inertia});
  add_joint({.name = std::move(name), .body = body, .kind = JointKind::free});
  return body;
}

Index ModelBuilder::add_tendon(TendonDescription tendon) {
  tendons_.push_back(std::move(tendon));
  return static_cast<Index>(tendons_.size()) - 1;
}

Index ModelBuilder::add_actuator(ActuatorDescription actuator) {
  actuators_.push_back(std::move(actuator));
  return static_cast<Index>(actuators_.size()) - 1;
}

Index ModelBuilder::add_site(SiteDescription site) {
  sites_.push_back(std::move(site));
  return static_cast<Index>(sites_.size()) - 1;
}

void ModelBuilder::validate() const {
  const std::span<const BodyDescription> bodies = bodies_;
  const std::span<const JointDescription> joints = joints_;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    detail::validate_body(static_cast<Index>(b) + 1, bodies[b], bodies.first(b));
  }
  for (std::size_t begin = 0, end = 0; begin < joints.size(); begin = end) {
    for (end = begin; end < joints.size() && joints[end].body == joints[begin].body; ++end) {
      detail::validate_joint(static_cast<Index>(end), joints[end]);
    }
    detail::validate_joints_of(bodies[joints[begin].body - 1], joints.subspan(begin, end - begin));
  }
  const Index joint_count = static_cast<Index>(joints.size());
  const Index tendon_count = static_cast<Index>(tendons_.size());
  for (Index t = 0; t < tendon_count; ++t) {
    detail::validate_tendon(t, tendons_[t], joints, static_cast<Index>(bodies.size()) + 1);
  }
  for (Index a = 0; a < static_cast<Index>(actuators_.size()); ++a) {
    detail::validate_actuator(a, actuators_[a],
                              {static_cast<Index>(bodies.size()) + 1, joint_count, tendon_count,
                               static_cast<Index>(sites_.size())});
  }
  for (Index s = 0; s < static_cast<Index>(sites_.size()); ++s) {
    detail::validate_site(s, sites_[s], static_cast<Index>(bodies.size()) + 1);
  }
}

// Numbers the joints of body b, which are next in line, and their coordinates and dofs.
void ModelBuilder::place_joints(Index b, Model& model) const {
  Index& last_dof = model.body_dof_[b];
  Index joint = model.joint_count();
  for (; joint < static_cast<Index>(joints_.size()) && joints_[joint].body == b; ++joint) {
    JointDescription& description = model.joints_.emplace_back(joints_[joint]);
    if (traits_of(description.kind).has_axis) description.axis = description.axis.stableNormalized();
    model.joint_coordinate_.push_back(model.coordinate_count_);
    model.joint_dof_.push_back(static_cast<Index>(model.dof_parent_.size()));
    model.coordinate_count_ += coordinates_of(description.kind);
    for (Index d = 0; d < dofs_of(description.kind); ++d) {
      model.dof_parent_.push_back(last_dof);
      model.dof_joint_.push_back(joint);
      last_dof = static_cast<Index>(model.dof_parent_.size()) - 1;
    }
  }
  model.body_joint_.push_back(joint);
}

void ModelBuilder::place_body(Index b, Model& model) const {
  const BodyDescription& body = bodies_[b - 1];
  model.body_names_.push_back(body.name);
  model.body_parent_.push_back(body.parent);
  model.body_position_.push_back(body.position);
  model.body_rotation_.push_back(body.rotation.normalized());
  model.inertia_.push_back(body.inertia);
  model.gravity_compensation_.push_back(body.gravity_compensation);
  model.inertia_axes_.push_back(body.inertia_axes);
  if (body.mocap) model.mocap_bodies_.push_back(b);
  Mat3& rotational = model.inertia_.back().rotational;
  rotational = Mat3(0.5 * (rotational + rotational.transpose()));
  model.body_dof_.push_back(model.body_dof_[body.parent]);
  Index tree = model.body_tree_[body.parent];
  const Index joint = model.joint_count();
  Index root = b;  // the child of the world above it, or itself
  while (model.body_parent_[root] != 0) root = model.body_parent_[root];
  const bool carried = root != b && !model.mocap_bodies_.empty() && root == model.mocap_bodies_.back();
  place_joints(b, model);
  if (carried && model.joint_count() > joint) {
    throw InvalidInput(fmt::format(
        "body {} \"{}\": it has joints and hangs on the mocap body \"{}\": couple it by a weld or a "
        "connect instead",
        b, body.name, model.body_names_[model.mocap_bodies_.back()]));
  }
  if (tree < 0 && model.joint_count() > joint) {
    tree = model.tree_count();
    model.tree_dof_.push_back(0);
    model.tree_body_.push_back(b);
    model.tree_body_end_.push_back(b);
    model.tree_is_free_body_.push_back(traits_of(model.joints_[joint].kind).floating);
  }
  model.body_tree_.push_back(tree);
  if (tree < 0) return;
  model.tree_dof_[tree + 1] = static_cast<Index>(model.dof_parent_.size());
  model.tree_body_end_[tree] = b + 1;
  if (b > model.tree_body_[tree]) model.tree_is_free_body_[tree] = false;
}

Model ModelBuilder::build() {
  validate();
  Model model;
  for (Index b = 1; b <= static_cast<Index>(bodies_.size()); ++b) place_body(b, model);
  detail::validate_inertias(model);

  model.armature_.resize(model.dof_count());
  model.damping_.resize(model.dof_count());
  model.dry_friction_.resize(model.dof_count());
  for (Index d = 0; d < model.dof_count(); ++d) {
    const JointDescription& joint = model.joints_[model.dof_joint_[d]];
    model.armature_[d] = joint.armature;
    model.damping_[d] = joint.damping;
    model.dry_friction_[d] = joint.dry_friction;
  }
  model.reference_.resize(model.coordinate_count());
  for (Index j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joints_[j];
    with_joint(joint.kind, [&](auto type) {
      type.reference(joint, model.body_position_[joint.body], model.body_rotation_[joint.body],
                     model.reference_.data() + model.joint_coordinate_[j]);
    });
  }
  model.tendons_ = tendons_;
  model.actuators_ = actuators_;
  for (const ActuatorDescription& actuator : actuators_) {
    const bool has = actuator.activation != ActivationKind::none;
    model.activation_.push_back(has ? model.activation_count_++ : -1);
  }
  model.sites_ = sites_;
  return model;
}

}  // namespace tribo
