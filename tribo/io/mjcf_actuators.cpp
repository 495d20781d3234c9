// <actuator> of MJCF. All kinds of actuators are one kind with different values: <motor>, <position> and the
// others only set the values of <general>, in defaults as well.
#include <fmt/format.h>

#include <algorithm>

#include "tribo/io/mjcf_joints.h"
#include "tribo/io/mjcf_world.h"

namespace tribo::detail {
namespace {

using Name = WorldAssembly::NameAttribute;

enum Dynamics { dyn_none, dyn_filter, dyn_filterexact, dyn_integrator, dyn_muscle, dyn_user, dyn_dcmotor };
enum Gain { gain_fixed, gain_affine, gain_muscle, gain_user, gain_dcmotor };
enum Bias { bias_none, bias_affine, bias_muscle, bias_user, bias_dcmotor };

struct ActuatorValues {
  int dynamics = dyn_none, gain_type = gain_fixed, bias_type = bias_none;
  std::array<double, 10> gain{1.0}, bias{};
  double inherit_range = 0.0;
  bool known = true;  // one of the kinds below

  void apply(const SourceElement& element);

 private:
  void set_servo(const Attributes& attributes);
};

bool is_actuator(std::string_view name) {
  for (const std::string_view known : {"general", "motor", "position", "velocity", "intvelocity", "damper",
                                       "cylinder", "muscle", "adhesion", "dcmotor", "plugin"}) {
    if (name == known) return true;
  }
  return false;
}

void ActuatorValues::set_servo(const Attributes& attributes) {
  gain_type = gain_fixed;
  bias_type = bias_affine;
  const double kp = attributes.number("kp", gain[0]);
  if (kp < 0.0) fail(attributes.element(), "attribute 'kp' must not be negative");
  gain[0] = kp;
  bias[0] = 0.0;
  bias[1] = -kp;
  if (attributes.has("kv")) bias[2] = -attributes.number("kv", 0.0);
  // A ratio of the critical damping is kept as a positive value until the inertia is known.
  if (attributes.has("dampratio")) bias[2] = attributes.number("dampratio", 0.0);
  inherit_range = attributes.number("inheritrange", inherit_range);
  const double lag = attributes.number("timeconst", 0.0);
  dynamics = attributes.element().name == "intvelocity" ? dyn_integrator
             : lag > 0.0                                ? dyn_filterexact
                                                        : dynamics;
}

void ActuatorValues::apply(const SourceElement& element) {
  const Attributes attributes(element);
  if (element.name == "general") {
    dynamics = attributes.word(
        "dyntype", {"none", "filter", "filterexact", "integrator", "muscle", "user", "dcmotor"}, dynamics);
    gain_type = attributes.word("gaintype", {"fixed", "affine", "muscle", "user", "dcmotor"}, gain_type);
    bias_type = attributes.word("biastype", {"none", "affine", "muscle", "user", "dcmotor"}, bias_type);
    attributes.fill("gainprm", gain, 1);
    attributes.fill("biasprm", bias, 1);
  } else if (element.name == "motor") {
    *this = ActuatorValues{};
  } else if (element.name == "position" || element.name == "intvelocity") {
    set_servo(attributes);
  } else if (element.name == "velocity") {
    const double kv = attributes.number("kv", gain[0]);
    *this = ActuatorValues{};
    bias_type = bias_affine;
    gain[0] = kv;
    bias[2] = -kv;
  } else if (element.name == "damper") {
    const double kv = attributes.number("kv", 0.0);
    *this = ActuatorValues{};
    gain_type = gain_affine;
    gain = {0.0, 0.0, -kv};
  } else if (element.name == "cylinder") {
    dynamics = dyn_filter;
    gain_type = gain_fixed;
    bias_type = bias_affine;
    gain[0] = attributes.number("area", gain[0]);
    if (attributes.has("diameter")) {
      const double diameter = attributes.number("diameter", 0.0);
      gain[0] = 0.25 * 3.14159265358979323846 * diameter * diameter;
    }
    attributes.fill("bias", std::span(bias).first(3), 3);
  } else {
    known = false;
  }
}

// The values an element of some kind starts from. <general> sets the values for all kinds; a shortcut like
// <position> continues the values of its own kind and of <general>, and forgets those of other shortcuts.
ActuatorValues default_values(const std::string& kind, const std::vector<const SourceElement*>& history) {
  ActuatorValues values;
  std::string shortcut;  // the one that set the values
  for (const SourceElement* earlier : history) {
    const bool is_general = earlier->name == "general";
    if (kind != "general" && !is_general && earlier->name != kind) {
      if (shortcut.empty()) values = ActuatorValues{};
      continue;
    }
    if (!is_general) {
      if (!shortcut.empty() && shortcut != earlier->name) values = ActuatorValues{};
      shortcut = earlier->name;
    }
    values.apply(*earlier);
  }
  return values;
}

// Why it cannot be done; empty: it can.
std::string obstacle(const ActuatorValues& values) {
  if (!values.known) return "this kind of actuator is not supported";
  if (values.dynamics >= dyn_integrator) return "activation dynamics are not supported";
  const bool constant = values.gain_type == gain_fixed ||
                        (values.gain_type == gain_affine && values.gain[1] == 0.0 && values.gain[2] == 0.0);
  if (!constant) return "a gain that depends on length or velocity is not supported";
  if (values.bias_type > bias_affine) return "this type of bias is not supported";
  return {};
}

std::string named_problem(const SourceElement& element, const std::string& problem) {
  const std::string* name = element.find("name");
  return name != nullptr ? fmt::format("actuator '{}': {}", *name, problem) : problem;
}

void check_attributes(const Attributes& attributes, LoadLog& log) {
  attributes.check(
      log,
      {"name",         "class",     "joint",     "jointinparent", "tendon",    "site",        "body",
       "slidersite",   "cranksite", "refsite",   "gear",          "ctrlrange", "ctrllimited", "forcerange",
       "forcelimited", "gaintype",  "biastype",  "dyntype",       "gainprm",   "biasprm",     "kp",
       "kv",           "dampratio", "timeconst", "inheritrange",  "area",      "diameter",    "bias"},
      {"group", "user", "actlimited", "actrange", "actdim", "actearly", "dynprm", "lengthrange",
       "cranklength"});
}

class ActuatorReader {
 public:
  ActuatorReader(WorldAssembly& assembly, const ModelPart& part) : assembly_(assembly), part_(part) {}

  // The copies of one element, nothing in the place of those that are left out.
  using Copies = std::vector<std::optional<ActuatorDescription>>;

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
    if (transmission.empty()) problem = "only actuators on joints and tendons are supported";
    if (problem.empty() && transmission == "tendon" &&
        assembly_.is_left_out(NameKind::tendon, part_.prefix + element.text("tendon"))) {
      problem = fmt::format("its tendon '{}' is left out", element.text("tendon"));
    }
    if (!problem.empty()) {
      assembly_.log().leave_out(element, named_problem(element, problem));
      return Copies(count_of(element));
    }
    check_attributes(attributes, assembly_.log());
    if (values.dynamics != dyn_none) {
      assembly_.log().warn(element, "activation dynamics are not supported; the control acts at once");
    }
    const bool tendon = transmission == "tendon";
    const Name reference{tendon ? NameKind::tendon : NameKind::joint, transmission};
    Copies result;
    for (const std::string& suffix : assembly_.copies(part_, element, {reference})) {
      result.push_back(make(attributes, values, reference, suffix));
    }
    return result;
  }

 private:
  static std::string_view find_transmission(const SourceElement& element) {
    for (const std::string_view name : {"joint", "jointinparent", "tendon"}) {
      if (element.find(name) != nullptr) return name;
    }
    return {};
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

  ActuatorDescription make(const Attributes& attributes, const ActuatorValues& values, const Name& reference,
                           const std::string& suffix) {
    const SourceElement& element = attributes.element();
    ActuatorDescription actuator;
    actuator.name = assembly_.own_name(part_, element, suffix);
    const Index index = assembly_.find(part_, element, reference, suffix);
    (reference.kind == NameKind::tendon ? actuator.tendon : actuator.joint) = index;
    if (reference.attribute == "jointinparent") assembly_.require_scalar(index, element);
    std::array<double, 6> gear{1.0};
    attributes.fill("gear", gear, 1);
    actuator.gear = Vec6::Map(gear.data());
    actuator.gain = values.gain[0];
    if (values.bias_type == bias_affine) actuator.bias = Vec3(values.bias[0], values.bias[1], values.bias[2]);
    const CompilerSettings& compiler = part_.file->compiler();
    Range control = read_range(attributes, "ctrlrange", "ctrllimited", compiler);
    if (values.inherit_range > 0.0 && element.find("ctrlrange") == nullptr) {
      control = inherited(values.inherit_range, actuator, element);
    }
    if (control.limited) actuator.control_lower = control.lower, actuator.control_upper = control.upper;
    const Range force = read_range(attributes, "forcerange", "forcelimited", compiler);
    if (force.limited) actuator.force_lower = force.lower, actuator.force_upper = force.upper;
    return actuator;
  }

  Range inherited(double ratio, const ActuatorDescription& actuator, const SourceElement& element) const {
    Range range;
    if (actuator.joint >= 0) {
      const JointDescription& joint = assembly_.joint(actuator.joint).description;
      range = {joint.limited, joint.lower, joint.upper};
    } else {
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
  copy_by_copy(columns, [&](std::optional<ActuatorDescription>& actuator) {
    assembly.actuator_numbers().push_back(actuator ? static_cast<Index>(assembly.actuators().size()) : -1);
    if (actuator) assembly.actuators().push_back(std::move(*actuator));
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
