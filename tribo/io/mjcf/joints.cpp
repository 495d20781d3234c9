#include "tribo/io/mjcf/joints.h"

#include <fmt/format.h>

namespace tribo::detail {

Range read_range(const Attributes& attributes, std::string_view range, std::string_view limited,
                 const CompilerSettings& compiler) {
  std::array<double, 2> ends{};
  const bool given = attributes.fill(range, ends, 2) > 0 && (ends[0] != 0.0 || ends[1] != 0.0);
  Range result{false, ends[0], ends[1]};
  switch (attributes.word(limited, {"false", "true", "auto"}, 2)) {
    case 0:
      break;
    case 1:
      result.limited = true;
      break;
    default:
      if (given && !compiler.autolimits) {
        fail(attributes.element(),
             fmt::format("attribute '{}' is given, so '{}' must be too (autolimits is off)", range, limited));
      }
      result.limited = given;
  }
  if (result.limited && !(result.lower < result.upper)) {
    fail(attributes.element(),
         fmt::format("attribute '{}' must be two numbers, the smaller one first", range));
  }
  return result;
}

double linear_coefficient(const Attributes& attributes, std::string_view name, LoadLog& log) {
  std::array<double, 3> polynomial{};
  attributes.fill(name, polynomial, 1);
  if (polynomial[1] != 0.0 || polynomial[2] != 0.0) {
    log.warn(attributes.element(), fmt::format("only the linear term of '{}' is supported", name));
  }
  return polynomial[0];
}

JointSpec read_joint(MjcfFile& file, const SourceElement& element, const std::string& childclass,
                     const Pose& frame, LoadLog& log) {
  const Attributes attributes = file.attributes(element, "joint", childclass);
  attributes.check(log,
                   {"name", "class", "type", "pos", "axis", "range", "limited", "ref", "springref",
                    "stiffness", "damping", "armature", "frictionloss", "margin", "actuatorfrcrange",
                    "actuatorfrclimited", "actuatorgravcomp", "springdamper"},
                   {"group", "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "user"});
  const CompilerSettings& compiler = file.compiler();
  JointSpec spec;
  spec.element = &element;
  JointDescription& joint = spec.description;
  constexpr std::array kinds{JointKind::free, JointKind::ball, JointKind::slide, JointKind::hinge};
  joint.kind =
      kinds[static_cast<std::size_t>(attributes.word("type", {"free", "ball", "slide", "hinge"}, 3))];
  const JointTraits& traits = traits_of(joint.kind);
  const bool angular = traits.rotation != JointRotation::none;
  const bool scalar = traits.is_scalar();
  if (!traits.floating) {
    joint.anchor = frame * attributes.vector3("pos", Vec3::Zero());
    const Vec3 axis = attributes.vector3("axis", Vec3::UnitZ());
    if (scalar && !(axis.norm() > 1e-10)) fail(element, "attribute 'axis' must not be zero");
    joint.axis = scalar ? Vec3(frame.rotation * axis.normalized()) : Vec3(Vec3::UnitZ());
    const Range range = read_range(attributes, "range", "limited", compiler);
    joint.limited = range.limited;
    joint.lower = angular ? compiler.angle(range.lower) : range.lower;
    joint.upper = angular ? compiler.angle(range.upper) : range.upper;
    joint.limit_margin = std::max(0.0, attributes.number("margin", 0.0));
    const Range force = read_range(attributes, "actuatorfrcrange", "actuatorfrclimited", compiler);
    spec.force_limited = force.limited;
    spec.force_lower = force.lower, spec.force_upper = force.upper;
  }
  if (scalar) {
    const double reference = attributes.number("ref", 0.0), spring = attributes.number("springref", 0.0);
    joint.reference = angular ? compiler.angle(reference) : reference;
    joint.spring_reference = angular ? compiler.angle(spring) : spring;
  }
  joint.stiffness = linear_coefficient(attributes, "stiffness", log);
  joint.damping = linear_coefficient(attributes, "damping", log);
  joint.actuator_compensation = attributes.flag("actuatorgravcomp", false);
  if (joint.actuator_compensation && spec.force_limited) {
    joint.actuator_force_lower = spec.force_lower;
    joint.actuator_force_upper = spec.force_upper;
  }
  attributes.fill("springdamper", spec.spring_damper, 2);
  if (!(spec.spring_damper[0] > 0.0 && spec.spring_damper[1] > 0.0)) spec.spring_damper = {};
  joint.armature = attributes.number("armature", 0.0);
  joint.dry_friction = attributes.number("frictionloss", 0.0);
  return spec;
}

JointSpec read_free_joint(MjcfFile& file, const SourceElement& element, LoadLog& log) {
  log.check_attributes(element, {"name", "align"}, {"group"});
  JointSpec spec;
  spec.element = &element;
  spec.description.kind = JointKind::free;
  const int align = Attributes(element).word("align", {"false", "true", "auto"}, 2);
  spec.align = align == 1 || (align == 2 && file.compiler().align_free);
  return spec;
}

}  // namespace tribo::detail
