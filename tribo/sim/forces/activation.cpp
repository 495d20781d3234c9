#include "tribo/sim/forces/activation.h"

#include <algorithm>
#include <cmath>

namespace tribo {

namespace {

double within(const ActuatorDescription& actuator, double control) {
  return std::clamp(control, actuator.control_lower, actuator.control_upper);
}

double next_activation(const ActuatorDescription& actuator, double control, double present, double h) {
  const double time = actuator.activation_times[0];
  double next = present;
  switch (actuator.activation) {
    case ActivationKind::none:
      return control;
    case ActivationKind::integrator:
      next += h * control;
      break;
    case ActivationKind::filter:
      next += h * (control - present) / time;
      break;
    case ActivationKind::filter_exact:
      next -= (control - present) * std::expm1(-h / time);
      break;
    case ActivationKind::muscle:
      next += h * muscle_activation_rate(control, present, actuator.activation_times);
      break;
  }
  return std::clamp(next, actuator.activation_lower, actuator.activation_upper);
}

}  // namespace

void actuator_inputs(const Model& model, const Vector& control, const Vector& activation, double h,
                     Vector& input) {
  input.resize(control.size());
  for (Index a = 0; a < control.size(); ++a) {
    const ActuatorDescription& actuator = model.actuators()[static_cast<std::size_t>(a)];
    input[a] = within(actuator, control[a]);
    const Index k = model.activation(a);
    if (k < 0) continue;
    input[a] =
        actuator.activation_early ? next_activation(actuator, input[a], activation[k], h) : activation[k];
  }
}

void advance_activations(const Model& model, const Vector& control, double h, Vector& activation) {
  if (model.activation_count() == 0) return;
  for (Index a = 0; a < control.size(); ++a) {
    const Index k = model.activation(a);
    if (k < 0) continue;
    const ActuatorDescription& actuator = model.actuators()[static_cast<std::size_t>(a)];
    activation[k] = next_activation(actuator, within(actuator, control[a]), activation[k], h);
  }
}

}  // namespace tribo
