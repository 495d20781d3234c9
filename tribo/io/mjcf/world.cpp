#include "tribo/io/mjcf/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/multibody/dynamics.h"
#include "tribo/multibody/site_transmission.h"
#include "tribo/multibody/tendon_path.h"

namespace tribo::detail {
namespace {

std::string_view kind_name(NameKind kind) {
  constexpr std::array<std::string_view, 7> names{"body",   "joint",    "geom",  "site",
                                                  "tendon", "actuator", "camera"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace

WorldAssembly::WorldAssembly(const MjcfTree& tree, LoadLog& log) : tree_(tree), log_(log) { add_bodies(); }

void WorldAssembly::add_bodies() {
  names_[static_cast<std::size_t>(NameKind::body)]["world"] = 0;
  for (std::size_t b = 0; b < tree_.bodies.size(); ++b) {
    const BodySpec& body = tree_.bodies[b];
    const Index index = static_cast<Index>(b);
    if (index > 0) {
      add_name(NameKind::body, body.description.name, index, *body.element);
      const Pose own{body.description.position, body.description.rotation.toRotationMatrix()};
      poses_.push_back(poses_[static_cast<std::size_t>(body.description.parent)] * own);
    } else {
      poses_.emplace_back();
    }
    for (const JointSpec& joint : body.joints) {
      add_name(NameKind::joint, joint.description.name, static_cast<Index>(joints_.size()), *joint.element);
      joints_.push_back(&joint);
    }
    for (const GeomSpec& spec : body.geoms) {
      if (spec.fluid) {
        world_.fluid_ellipsoids.push_back(*spec.fluid);
        world_.fluid_ellipsoids.back().body = index;
      }
      if (spec.has_shape && !spec.geom.name.empty()) {
        all_geoms_.emplace(spec.geom.name, spec.geom).first->second.body = index;
      }
      if (spec.visual) {
        world_.visuals.push_back(*spec.visual);
        world_.visuals.back().body = index;
        world_.visuals.back().name = spec.geom.name;
      }
      if (!spec.in_world) {
        leave_out(NameKind::geom, spec.geom.name);
        continue;
      }
      Geom geom = spec.geom;
      geom.body = index;
      add_name(NameKind::geom, geom.name, static_cast<Index>(world_.geoms.size()), *spec.element);
      world_.geoms.push_back(std::move(geom));
    }
    for (const SiteDescription& site : body.sites) {
      add_name(NameKind::site, site.name, static_cast<Index>(sites_.size()), *body.element);
      sites_.push_back(site);
      sites_.back().body = index;
    }
    site_volumes_.insert(site_volumes_.end(), body.site_volumes.begin(), body.site_volumes.end());
    for (const SiteDescription& camera : body.cameras) {
      add_name(NameKind::camera, camera.name, static_cast<Index>(cameras_.size()), *body.element);
      cameras_.push_back(camera);
    }
    add_flexible(body, index);
  }
}

bool WorldAssembly::can_move(Index body) const {
  for (Index b = body; b > 0; b = tree_.bodies[static_cast<std::size_t>(b)].description.parent) {
    const BodySpec& carrier = tree_.bodies[static_cast<std::size_t>(b)];
    if (!carrier.joints.empty() || carrier.description.mocap) return true;
  }
  return false;
}

// Nodes that are held by a body that cannot move are fixed, others attached.
void WorldAssembly::add_flexible(const BodySpec& body, Index index) {
  for (const FlexSpec& spec : body.flexes) {
    FlexibleBody flexible = spec.body;
    flexible.pose = poses_.back() * spec.body.pose;
    for (const Index node : spec.pins) {
      flexible.attachments.push_back({node, index, spec.body.pose * spec.body.mesh.nodes[node]});
    }
    std::erase_if(flexible.attachments, [&](const NodeAttachment& tie) {
      if (can_move(tie.body)) return false;
      flexible.fixed_nodes.push_back(tie.node);
      return true;
    });
    for (const FlexibleBody& other : world_.flexible_bodies) {
      if (other.name == flexible.name)
        fail(*spec.element, fmt::format("there are two flexible bodies with the name '{}'", other.name));
    }
    world_.add_flexible_body(std::move(flexible));
  }
}

void WorldAssembly::add_name(NameKind kind, const std::string& name, Index index,
                             const SourceElement& element) {
  if (name.empty()) return;
  if (!names_[static_cast<std::size_t>(kind)].try_emplace(name, index).second) {
    fail(element, fmt::format("there are two things of kind {} with the name '{}'", kind_name(kind), name));
  }
}

std::optional<Index> WorldAssembly::lookup(NameKind kind, const std::string& name) const {
  const auto& names = names_[static_cast<std::size_t>(kind)];
  const auto at = names.find(name);
  return at != names.end() ? std::optional<Index>(at->second) : std::nullopt;
}

std::vector<std::string> WorldAssembly::copies(const ModelPart& part, const SourceElement& element,
                                               std::initializer_list<NameAttribute> references) {
  std::vector<std::string> result{""};
  for (const auto& [kind, attribute] : references) {
    const std::string name = element.text(attribute);
    if (name.empty() || (kind == NameKind::body && name == "world")) continue;
    const std::string full = part.prefix + name;
    if (lookup(kind, full)) continue;
    if (left_out_[static_cast<std::size_t>(kind)].contains(full)) {
      log_.warn(element,
                fmt::format("the {} '{}' is not supported, so this is left out", kind_name(kind), name));
      return {};
    }
    const std::vector<std::string>* suffixes = tree_.replicas.find(kind, full);
    if (suffixes == nullptr) suffixes = copies_.find(kind, full);
    if (suffixes != nullptr) {
      result = *suffixes;
    } else if (&part == &tree_.parts.back()) {
      fail(element, fmt::format("there is no {} '{}'", kind_name(kind), name));
    } else {
      return {};
    }
  }
  return result;
}

Index WorldAssembly::find(const ModelPart& part, const SourceElement& element, const NameAttribute& reference,
                          const std::string& suffix) const {
  const std::string name = element.text(reference.attribute);
  if (reference.kind == NameKind::body && name == "world") return 0;
  if (name.empty()) fail(element, fmt::format("attribute '{}' is missing", reference.attribute));
  if (const auto direct = lookup(reference.kind, part.prefix + name)) return *direct;
  if (const auto copy = lookup(reference.kind, part.prefix + name + suffix)) return *copy;
  fail(element, fmt::format("there is no {} '{}'", kind_name(reference.kind), name));
}

const Geom* WorldAssembly::find_wrap_geom(const ModelPart& part, const SourceElement& element,
                                          const std::string& suffix) const {
  const std::string name = element.text("geom");
  if (name.empty()) fail(element, "attribute 'geom' is missing");
  for (const std::string& full : {part.prefix + name, part.prefix + name + suffix}) {
    const auto at = all_geoms_.find(full);
    if (at != all_geoms_.end()) return &at->second;
  }
  fail(element, fmt::format("there is no geom '{}' with a shape", name));
}

void WorldAssembly::require_scalar(Index index, const SourceElement& element) const {
  const JointDescription& description = joint(index).description;
  if (!traits_of(description.kind).is_scalar()) {
    fail(element, fmt::format("joint '{}' must be a hinge or a slide", description.name));
  }
}

Index WorldAssembly::add_tendon(TendonDescription tendon) {
  const Index index = static_cast<Index>(tendons_.size());
  if (!tendon.name.empty() &&
      !names_[static_cast<std::size_t>(NameKind::tendon)].try_emplace(tendon.name, index).second) {
    throw InvalidInput(
        fmt::format("{}: there are two tendons '{}'", tree_.parts.back().file->path().string(), tendon.name));
  }
  tendons_.push_back(std::move(tendon));
  return index;
}

void WorldAssembly::add_actuator(ActuatorDescription actuator) {
  if (!actuator.name.empty()) {
    names_[static_cast<std::size_t>(NameKind::actuator)].try_emplace(actuator.name,
                                                                     static_cast<Index>(actuators_.size()));
  }
  actuators_.push_back(std::move(actuator));
}

void WorldAssembly::fill_builder(ModelBuilder& builder) const {
  Index number = 0;
  for (std::size_t b = 1; b < tree_.bodies.size(); ++b) {
    const BodySpec& body = tree_.bodies[b];
    const Index index = builder.add_body(body.description);
    for (const JointSpec& spec : body.joints) {
      JointDescription joint = spec.description;
      joint.body = index;
      const auto computed = springs_.find(number++);
      if (computed != springs_.end()) {
        joint.stiffness = spec.spring ? computed->second[0] : 0.0;
        joint.damping = spec.damper ? computed->second[1] : 0.0;
      }
      builder.add_joint(std::move(joint));
    }
  }
  for (const SiteDescription& site : sites_) builder.add_site(site);
  for (const TendonDescription& tendon : tendons_) builder.add_tendon(tendon);
  for (const ActuatorDescription& actuator : actuators_) builder.add_actuator(actuator);
}

Model WorldAssembly::draft() const {
  ModelBuilder builder;
  fill_builder(builder);
  return builder.build();
}

// Springs of tendons without a length are at rest where the springs of all joints are.
void WorldAssembly::resolve_spring_lengths() {
  std::vector<TendonDescription*> open;
  for (TendonDescription& tendon : tendons_) {
    if (!std::isnan(tendon.spring_lower)) continue;
    tendon.spring_lower = tendon.spring_upper = 0.0;  // a draft must be valid
    open.push_back(&tendon);
  }
  if (open.empty()) return;
  const Model model = draft();
  const Vector q = spring_coordinates(model);
  Kinematics kinematics(model);
  kinematics.set_positions(q);
  std::vector<double> unused(static_cast<std::size_t>(model.dof_count()));
  for (TendonDescription* tendon : open) {
    double length = add_tendon_gradient(kinematics, *tendon, unused);
    for (const auto& term : tendon->terms) length += term.coefficient * q[model.joint_coordinate(term.joint)];
    tendon->spring_lower = tendon->spring_upper = length;
  }
}

// What is given relative to inertias, at the reference coordinates:
// - a position servo may state its damping as a ratio, bias[2] > 0, of the critical damping 2 sqrt(kp m), with
//   m = 1 / (j M^-1 j^T) the inertia it feels through its transmission j;
// - a muscle with force < 0 has the peak force scale / |M^-1 j^T|;
// - a joint with springdamper (T, r) has the stiffness m / (T r)^2 and the damping 2 m / T, with m the harmonic mean of
//   the inertias of its dofs, n / sum (M^-1)_dd.
void WorldAssembly::resolve_inertial_values() {
  const auto is_ratio = [](const ActuatorDescription& a) {
    return a.bias[2] > 0.0 && a.gain > 0.0 && a.gain == -a.bias[1];
  };
  const auto is_scaled = [](const ActuatorDescription& a) {
    return (a.muscle_gain && a.muscle_gain->force < 0.0) || (a.muscle_bias && a.muscle_bias->force < 0.0);
  };
  const auto is_tuned = [](const JointSpec* joint) { return joint->spring_damper[0] > 0.0; };
  if (std::none_of(actuators_.begin(), actuators_.end(), is_ratio) &&
      std::none_of(actuators_.begin(), actuators_.end(), is_scaled) &&
      std::none_of(joints_.begin(), joints_.end(), is_tuned)) {
    return;
  }
  const Model model = draft();
  Kinematics kinematics(model);
  kinematics.set_positions(model.reference_coordinates());
  Dynamics dynamics(model);
  dynamics.set_positions(kinematics);
  if (!dynamics.factorize()) throw InvalidInput("the mass matrix of the model is not positive definite");
  for (ActuatorDescription& a : actuators_) {
    if (!is_ratio(a) && !is_scaled(a)) continue;
    const Vector row = transmission_row(kinematics, a);
    Vector response = row;
    dynamics.solve_in_place(response);
    const double mobility = row.dot(response);
    if (is_ratio(a)) a.bias[2] *= mobility > 0.0 ? -2.0 * std::sqrt(a.gain / mobility) : 0.0;
    // The scale waits in the place of the force, with the other sign.
    for (std::optional<Muscle>* muscle : {&a.muscle_gain, &a.muscle_bias}) {
      if (*muscle && (*muscle)->force < 0.0) (*muscle)->force /= -std::max(1e-15, response.norm());
    }
  }
  for (Index j = 0; j < model.joint_count(); ++j) {
    if (!is_tuned(joints_[static_cast<std::size_t>(j)])) continue;
    const auto [time, ratio] = joint(j).spring_damper;
    const Index first = model.joint_dof(j), dofs = dofs_of(model.joint(j).kind);
    double mobility = 0.0;
    for (Index d = first; d < first + dofs; ++d) {
      Vector response = Vector::Unit(model.dof_count(), d);
      dynamics.solve_in_place(response);
      mobility += response[d];
    }
    const double inertia = static_cast<double>(dofs) / mobility;
    springs_[j] = {inertia / (time * time * ratio * ratio), 2.0 * inertia / time};
  }
}

World WorldAssembly::take() {
  resolve_spring_lengths();
  resolve_inertial_values();
  world_.model = draft();
  return std::move(world_);
}

}  // namespace tribo::detail
