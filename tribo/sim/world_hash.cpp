#include "tribo/sim/world_hash.h"

#include <bit>
#include <cmath>

namespace tribo {

namespace {

class Hash {
 public:
  void add(std::uint64_t bits) {
    for (int byte = 0; byte < 8; ++byte) value_ = (value_ ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3ULL;
  }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
  void add(Index number) { add(static_cast<std::uint64_t>(static_cast<std::int64_t>(number))); }
  void add(bool flag) { add(flag ? 1 : 0); }
  template <class Derived>
  void add(const Eigen::MatrixBase<Derived>& m) {
    for (Eigen::Index c = 0; c < m.cols(); ++c) {
      for (Eigen::Index r = 0; r < m.rows(); ++r) add(static_cast<double>(m(r, c)));
    }
  }
  void add(const Quat& q) { add(q.coeffs()); }
  void add(const Pose& pose) {
    add(pose.position);
    add(pose.rotation);
  }
  template <std::size_t N>
  void add(const std::array<double, N>& numbers) {
    for (const double x : numbers) add(x);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

void add_bodies(const Model& model, Hash& hash) {
  hash.add(model.body_count());
  for (Index b = 0; b < model.body_count(); ++b) {
    hash.add(model.body_parent(b));
    hash.add(model.body_position(b));
    hash.add(model.body_rotation(b));
    const RigidInertia& inertia = model.inertia(b);
    hash.add(inertia.mass);
    hash.add(inertia.center);
    hash.add(inertia.rotational);
    hash.add(model.gravity_compensation(b));
  }
  for (const Index b : model.mocap_bodies()) hash.add(b);
}

void add_joints(const Model& model, Hash& hash) {
  hash.add(model.joint_count());
  for (Index j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(j);
    hash.add(static_cast<Index>(joint.kind));
    hash.add(joint.body);
    hash.add(joint.axis);
    hash.add(joint.anchor);
    hash.add(std::array{joint.reference, joint.armature, joint.damping, joint.stiffness,
                        joint.spring_reference, joint.lower, joint.upper, joint.limit_margin,
                        joint.dry_friction, joint.actuator_force_lower, joint.actuator_force_upper});
    hash.add(joint.limited);
    hash.add(joint.actuator_compensation);
  }
  hash.add(static_cast<Index>(model.tendons().size()));
  for (const TendonDescription& tendon : model.tendons()) {
    hash.add(std::array{tendon.damping, tendon.stiffness, tendon.spring_lower, tendon.spring_upper,
                        tendon.lower, tendon.upper, tendon.limit_margin, tendon.dry_friction});
    hash.add(tendon.limited);
    for (const auto& term : tendon.terms) {
      hash.add(term.joint);
      hash.add(term.coefficient);
    }
    for (const TendonPoint& point : tendon.path) {
      hash.add(point.body);
      hash.add(point.pose);
      hash.add(point.radius);
    }
  }
  hash.add(static_cast<Index>(model.sites().size()));
  for (const SiteDescription& site : model.sites()) {
    hash.add(site.body);
    hash.add(site.pose);
  }
}

void add_muscle(const std::optional<Muscle>& muscle, Hash& hash) {
  hash.add(muscle.has_value());
  if (!muscle) return;
  hash.add(std::array{muscle->range_lower, muscle->range_upper, muscle->force, muscle->shortest,
                      muscle->longest, muscle->fastest, muscle->passive_force, muscle->stretch_force,
                      muscle->length_lower, muscle->length_upper});
}

void add_actuators(const Model& model, Hash& hash) {
  hash.add(static_cast<Index>(model.actuators().size()));
  for (const ActuatorDescription& a : model.actuators()) {
    for (const Index number : {a.joint, a.tendon, a.site, a.reference_site, a.body}) hash.add(number);
    hash.add(a.gear);
    hash.add(a.bias);
    hash.add(a.activation_times);
    hash.add(a.gain_slope);
    hash.add(std::array{a.gain, a.control_lower, a.control_upper, a.force_lower, a.force_upper,
                        a.activation_lower, a.activation_upper});
    hash.add(static_cast<Index>(a.activation));
    hash.add(a.activation_early);
    add_muscle(a.muscle_gain, hash);
    add_muscle(a.muscle_bias, hash);
  }
}

void add_material(const Material& m, Hash& hash) {
  hash.add(std::array{m.friction, m.torsional, m.rolling, m.stiffness, m.dissipation_time, m.restitution});
  hash.add(m.priority);
}

void add_geoms(const World& world, Hash& hash) {
  hash.add(static_cast<Index>(world.geoms.size()));
  for (const Geom& geom : world.geoms) {
    hash.add(static_cast<Index>(geom.shape.kind()));
    hash.add(geom.shape.size());
    const Aabb box = geom.shape.bounds(Pose{});
    hash.add(box.lower);
    hash.add(box.upper);
    hash.add(geom.body);
    hash.add(geom.pose);
    add_material(geom.material, hash);
    hash.add(static_cast<Index>(geom.contact_type));
    hash.add(static_cast<Index>(geom.contact_affinity));
    hash.add(geom.friction_rows);
    hash.add(geom.frictionless);
    hash.add(std::array{geom.margin, geom.thickness});
    if (!geom.pressure) continue;
    hash.add(std::array{geom.pressure->modulus, geom.pressure->depth, geom.pressure->resolution});
    hash.add(geom.pressure->max_faces);
  }
  hash.add(static_cast<Index>(world.pairs.size()));
  for (const GeomPair& pair : world.pairs) {
    hash.add(pair.first);
    hash.add(pair.second);
    add_material(pair.material, hash);
    hash.add(pair.frictionless);
    hash.add(pair.friction_rows);
    hash.add(std::array{pair.margin, pair.thickness, pair.second_friction, pair.second_rolling});
  }
  for (const auto& [a, b] : world.excluded_bodies) {
    hash.add(a);
    hash.add(b);
  }
}

void add_couplings(const World& world, Hash& hash) {
  for (const Connect& c : world.connects) {
    hash.add(c.first);
    hash.add(c.second);
    hash.add(c.first_anchor);
    hash.add(c.second_anchor);
  }
  for (const Weld& w : world.welds) {
    hash.add(w.first);
    hash.add(w.second);
    hash.add(w.first_frame);
    hash.add(w.second_frame);
  }
  const auto polynomial = [&](const auto& coupling) {
    hash.add(coupling.first);
    hash.add(coupling.second);
    hash.add(coupling.polynomial);
  };
  for (const JointCoupling& c : world.joint_couplings) polynomial(c);
  for (const TendonCoupling& c : world.tendon_couplings) polynomial(c);
}

void add_flexible(const FlexibleBody& body, Hash& hash) {
  for (const Vec3& node : body.mesh.nodes) hash.add(node);
  for (const TetMesh::Tet& tet : body.mesh.tets) {
    for (const Index node : tet) hash.add(node);
  }
  hash.add(body.pose);
  const Elasticity& e = body.elasticity;
  hash.add(std::array{e.young, e.poisson, e.density, e.mass_damping, e.stiffness_damping, body.margin});
  hash.add(static_cast<Index>(e.law));
  hash.add(static_cast<Index>(e.mass));
  add_material(body.material, hash);
  for (const Index node : body.fixed_nodes) hash.add(node);
  for (const NodeAttachment& tie : body.attachments) {
    hash.add(tie.node);
    hash.add(tie.body);
    hash.add(tie.anchor);
  }
}

void add_medium(const World& world, Hash& hash) {
  hash.add(std::array{world.medium.density, world.medium.viscosity});
  hash.add(world.medium.wind);
  for (const FluidEllipsoid& e : world.fluid_ellipsoids) {
    hash.add(e.body);
    hash.add(e.pose);
    hash.add(e.semi_axes);
    hash.add(std::array{e.blunt_drag, e.slender_drag, e.angular_drag, e.kutta_lift, e.magnus_lift});
  }
}

}  // namespace

std::uint64_t world_hash(const World& world) {
  Hash hash;
  add_bodies(world.model, hash);
  add_joints(world.model, hash);
  add_actuators(world.model, hash);
  add_geoms(world, hash);
  add_couplings(world, hash);
  hash.add(static_cast<Index>(world.sensors.size()));
  for (const SensorDescription& sensor : world.sensors) {
    hash.add(static_cast<Index>(sensor.kind));
    hash.add(sensor.size());
  }
  for (const FlexibleBody& body : world.flexible_bodies) add_flexible(body, hash);
  add_medium(world, hash);
  hash.add(world.margin);
  hash.add(static_cast<Index>(world.friction_rule));
  hash.add(world.parent_child_contacts);
  return hash.value();
}

}  // namespace tribo
