#include "tribo/multibody/site_transmission.h"

#include <cmath>

#include "tribo/multibody/tendon_path.h"

namespace tribo {

namespace {

bool moves(const Model& model, Index dof, Index body) {
  Index d = model.body_dof(body);
  while (d > dof) d = model.dof_parent(d);
  return d == dof;
}

// Rotation vector of b seen from a, angle at most pi.
Vec3 turn_between(const Mat3& a, const Mat3& b) {
  const Eigen::AngleAxisd turn(Mat3(a.transpose() * b));
  return turn.angle() * turn.axis();
}

}  // namespace

double site_transmission(const Kinematics& kinematics, const ActuatorDescription& actuator,
                         std::vector<DofTerm>& terms) {
  const Model& model = kinematics.model();
  const SiteDescription& site = model.sites()[static_cast<std::size_t>(actuator.site)];
  const Pose placed = kinematics.pose(site.body) * site.pose;
  const bool relative = actuator.reference_site >= 0;
  const SiteDescription& base =
      relative ? model.sites()[static_cast<std::size_t>(actuator.reference_site)] : site;
  const Pose frame = kinematics.pose(base.body) * base.pose;
  const Vec3 force = frame.rotation * actuator.gear.head<3>(),
             torque = frame.rotation * actuator.gear.tail<3>();
  terms.clear();
  const auto add_path = [&](Index body, Index other, const Vec3& point, double sign) {
    const Index tree = model.body_tree(body);
    if (tree < 0) return;
    const Vec3 moment = torque + (point - kinematics.origin(tree)).cross(force);
    for (Index d = model.body_dof(body); d >= 0; d = model.dof_parent(d)) {
      if (relative && moves(model, d, other)) continue;
      const auto motion = kinematics.motion().col(d);
      terms.push_back({d, sign * (motion.head<3>().dot(force) + motion.tail<3>().dot(moment))});
    }
  };
  add_path(site.body, base.body, placed.position, 1.0);
  if (!relative) return 0.0;
  add_path(base.body, site.body, frame.position, -1.0);
  double length = actuator.gear.head<3>().dot(frame.to_local(placed.position));
  if (!actuator.gear.tail<3>().isZero(0.0)) {
    length += actuator.gear.tail<3>().dot(turn_between(frame.rotation, placed.rotation));
  }
  return length;
}

Vector transmission_row(const Kinematics& kinematics, const ActuatorDescription& actuator) {
  const Model& model = kinematics.model();
  Vector row = Vector::Zero(model.dof_count());
  if (actuator.joint >= 0) {
    const Index dofs = dofs_of(model.joint(actuator.joint).kind);
    row.segment(model.joint_dof(actuator.joint), dofs) = actuator.gear.head(dofs);
  } else if (actuator.tendon >= 0) {
    const TendonDescription& tendon = model.tendons()[static_cast<std::size_t>(actuator.tendon)];
    for (const auto& term : tendon.terms) row[model.joint_dof(term.joint)] += term.coefficient;
    add_tendon_gradient(kinematics, tendon, {row.data(), static_cast<std::size_t>(row.size())});
    row *= actuator.gear[0];
  } else if (actuator.site >= 0) {
    std::vector<DofTerm> terms;
    site_transmission(kinematics, actuator, terms);
    for (const DofTerm& term : terms) row[term.dof] += term.coefficient;
  }
  return row;
}

}  // namespace tribo
