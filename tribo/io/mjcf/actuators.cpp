// <actuator> of MJCF.
#include "tribo/io/mjcf/actuators.h"

#include <fmt/format.h>

#include <algorithm>

#include "tribo/io/mjcf/actuator_values.h"
#include "tribo/io/mjcf/joints.h"

namespace tribo::detail {
namespace {

using Name = WorldAssembly::NameAttribute;

// Why it cannot be done; empty: it can.
std::string obstacle(const ActuatorValues& values) {
  if (!values.known) return "this kind of actuator is not supported";
  if (values.dynamics > dyn_muscle) return "this type of dynamics is not supported";
  if (values.gain_type > gain_muscle) return "this type of gain is not supported";
  if (values.bias_type > bias_muscle) return "this type of bias is not supported";
  return {};
}

std::string named_problem(const SourceElement& element, const std::string& problem) {
  const std::string* name = element.find("name");
  return name != nullptr ? fmt::format("actuator '{}': {}", *name, problem) : problem;
}

void check_attributes(const Attributes& attributes, LoadLog& log) {
  attributes.check(log, {"name",         "class",     "joint",       "jointinparent", "tendon",
                         "site",         "body",      "slidersite",  "cranksite",     "refsite",
                         "gear",         "ctrlrange", "ctrllimited", "forcerange",    "dynprm",
                         "forcelimited", "gaintype",  "biastype",    "dyntype",       "gainprm",
                         "biasprm",      "kp",        "kv",          "dampratio",     "timeconst",
                         "inheritrange", "area",      "diameter",    "bias",          "actlimited",
                         "actrange",     "actearly",  "lengthrange", "tausmooth",     "range",
                         "force",        "scale",     "lmin",        "lmax",          "vmax",
                         "fpmax",        "fvmax",     "gain"},
                   {"group", "user", "actdim", "cranklength"});
}

ActivationKind activation_kind(int dynamics) {
  switch (dynamics) {
    case dyn_integrator:
      return ActivationKind::integrator;
    case dyn_filter:
      return ActivationKind::filter;
    case dyn_filterexact:
      return ActivationKind::filter_exact;
    case dyn_muscle:
      return ActivationKind::muscle;
    default:
      return ActivationKind::none;
  }
}

// Force < 0 says that it is computed: -scale then, until the inertia is known.
Muscle make_muscle(const std::array<double, 10>& numbers, const Range& lengths) {
  return {.range_lower = numbers[0],
          .range_upper = numbers[1],
          .force = numbers[2] < 0.0 ? -numbers[3] : numbers[2],
          .shortest = numbers[4],
          .longest = numbers[5],
          .fastest = numbers[6],
          .passive_force = numbers[7],
          .stretch_force = numbers[8],
          .length_lower = lengths.lower,
          .length_upper = lengths.upper};
}

class ActuatorReader {
 public:
  ActuatorReader(WorldAssembly& assembly, const ModelPart& part) : assembly_(assembly), part_(part) {}

  // The copies of one element; no actuator in the place of those that are left out.
  struct Copy {
    std::optional<ActuatorDescription> actuator;
    bool activated = false;
  };
  using Copies = std::vector<Copy>;

  Copies read(const SourceElement& element) {
    const DefaultClass& chosen = part_.file->defaults().find(element.text("class"), element);
    std::vector<const SourceElement*> layers = DefaultTable::history(chosen);
    std::erase_if(layers, [](const SourceElement* e) { return !is_actuator(e->name); });
    ActuatorValues values = default_values(element.name, layers);
    values.apply(element);
    std::reverse(layers.begin(), layers.end());
    const Attributes attributes(element, layers);
    std::string problem = obstacle(values);
    const std::string_view transmission = find_transmission(element);
    if (transmission.empty()) problem = "only actuators on joints, tendons, sites and bodies are supported";
    if (transmission == "body" && element.name != "adhesion") {
      problem = "of the actuators on bodies only adhesion is supported";
    }
    if (problem.empty() && transmission == "tendon" &&
        assembly_.is_left_out(NameKind::tendon, part_.prefix + element.text("tendon"))) {
      problem = fmt::format("its tendon '{}' is left out", element.text("tendon"));
    }
    const bool activated = values.dynamics != dyn_none;
    if (!problem.empty()) {
      assembly_.log().leave_out(element, named_problem(element, problem));
      assembly_.leave_out(NameKind::actuator, part_.prefix + element.text("name"));
      return Copies(count_of(element), Copy{std::nullopt, activated});
    }
    check_attributes(attributes, assembly_.log());
    const Name reference{kind_of(transmission), transmission};
    Copies result;
    for (const std::string& suffix :
         assembly_.copies(part_, element, {reference, {NameKind::site, "refsite"}})) {
      result.push_back({make(attributes, values, reference, suffix), activated});
      if (!result.back().actuator)
        assembly_.leave_out(NameKind::actuator, part_.prefix + element.text("name"));
    }
    return result;
  }

 private:
  static std::string_view find_transmission(const SourceElement& element) {
    for (const std::string_view name : {"joint", "jointinparent", "tendon", "site", "body"}) {
      if (element.find(name) != nullptr) return name;
    }
    return {};
  }

  static NameKind kind_of(std::string_view transmission) {
    return transmission == "tendon" ? NameKind::tendon
           : transmission == "site" ? NameKind::site
           : transmission == "body" ? NameKind::body
                                    : NameKind::joint;
  }

  // How many numbers MuJoCo gives it.
  std::size_t count_of(const SourceElement& element) {
    if (assembly_.is_left_out(NameKind::tendon, part_.prefix + element.text("tendon"))) return 1;
    return assembly_
        .copies(part_, element,
                {{NameKind::joint, "joint"},
                 {NameKind::joint, "jointinparent"},
                 {NameKind::tendon, "tendon"},
                 {NameKind::site, "site"},
                 {NameKind::body, "body"}})
        .size();
  }

  // Nothing where a muscle's lengths are not known.
  std::optional<ActuatorDescription> make(const Attributes& attributes, const ActuatorValues& values,
                                          const Name& reference, const std::string& suffix) {
    const SourceElement& element = attributes.element();
    ActuatorDescription actuator;
    actuator.name = assembly_.own_name(part_, element, suffix);
    assembly_.note_copy(NameKind::actuator, part_.prefix + element.text("name"), suffix);
    set_target(element, reference, suffix, actuator);
    std::array<double, 6> gear{1.0};
    attributes.fill("gear", gear, 1);
    actuator.gear = Vec6::Map(gear.data());
    actuator.gain = values.gain[0];
    if (values.gain_type == gain_affine) actuator.gain_slope = {values.gain[1], values.gain[2]};
    if (values.bias_type == bias_affine) actuator.bias = Vec3(values.bias[0], values.bias[1], values.bias[2]);
    if (values.gain_type == gain_muscle || values.bias_type == bias_muscle) {
      const std::optional<Range> lengths = muscle_lengths(attributes, actuator);
      if (!lengths) return std::nullopt;
      if (values.gain_type == gain_muscle) actuator.muscle_gain = make_muscle(values.gain, *lengths);
      if (values.bias_type == bias_muscle) actuator.muscle_bias = make_muscle(values.bias, *lengths);
    }
    set_limits(attributes, values, actuator);
    return actuator;
  }

  void set_target(const SourceElement& element, const Name& reference, const std::string& suffix,
                  ActuatorDescription& actuator) {
    const Index index = assembly_.find(part_, element, reference, suffix);
    switch (reference.kind) {
      case NameKind::tendon:
        actuator.tendon = index;
        break;
      case NameKind::site:
        actuator.site = index;
        if (element.find("refsite") != nullptr) {
          actuator.reference_site = assembly_.find(part_, element, {NameKind::site, "refsite"}, suffix);
        }
        break;
      case NameKind::body:
        actuator.body = index;
        break;
      default:
        actuator.joint = index;
        if (reference.attribute == "jointinparent") assembly_.require_scalar(index, element);
    }
  }

  void set_limits(const Attributes& attributes, const ActuatorValues& values, ActuatorDescription& actuator) {
    const SourceElement& element = attributes.element();
    const CompilerSettings& compiler = part_.file->compiler();
    Range control = read_range(attributes, "ctrlrange", "ctrllimited", compiler);
    Range activation = read_range(attributes, "actrange", "actlimited", compiler);
    if (values.inherit_range > 0.0) {  // of an integrator the range of its activation
      const bool integrates = values.dynamics == dyn_integrator;
      if (element.find(integrates ? "actrange" : "ctrlrange") == nullptr) {
        (integrates ? activation : control) = inherited(values.inherit_range, actuator, element);
      }
    }
    // These two have limits whatever the file says about them.
    if ((element.name == "damper" || element.name == "adhesion") && !control.limited) {
      std::array<double, 2> ends{};
      if (attributes.fill("ctrlrange", ends, 2) == 0 || !(ends[0] < ends[1]))
        fail(element, "attribute 'ctrlrange' is missing");
      control = {true, ends[0], ends[1]};
    }
    if ((element.name == "damper" || element.name == "adhesion") && control.lower < 0.0) {
      fail(element, "attribute 'ctrlrange' must not be negative");
    }
    if (control.limited) actuator.control_lower = control.lower, actuator.control_upper = control.upper;
    const Range force = read_range(attributes, "forcerange", "forcelimited", compiler);
    if (force.limited) actuator.force_lower = force.lower, actuator.force_upper = force.upper;
    actuator.activation = activation_kind(values.dynamics);
    if (actuator.activation == ActivationKind::none) return;
    actuator.activation_times =
        Vec3(values.dynamics_numbers[0], values.dynamics_numbers[1], values.dynamics_numbers[2]);
    actuator.activation_early = attributes.flag("actearly", false);
    if (activation.limited) {
      actuator.activation_lower = activation.lower;
      actuator.activation_upper = activation.upper;
    }
  }

  // `lengthrange`, or the ends of the joint or tendon.
  std::optional<Range> muscle_lengths(const Attributes& attributes, const ActuatorDescription& actuator) {
    std::array<double, 2> ends{};
    Range lengths;
    if (attributes.fill("lengthrange", ends, 2) > 0 && ends[0] < ends[1]) {
      lengths = {true, ends[0], ends[1]};
    } else if (actuator.joint >= 0) {
      const JointDescription& joint = assembly_.joint(actuator.joint).description;
      lengths = {joint.limited && dofs_of(joint.kind) == 1, joint.lower, joint.upper};
    } else if (actuator.tendon >= 0) {
      lengths = tendon_lengths(assembly_.tendon(actuator.tendon));
    }
    if (!lengths.limited) {
      assembly_.log().leave_out(
          attributes.element(),
          named_problem(attributes.element(),
                        "a muscle needs 'lengthrange', or a joint or tendon with a range"));
      return std::nullopt;
    }
    if (ends[0] < ends[1]) return lengths;
    const double gear = actuator.gear[0];
    return Range{true, std::min(gear * lengths.lower, gear * lengths.upper),
                 std::max(gear * lengths.lower, gear * lengths.upper)};
  }

  // Its own limits, or what the limits of all its joints allow.
  Range tendon_lengths(const TendonDescription& tendon) const {
    if (tendon.limited) return {true, tendon.lower, tendon.upper};
    Range sum{!tendon.terms.empty(), 0.0, 0.0};
    for (const auto& term : tendon.terms) {
      const JointDescription& joint = assembly_.joint(term.joint).description;
      sum.limited = sum.limited && joint.limited;
      sum.lower += std::min(term.coefficient * joint.lower, term.coefficient * joint.upper);
      sum.upper += std::max(term.coefficient * joint.lower, term.coefficient * joint.upper);
    }
    return sum;
  }

  Range inherited(double ratio, const ActuatorDescription& actuator, const SourceElement& element) const {
    Range range;
    if (actuator.joint >= 0) {
      const JointDescription& joint = assembly_.joint(actuator.joint).description;
      range = {joint.limited, joint.lower, joint.upper};
    } else if (actuator.tendon >= 0) {
      const TendonDescription& tendon = assembly_.tendon(actuator.tendon);
      range = {tendon.limited, tendon.lower, tendon.upper};
    }
    if (!range.limited) fail(element, "attribute 'inheritrange' needs a joint or tendon with a range");
    const double middle = 0.5 * (range.lower + range.upper),
                 radius = 0.5 * (range.upper - range.lower) * ratio;
    return {true, middle - radius, middle + radius};
  }

  WorldAssembly& assembly_;
  const ModelPart& part_;
};

}  // namespace

void read_actuators(WorldAssembly& assembly, const ModelPart& part) {
  ActuatorReader reader(assembly, part);
  std::vector<ActuatorReader::Copies> columns;
  for (const SourceElement* element : part.file->entries("actuator")) {
    columns.push_back(reader.read(*element));
  }
  // MuJoCo numbers copy by copy; what is left out has a number too, for the controls of keyframes.
  copy_by_copy(columns, [&](ActuatorReader::Copy& copy) {
    const Index number = copy.actuator ? static_cast<Index>(assembly.actuators().size()) : -1;
    assembly.actuator_numbers().push_back(number);
    if (copy.activated) assembly.activated().push_back(number);
    if (copy.actuator) assembly.add_actuator(std::move(*copy.actuator));
  });
}

void apply_joint_force_limits(WorldAssembly& assembly) {
  std::map<Index, std::vector<ActuatorDescription*>> by_joint;
  for (ActuatorDescription& actuator : assembly.actuators()) {
    if (actuator.joint >= 0) by_joint[actuator.joint].push_back(&actuator);
  }
  for (auto& [index, actuators] : by_joint) {
    const JointSpec& joint = assembly.joint(index);
    if (!joint.force_limited) continue;
    if (joint.description.actuator_compensation && actuators.size() == 1 &&
        dofs_of(joint.description.kind) == 1) {
      continue;  // the limits are those of the sum, kept by the joint
    }
    ActuatorDescription& actuator = *actuators.front();
    const double gear = actuator.gear[0];
    if (actuators.size() > 1 || gear == 0.0 || dofs_of(joint.description.kind) != 1) {
      assembly.log().warn(*joint.element,
                          "actuatorfrcrange is supported on hinges and slides with one actuator");
      continue;
    }
    const double a = joint.force_lower / gear, b = joint.force_upper / gear;
    actuator.force_lower = std::max(actuator.force_lower, std::min(a, b));
    actuator.force_upper = std::min(actuator.force_upper, std::max(a, b));
    if (actuator.force_lower > actuator.force_upper) {
      fail(*joint.element, "actuatorfrcrange and the forcerange of the actuator have nothing in common");
    }
  }
}

}  // namespace tribo::detail
