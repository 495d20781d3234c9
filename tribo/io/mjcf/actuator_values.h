// The values of an MJCF actuator: all kinds are one kind with different values. <motor>, <position> and the others only set
// the values of <general>, in defaults as well.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/io/xml/attributes.h"

namespace tribo::detail {

enum ActuatorDynamics {
  dyn_none,
  dyn_filter,
  dyn_filterexact,
  dyn_integrator,
  dyn_muscle,
  dyn_user,
  dyn_dcmotor
};
enum ActuatorGain { gain_fixed, gain_affine, gain_muscle, gain_user, gain_dcmotor };
enum ActuatorBias { bias_none, bias_affine, bias_muscle, bias_user, bias_dcmotor };

struct ActuatorValues {
  int dynamics = dyn_none, gain_type = gain_fixed, bias_type = bias_none;
  std::array<double, 10> gain{1.0}, bias{}, dynamics_numbers{1.0};
  double inherit_range = 0.0;
  bool known = true;  // one of the kinds below

  void apply(const SourceElement& element);

 private:
  void set_servo(const Attributes& attributes);
  void set_muscle(const Attributes& attributes);
};

bool is_actuator(std::string_view name);

// The values an element of some kind starts from. <general> sets the values for all kinds; a shortcut like
// <position> continues the values of its own kind and of <general>, and forgets those of other shortcuts.
ActuatorValues default_values(const std::string& kind, const std::vector<const SourceElement*>& history);

}  // namespace tribo::detail
