// <option> and <keyframe> of MJCF.
#include "tribo/io/mjcf/options.h"

#include <fmt/format.h>

#include <algorithm>

namespace tribo::detail {
namespace {

void read_flags(const SourceElement& element, MjcfSwitches& switches, LoadLog& log) {
  const auto is_on = [&](std::string_view name, bool fallback) {
    return Attributes(element).word(name, {"disable", "enable"}, fallback ? 1 : 0) == 1;
  };
  const bool constraints = is_on("constraint", true), passive = is_on("passive", true);
  switches.contact = is_on("contact", switches.contact) && constraints;
  switches.equality = is_on("equality", switches.equality) && constraints;
  switches.limit = is_on("limit", switches.limit) && constraints;
  switches.dry_friction = is_on("frictionloss", switches.dry_friction) && constraints;
  switches.spring = is_on("spring", switches.spring) && passive;
  switches.damper = is_on("damper", switches.damper) && passive;
  switches.gravity = is_on("gravity", switches.gravity);
  switches.filter_parent = is_on("filterparent", switches.filter_parent);
  for (const std::string_view name : {"clampctrl", "actuation"}) {
    if (!is_on(name, true)) log.warn(element, fmt::format("flag '{}' cannot be disabled", name));
  }
  if (is_on("override", false)) log.warn(element, "flag 'override' is not supported");
  if (is_on("sleep", false)) {
    log.warn(element,
             "flag 'sleep' is ignored: sleeping is a setting of the simulator (tribo sim --sleeping)");
  }
  log.check_attributes(element,
                       {"constraint", "passive", "contact", "equality", "limit", "frictionloss", "spring",
                        "damper", "gravity", "filterparent", "clampctrl", "actuation", "override", "sleep"},
                       {"warmstart", "refsafe", "sensor", "midphase", "eulerdamp", "autoreset", "nativeccd",
                        "island", "energy", "fwdinv", "invdiscrete", "multiccd"});
}

// A quaternion that is all zeros means no rotation.
void replace_zero_quaternions(const Model& model, Vector& q) {
  for (Index j = 0; j < model.joint_count(); ++j) {
    const Index place = traits_of(model.joint(j).kind).quaternion;
    if (place < 0) continue;
    auto quaternion = q.segment<4>(model.joint_coordinate(j) + place);
    if (quaternion.isZero(0.0)) quaternion = Eigen::Vector4d::UnitX();
  }
}

}  // namespace

MjcfSwitches read_options(const MjcfFile& file, World& world, LoadLog& log) {
  MjcfSwitches switches;
  for (const SourceElement& section : file.root().children) {
    if (section.name != "option") continue;
    log.check_attributes(section, {"timestep", "gravity", "wind", "density", "viscosity", "magnetic"},
                         {"integrator",       "cone",           "jacobian",
                          "solver",           "iterations",     "tolerance",
                          "ls_iterations",    "ls_tolerance",   "noslip_iterations",
                          "noslip_tolerance", "ccd_iterations", "ccd_tolerance",
                          "sdf_iterations",   "sdf_initpoints", "impratio",
                          "apirate",          "o_margin",       "o_solref",
                          "o_solimp",         "o_friction",     "sleep_tolerance",
                          "mpr_iterations",   "mpr_tolerance",  "collision"});
    const Attributes attributes(section);
    world.time_step = attributes.number("timestep", world.time_step);
    if (!(world.time_step > 0.0)) fail(section, "attribute 'timestep' must be positive");
    world.gravity = attributes.vector3("gravity", world.gravity);
    world.medium.density = attributes.number("density", world.medium.density);
    world.medium.viscosity = attributes.number("viscosity", world.medium.viscosity);
    world.magnetic_field = attributes.vector3("magnetic", world.magnetic_field);
    world.medium.wind = attributes.vector3("wind", world.medium.wind);
    for (const SourceElement& child : section.children) {
      if (child.name == "flag") {
        read_flags(child, switches, log);
      } else {
        log.warn(child, "this option is not known and is ignored");
      }
    }
  }
  if (!switches.gravity) world.gravity.setZero();
  if (!switches.spring && !switches.damper) world.medium = {};  // MuJoCo: no passive forces at all
  world.parent_child_contacts = !switches.filter_parent;
  return switches;
}

void apply_switches(const MjcfSwitches& switches, MjcfTree& tree) {
  for (BodySpec& body : tree.bodies) {
    if (!switches.spring && !switches.damper) body.description.gravity_compensation = 0.0;
    for (JointSpec& spec : body.joints) {
      spec.spring = switches.spring;
      spec.damper = switches.damper;
      JointDescription& joint = spec.description;
      if (!switches.limit) joint.limited = false;
      if (!switches.dry_friction) joint.dry_friction = 0.0;
      if (!switches.spring) joint.stiffness = 0.0;
      if (!switches.damper) joint.damping = 0.0;
    }
    if (switches.contact) continue;
    for (GeomSpec& geom : body.geoms) geom.in_world = false;
  }
}

void read_keyframes(const MjcfFile& file, const std::vector<Index>& actuator_numbers,
                    const std::vector<Index>& activated, World& world, LoadLog& log) {
  if (!world.flexible_bodies.empty() && !file.entries("keyframe").empty()) {
    log.warn(*file.entries("keyframe").front(),
             "keyframes of models with flexible bodies, whose nodes are among the coordinates, are left out");
    return;
  }
  for (const SourceElement* element : file.entries("keyframe")) {
    if (element->name != "key") {
      log.warn(*element, "this element is not supported and is ignored");
      continue;
    }
    log.check_attributes(*element, {"name", "time", "qpos", "qvel", "ctrl", "act", "mpos", "mquat"});
    const Attributes attributes(*element);
    const auto read = [&](std::string_view name, Eigen::Index size) -> std::optional<Vector> {
      if (!attributes.has(name)) return std::nullopt;
      const std::vector<double> numbers = parse_numbers(*element, name, attributes.text(name));
      if (static_cast<Eigen::Index>(numbers.size()) != size) {
        fail(*element,
             fmt::format("attribute '{}' has {} numbers, the model needs {}", name, numbers.size(), size));
      }
      return Vector(Eigen::Map<const Vector>(numbers.data(), size));
    };
    Keyframe key;
    key.name = element->text("name");
    key.state = initial_state(world.model);
    key.state.time = attributes.number("time", 0.0);
    if (const auto q = read("qpos", world.model.coordinate_count())) {
      key.state.q = *q;
      replace_zero_quaternions(world.model, key.state.q);
      normalize(world.model, key.state.q);
    }
    if (const auto v = read("qvel", world.model.dof_count())) key.state.v = *v;
    key.control = Vector::Zero(static_cast<Eigen::Index>(world.model.actuators().size()));
    if (const auto control = read("ctrl", static_cast<Eigen::Index>(actuator_numbers.size()))) {
      for (std::size_t k = 0; k < actuator_numbers.size(); ++k) {
        if (actuator_numbers[k] >= 0)
          key.control[actuator_numbers[k]] = (*control)[static_cast<Eigen::Index>(k)];
      }
    }
    if (const auto act = read("act", static_cast<Eigen::Index>(activated.size()))) {
      for (std::size_t k = 0; k < activated.size(); ++k) {
        const Index actuator = activated[k];
        if (actuator >= 0)
          key.state.activation[world.model.activation(actuator)] = (*act)[static_cast<Eigen::Index>(k)];
      }
    }
    const auto mocap = static_cast<Eigen::Index>(world.model.mocap_bodies().size());
    const auto places = read("mpos", 3 * mocap), turns = read("mquat", 4 * mocap);
    for (Eigen::Index k = 0; k < mocap; ++k) {
      if (places) key.state.mocap.segment<3>(7 * k) = places->segment<3>(3 * k);
      if (!turns) continue;
      auto turn = key.state.mocap.segment<4>(7 * k + 3);
      turn = turns->segment<4>(4 * k);
      if (turn.isZero(0.0)) turn = Eigen::Vector4d::UnitX();
      turn.normalize();
    }
    world.keyframes.push_back(std::move(key));
  }
}

}  // namespace tribo::detail
