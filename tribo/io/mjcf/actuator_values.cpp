#include "tribo/io/mjcf/actuator_values.h"

#include <numbers>

namespace tribo::detail {

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
  if (attributes.element().name == "intvelocity") {
    dynamics = dyn_integrator;
  } else if (attributes.has("timeconst")) {
    dynamics_numbers[0] = attributes.number("timeconst", 0.0);
    dynamics = dynamics_numbers[0] > 0.0 ? dyn_filterexact : dyn_none;
  }
}

// Numbers that still have the value of a plain actuator get that of a muscle.
void ActuatorValues::set_muscle(const Attributes& attributes) {
  constexpr std::array<double, 9> plain{1.0}, own{0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2};
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (gain[k] == plain[k]) gain[k] = own[k];
  }
  if (dynamics_numbers[0] == 1.0) dynamics_numbers[0] = 0.01;
  if (dynamics_numbers[1] == 0.0) dynamics_numbers[1] = 0.04;
  attributes.fill("timeconst", std::span(dynamics_numbers).first(2), 2);
  dynamics_numbers[2] = attributes.number("tausmooth", dynamics_numbers[2]);
  attributes.fill("range", std::span(gain).first(2), 2);
  constexpr std::array<std::string_view, 7> names{"force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"};
  for (std::size_t k = 0; k < names.size(); ++k) gain[k + 2] = attributes.number(names[k], gain[k + 2]);
  bias = gain;
  dynamics = dyn_muscle;
  gain_type = gain_muscle;
  bias_type = bias_muscle;
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
    attributes.fill("dynprm", dynamics_numbers, 1);
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
      gain[0] = 0.25 * std::numbers::pi * diameter * diameter;
    }
    attributes.fill("bias", std::span(bias).first(3), 3);
    dynamics_numbers[0] = attributes.number("timeconst", dynamics_numbers[0]);
  } else if (element.name == "muscle") {
    set_muscle(attributes);
  } else if (element.name == "adhesion") {
    const double strength = attributes.number("gain", gain[0]);
    *this = ActuatorValues{};
    gain[0] = strength;
  } else {
    known = false;
  }
}

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

}  // namespace tribo::detail
