#include "tribo/sim/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/sim/sensors/sensor_validation.h"

namespace tribo {

namespace {

std::string label(std::string_view what, std::size_t index, const std::string& name) {
  return name.empty() ? fmt::format("{} {}", what, index) : fmt::format("{} '{}'", what, name);
}

void check_material(const std::string& owner, const Material& m) {
  const auto refuse = [&](std::string_view field, double value, std::string_view rule) {
    throw InvalidInput(fmt::format("{} of {} is {}: it must be {}", field, owner, value, rule));
  };
  if (!std::isfinite(m.friction) || m.friction < 0.0) refuse("friction", m.friction, "finite and >= 0");
  if (!std::isfinite(m.torsional) || m.torsional < 0.0) {
    refuse("torsional friction", m.torsional, "finite and >= 0 m");
  }
  if (!std::isfinite(m.rolling) || m.rolling < 0.0)
    refuse("rolling friction", m.rolling, "finite and >= 0 m");
  if (!(m.stiffness > 0.0)) refuse("stiffness", m.stiffness, "> 0 N/m (infinite: rigid)");
  if (!std::isfinite(m.dissipation_time) || m.dissipation_time < 0.0) {
    refuse("dissipation time", m.dissipation_time, "finite and >= 0 s");
  }
  if (!(m.restitution >= 0.0 && m.restitution <= 1.0)) refuse("restitution", m.restitution, "in [0, 1]");
}

void check_length(std::string_view field, const std::string& owner, double length) {
  if (!std::isfinite(length) || length < 0.0) {
    throw InvalidInput(fmt::format("{} of {} is {}: it must be finite and >= 0 m", field, owner, length));
  }
}

void check_index(const std::string& owner, std::string_view field, Index index, std::size_t count) {
  if (index < 0 || static_cast<std::size_t>(index) >= count) {
    throw InvalidInput(fmt::format("{} of {} is {}: there are {}", field, owner, index, count));
  }
}

void check_frame(const std::string& owner, const Pose& pose) {
  if (!pose.position.allFinite() || !pose.rotation.allFinite()) {
    throw InvalidInput(fmt::format("pose of {} is not finite", owner));
  }
  if ((pose.rotation.transpose() * pose.rotation - Mat3::Identity()).cwiseAbs().maxCoeff() > 1e-6) {
    throw InvalidInput(fmt::format("rotation of {} is not orthonormal", owner));
  }
}

void check_geoms(const World& world) {
  const auto bodies = static_cast<std::size_t>(world.model.body_count());
  for (std::size_t g = 0; g < world.geoms.size(); ++g) {
    const Geom& geom = world.geoms[g];
    const std::string owner = label("geom", g, geom.name);
    check_index(owner, "body", geom.body, bodies);
    check_frame(owner, geom.pose);
    check_material(owner, geom.material);
    check_length("margin", owner, geom.margin);
    check_length("thickness", owner, geom.thickness);
    if (geom.pressure) check_pressure_field(owner, geom.shape, *geom.pressure);
  }
  for (std::size_t k = 0; k < world.visuals.size(); ++k) {
    const std::string owner = label("visual", k, world.visuals[k].name);
    check_index(owner, "body", world.visuals[k].body, bodies);
    check_frame(owner, world.visuals[k].pose);
  }
  for (std::size_t p = 0; p < world.pairs.size(); ++p) {
    const GeomPair& pair = world.pairs[p];
    const std::string owner = label("contact pair", p, "");
    check_index(owner, "first geom", pair.first, world.geoms.size());
    check_index(owner, "second geom", pair.second, world.geoms.size());
    check_material(owner, pair.material);
    check_length("margin", owner, pair.margin);
    check_length("thickness", owner, pair.thickness);
  }
  for (const auto& [a, b] : world.excluded_bodies) {
    check_index("an excluded pair", "body", a, bodies);
    check_index("an excluded pair", "body", b, bodies);
  }
}

void check_scalar_joint(const World& world, const std::string& owner, std::string_view field, Index joint) {
  check_index(owner, field, joint, static_cast<std::size_t>(world.model.joint_count()));
  const JointKind kind = world.model.joint(joint).kind;
  if (dofs_of(kind) != 1) {
    throw InvalidInput(fmt::format("{} of {} is a {} joint: only hinges and slides can be coupled", field,
                                   owner, to_string(kind)));
  }
}

void check_couplings(const World& world) {
  const auto bodies = static_cast<std::size_t>(world.model.body_count());
  for (std::size_t k = 0; k < world.connects.size(); ++k) {
    const Connect& c = world.connects[k];
    const std::string owner = label("connect", k, c.name);
    check_index(owner, "first body", c.first, bodies);
    check_index(owner, "second body", c.second, bodies);
    if (!c.first_anchor.allFinite() || !c.second_anchor.allFinite()) {
      throw InvalidInput(fmt::format("anchor of {} is not finite", owner));
    }
  }
  for (std::size_t k = 0; k < world.welds.size(); ++k) {
    const Weld& w = world.welds[k];
    const std::string owner = label("weld", k, w.name);
    check_index(owner, "first body", w.first, bodies);
    check_index(owner, "second body", w.second, bodies);
    check_frame(owner, w.first_frame);
    check_frame(owner, w.second_frame);
  }
  for (std::size_t k = 0; k < world.joint_couplings.size(); ++k) {
    const JointCoupling& c = world.joint_couplings[k];
    const std::string owner = label("joint coupling", k, c.name);
    check_scalar_joint(world, owner, "first joint", c.first);
    if (c.second >= 0) check_scalar_joint(world, owner, "second joint", c.second);
  }
  for (std::size_t k = 0; k < world.tendon_couplings.size(); ++k) {
    const TendonCoupling& c = world.tendon_couplings[k];
    const std::string owner = label("tendon coupling", k, c.name);
    check_index(owner, "first tendon", c.first, world.model.tendons().size());
    if (c.second >= 0) check_index(owner, "second tendon", c.second, world.model.tendons().size());
  }
}

void check_medium(const World& world) {
  const Medium& m = world.medium;
  if (!(std::isfinite(m.density) && m.density >= 0.0)) {
    throw InvalidInput(
        fmt::format("density of the medium is {}: it must be finite and >= 0 kg/m^3", m.density));
  }
  if (!(std::isfinite(m.viscosity) && m.viscosity >= 0.0)) {
    throw InvalidInput(
        fmt::format("viscosity of the medium is {}: it must be finite and >= 0 Pa s", m.viscosity));
  }
  if (!m.wind.allFinite()) throw InvalidInput("wind of the medium is not finite");
  for (std::size_t k = 0; k < world.fluid_ellipsoids.size(); ++k) {
    const FluidEllipsoid& e = world.fluid_ellipsoids[k];
    const std::string owner = label("fluid ellipsoid", k, "");
    check_index(owner, "body", e.body, static_cast<std::size_t>(world.model.body_count()));
    check_frame(owner, e.pose);
    if (!e.semi_axes.allFinite() || !(e.semi_axes.minCoeff() > 0.0)) {
      throw InvalidInput(fmt::format("semi-axes of {} must be finite and > 0 m", owner));
    }
    for (const double c : {e.blunt_drag, e.slender_drag, e.angular_drag, e.kutta_lift, e.magnus_lift}) {
      if (!std::isfinite(c)) throw InvalidInput(fmt::format("a coefficient of {} is not finite", owner));
    }
  }
}

void check_flexible_bodies(const World& world) {
  for (std::size_t f = 0; f < world.flexible_bodies.size(); ++f) {
    const FlexibleBody& body = world.flexible_bodies[f];
    const std::string owner = label("flexible body", f, body.name);
    TetMesh mesh = body.mesh;
    complete(mesh, "mesh of " + owner);
    validate(body.elasticity, owner);
    check_frame(owner, body.pose);
    check_material(owner, body.material);
    check_length("margin", owner, body.margin);
    for (const Index node : body.fixed_nodes) check_index(owner, "a fixed node", node, mesh.nodes.size());
    for (const NodeAttachment& tie : body.attachments) {
      check_index(owner, "an attached node", tie.node, mesh.nodes.size());
      check_index(owner, "body of an attachment", tie.body,
                  static_cast<std::size_t>(world.model.body_count()));
      if (!tie.anchor.allFinite()) {
        throw InvalidInput(fmt::format("an anchor of {} is not finite", owner));
      }
    }
    for (const NodeAttachment& tie : body.attachments) {
      const auto same = [&](const NodeAttachment& other) { return other.node == tie.node; };
      if (std::count_if(body.attachments.begin(), body.attachments.end(), same) > 1 ||
          std::count(body.fixed_nodes.begin(), body.fixed_nodes.end(), tie.node) > 0) {
        throw InvalidInput(fmt::format("node {} of {} is attached or fixed more than once", tie.node, owner));
      }
    }
  }
}

void check_keyframe(const World& world, std::size_t k) {
  const Keyframe& key = world.keyframes[k];
  const Model& model = world.model;
  if (key.state.q.size() != model.coordinate_count() || key.state.v.size() != model.dof_count()) {
    throw InvalidInput(fmt::format("{} has {} coordinates and {} velocities: the model has {} and {}",
                                   label("keyframe", k, key.name), key.state.q.size(), key.state.v.size(),
                                   model.coordinate_count(), model.dof_count()));
  }
  const Index activations = key.state.activation.size(), mocap = key.state.mocap.size();
  const Index needed = 7 * static_cast<Index>(model.mocap_bodies().size());
  if ((activations != 0 && activations != model.activation_count()) || (mocap != 0 && mocap != needed)) {
    throw InvalidInput(
        fmt::format("{} has {} activations and {} numbers of mocap bodies: the model has {} and {}",
                    label("keyframe", k, key.name), activations, mocap, model.activation_count(), needed));
  }
}

}  // namespace

Index World::add_geom(Geom geom) {
  geoms.push_back(std::move(geom));
  return static_cast<Index>(geoms.size()) - 1;
}

Index World::add_flexible_body(FlexibleBody body) {
  flexible_bodies.push_back(std::move(body));
  return static_cast<Index>(flexible_bodies.size()) - 1;
}

Index World::find_geom(std::string_view geom_name) const {
  for (std::size_t g = 0; g < geoms.size(); ++g) {
    if (geoms[g].name == geom_name) return static_cast<Index>(g);
  }
  return -1;
}

Index World::find_sensor(std::string_view sensor_name) const {
  for (std::size_t k = 0; k < sensors.size(); ++k) {
    if (sensors[k].name == sensor_name) return static_cast<Index>(k);
  }
  return -1;
}

RigidInertia inertia_of_density(const Shape& shape, double density) {
  const VolumeMoments moments = shape.moments();
  return {density * moments.volume, moments.center, density * moments.inertia};
}

RigidInertia uniform_inertia(const Shape& shape, double mass) {
  const VolumeMoments moments = shape.moments();
  if (!(moments.volume > 0.0)) {
    throw InvalidInput(fmt::format("a {} has no volume: its inertia must be given", to_string(shape.kind())));
  }
  return {mass, moments.center, mass / moments.volume * moments.inertia};
}

void validate(const World& world) {
  if (!world.gravity.allFinite()) throw InvalidInput("gravity of the world is not finite");
  if (!(std::isfinite(world.time_step) && world.time_step > 0.0)) {
    throw InvalidInput(
        fmt::format("time step of the world is {}: it must be finite and > 0 s", world.time_step));
  }
  check_length("margin", "the world", world.margin);
  check_geoms(world);
  check_couplings(world);
  check_medium(world);
  validate_sensors(world);
  check_flexible_bodies(world);
  for (std::size_t k = 0; k < world.keyframes.size(); ++k) check_keyframe(world, k);
}

State initial_state(const World& world) {
  State state = initial_state(world.model);
  const Index bodies = static_cast<Index>(world.flexible_bodies.size());
  state.node_position.resize(3 * first_node(world, bodies));
  state.node_velocity = Vector::Zero(state.node_position.size());
  Index node = 0;
  for (const FlexibleBody& body : world.flexible_bodies) {
    for (const Vec3& x : body.mesh.nodes) state.node_position.segment<3>(3 * node++) = body.pose * x;
  }
  return state;
}

Index first_node(const World& world, Index flexible_body) {
  Index sum = 0;
  for (Index f = 0; f < flexible_body; ++f) sum += world.flexible_bodies[f].mesh.node_count();
  return sum;
}

}  // namespace tribo
