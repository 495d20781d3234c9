#include "tribo/sim/sensors/step_forces.h"

#include <algorithm>

#include "tribo/sim/assembly/body_couplings.h"
#include "tribo/sim/forces/adhesion.h"
#include "tribo/sim/forces/drive_work.h"

namespace tribo {

StepForces::StepForces(const World& world) : world_(&world), joints_(world), kinematics_(world.model) {
  const Index bodies = world.model.body_count();
  subtree_end_.resize(static_cast<std::size_t>(bodies));
  for (Index b = 0; b < bodies; ++b) {
    Index end = b + 1;  // depth first: the first that hangs further up ends it
    while (end < bodies && world.model.body_parent(end) >= b) ++end;
    subtree_end_[b] = end;
  }
}

void StepForces::set(const LastStep& step) {
  step_ = &step;
  place(step);
  accelerate(step);
  joints_.set_positions(kinematics_);
  actuator_forces(*world_, joints_, kinematics_, step.set, step.impulse, step.begun, step.velocity,
                  step.input, step.scheme, step.h, actuator_force_);
  add_external(step);
}

void StepForces::place(const LastStep& step) {
  const double theta = theta_of(step.scheme), weight = theta_vq(step.scheme);
  Vector q = step.begun.q;
  if (theta > 0.0) {
    middle_v_ = weight * step.velocity + (1.0 - weight) * step.begun.v;
    integrate(world_->model, middle_v_, theta * step.h, q);
  }
  middle_v_ = theta * step.velocity + (1.0 - theta) * step.begun.v;
  if (step.begun.mocap.size() > 0) kinematics_.set_mocap(step.begun.mocap);
  kinematics_.set_positions(q);
  kinematics_.set_velocities(middle_v_);
  if (!step.mocap_velocity.empty()) kinematics_.set_mocap_velocities(step.mocap_velocity);
}

void StepForces::accelerate(const LastStep& step) {
  const Model& model = world_->model;
  change_ = (step.velocity - step.begun.v) / step.h;
  acceleration_.assign(static_cast<std::size_t>(model.body_count()), Vec6::Zero());
  // First without the drift, which is already a sum over the path.
  for (Index b = 1; b < model.body_count(); ++b) {
    if (model.body_tree(b) < 0) continue;
    const Index parent = model.body_parent(b);
    if (model.body_tree(parent) == model.body_tree(b)) acceleration_[b] = acceleration_[parent];
    for (Index j = model.joint_begin(b); j < model.joint_end(b); ++j) {
      const Index first = model.joint_dof(j), count = dofs_of(model.joint(j).kind);
      acceleration_[b] += kinematics_.motion().middleCols(first, count) * change_.segment(first, count);
    }
  }
  for (Index b = 1; b < model.body_count(); ++b) {
    if (model.body_tree(b) >= 0) acceleration_[b] += kinematics_.drift(b);
  }
}

Vec3 StepForces::acceleration(Index body, const Vec3& point) const {
  const Index tree = world_->model.body_tree(body);
  const Vec3 angular = kinematics_.velocity(body).tail<3>();
  const Vec3 origin = tree >= 0 ? kinematics_.origin(tree) : Vec3::Zero();
  return acceleration_[body].head<3>() + acceleration_[body].tail<3>().cross(point - origin) +
         angular.cross(kinematics_.point_velocity(body, point));
}

void StepForces::push(Index body, const Vec3& point, const Vec3& force, const Vec3& torque) {
  external_[body].force += force;
  external_[body].torque += torque + (point - kinematics_.center(body)).cross(force);
}

void StepForces::add_external(const LastStep& step) {
  external_.assign(static_cast<std::size_t>(world_->model.body_count()), Wrench());
  for (std::size_t c = 0; c < step.contacts.size(); ++c) {
    const Contact& contact = step.contacts[c];
    const Vec3 force = step.contact_impulses[c] / step.h, torque = step.contact_torques[c] / step.h;
    push(contact.body_b, contact.position, force, torque);
    push(contact.body_a, contact.position, -force, -torque);
  }
  for (Index i = 0; i < step.set.size(); ++i) {
    if (step.set.entry(i).source == ConstraintSource::coupling) {
      add_coupling(step.set.entry(i), step.impulse[i][0] / step.h);
    }
  }
  visit_adhesion(*world_, step.contacts, step.input, [this](const Contact& c, const Vec3& force) {
    push(c.body_b, c.position, force, Vec3::Zero());
    push(c.body_a, c.position, -force, Vec3::Zero());
  });
  add_flexible(step);
  add_site_actuators();
  joints_.body_forces().visit_drag(
      kinematics_, [this](Index body, const Vec3& point, const Vec3& force, const Vec3& torque) {
        push(body, point, force, torque);
      });
}

// Contacts of flexible bodies with geoms, and attachments: three rows each in the order of the world
// (flexible_constraints.cpp), the force along a world axis on the node.
void StepForces::add_flexible(const LastStep& step) {
  for (std::size_t c = 0; c < step.flexible_contacts.size(); ++c) {
    const FlexibleContact& contact = step.flexible_contacts[c];
    if (contact.a.flexible >= 0) continue;
    push(contact.a.body, contact.position, -step.flexible_impulses[c] / step.h, Vec3::Zero());
  }
  Index row = 0;
  for (const FlexibleBody& body : world_->flexible_bodies) {
    for (const NodeAttachment& tie : body.attachments) {
      Vec3 force;
      for (int axis = 0; axis < 3; ++axis, ++row) {
        while (step.set.entry(row).source != ConstraintSource::attachment) ++row;
        force[axis] = step.impulse[row][0] / step.h;
      }
      push(tie.body, kinematics_.pose(tie.body) * tie.anchor, -force, Vec3::Zero());
    }
  }
}

// A row of a connect or weld (joint_constraints.cpp): along or about a world axis, + on the second body. Other couplings
// act through the joints.
void StepForces::add_coupling(const ConstraintSet::Entry& entry, double force) {
  const CouplingRow row = coupling_row(entry.data.key);
  const auto place = static_cast<std::size_t>(entry.origin);
  if (row.kind == CouplingRow::Kind::connect) {
    const Connect& c = world_->connects[place];
    const Vec3 push_second = force * Vec3::Unit(row.axis);
    push(c.second, kinematics_.pose(c.second) * c.second_anchor, push_second, Vec3::Zero());
    push(c.first, kinematics_.pose(c.first) * c.first_anchor, -push_second, Vec3::Zero());
  } else if (row.kind == CouplingRow::Kind::weld) {
    const Weld& w = world_->welds[place];
    const Vec3 along = row.axis < 3 ? Vec3(force * Vec3::Unit(row.axis)) : Vec3::Zero();
    const Vec3 about = row.axis < 3 ? Vec3::Zero() : Vec3(force * Vec3::Unit(row.axis - 3));
    push(w.second, kinematics_.pose(w.second) * w.second_frame.position, along, about);
    push(w.first, kinematics_.pose(w.first) * w.first_frame.position, -along, -about);
  }
}

// See site_transmission.h.
void StepForces::add_site_actuators() {
  const Model& model = world_->model;
  for (std::size_t a = 0; a < model.actuators().size(); ++a) {
    const ActuatorDescription& actuator = model.actuators()[a];
    if (actuator.site < 0) continue;
    const SiteDescription& site = model.sites()[static_cast<std::size_t>(actuator.site)];
    const Pose at = kinematics_.pose(site.body) * site.pose;
    const double size = actuator_force_[static_cast<Index>(a)];
    if (actuator.reference_site < 0) {
      push(site.body, at.position, size * (at.rotation * actuator.gear.head<3>()),
           size * (at.rotation * actuator.gear.tail<3>()));
      continue;
    }
    const SiteDescription& other = model.sites()[static_cast<std::size_t>(actuator.reference_site)];
    const Pose from = kinematics_.pose(other.body) * other.pose;
    const Vec3 force = size * (from.rotation * actuator.gear.head<3>());
    const Vec3 torque = size * (from.rotation * actuator.gear.tail<3>());
    push(site.body, at.position, force, torque);
    push(other.body, from.position, -force, -torque);
  }
}

StepForces::Wrench StepForces::through(Index body, const Vec3& point) const {
  const Model& model = world_->model;
  Wrench sum;
  for (Index b = body; b < subtree_end_[body]; ++b) {
    const RigidInertia& inertia = model.inertia(b);
    const Vec3& center = kinematics_.center(b);
    Vec3 force = -external_[b].force, torque = -external_[b].torque;
    if (inertia.mass > 0.0 || !inertia.rotational.isZero(0.0)) {
      const Mat3& r = kinematics_.pose(b).rotation;
      const Vec3 spin = r.transpose() * kinematics_.velocity(b).tail<3>();
      const Vec3 turn = r.transpose() * angular_acceleration(b);
      force += inertia.mass * (acceleration(b, center) - step_->gravity);
      torque += r * (inertia.rotational * turn + spin.cross(inertia.rotational * spin));
    }
    sum.force += force;
    sum.torque += torque + (center - point).cross(force);
  }
  return sum;
}

double StepForces::joint_actuator_force(Index joint) const {
  const Model& model = world_->model;
  const Index dof = model.joint_dof(joint);
  double sum = 0.0;
  std::vector<JointConstraints::Term> room;
  for (std::size_t a = 0; a < model.actuators().size(); ++a) {
    const auto number = static_cast<Index>(a);
    const auto now = joints_.acting(number, kinematics_, step_->begun.q, step_->begun.v, step_->input, room);
    for (const auto& term : now.terms) {
      if (term.dof == dof) sum += term.coefficient * actuator_force_[number];
    }
  }
  const JointDescription& description = model.joint(joint);
  if (description.actuator_compensation && !model.actuators().empty()) {
    sum += joints_.body_forces().compensation_of(kinematics_, dof);
    sum = std::clamp(sum, description.actuator_force_lower, description.actuator_force_upper);
  }
  return sum;
}

double StepForces::tendon_actuator_force(Index tendon) const {
  const Model& model = world_->model;
  double sum = 0.0;
  for (std::size_t a = 0; a < model.actuators().size(); ++a) {
    if (model.actuators()[a].tendon != tendon) continue;
    sum += model.actuators()[a].gear[0] * actuator_force_[static_cast<Index>(a)];
  }
  return sum;
}

double StepForces::limit_force(ConstraintSource source, Index origin) const {
  double sum = 0.0;
  for (Index i = 0; i < step_->set.size(); ++i) {
    const ConstraintSet::Entry& entry = step_->set.entry(i);
    if (entry.source == source && entry.origin == origin) sum += step_->impulse[i][0] / step_->h;
  }
  return sum;
}

}  // namespace tribo
