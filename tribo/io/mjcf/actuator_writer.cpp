#include "tribo/io/mjcf/actuator_writer.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "tribo/base/errors.h"

namespace tribo::detail {

namespace {

std::array<double, 9> numbers_of(const Muscle& m) {
  return {
      m.range_lower, m.range_upper, m.force,         200.0,          m.shortest,
      m.longest,     m.fastest,     m.passive_force, m.stretch_force};  // the scale does not count: force >= 0
}

}  // namespace

void write_actuator_law(Element& element, const ActuatorDescription& a) {
  if (a.muscle_gain) {
    element.text("gaintype", "muscle").numbers("gainprm", numbers_of(*a.muscle_gain));
  } else if (a.gain_slope[0] != 0.0 || a.gain_slope[1] != 0.0) {
    element.text("gaintype", "affine").numbers("gainprm", {a.gain, a.gain_slope[0], a.gain_slope[1]});
  } else {
    element.numbers("gainprm", {a.gain});
  }
  if (a.muscle_bias) {
    element.text("biastype", "muscle").numbers("biasprm", numbers_of(*a.muscle_bias));
  } else if (!a.bias.isZero(0.0)) {
    element.text("biastype", "affine").numbers("biasprm", a.bias);
  }
  const std::optional<Muscle>& muscle = a.muscle_gain ? a.muscle_gain : a.muscle_bias;
  if (muscle) element.numbers("lengthrange", {muscle->length_lower, muscle->length_upper});
}

void write_activation(Element& element, const ActuatorDescription& a, const std::string& owner) {
  if (a.activation == ActivationKind::none) return;
  constexpr std::array<const char*, 5> kinds{"none", "integrator", "filter", "filterexact", "muscle"};
  element.text("dyntype", kinds[static_cast<std::size_t>(a.activation)])
      .numbers("dynprm", a.activation_times);
  if (a.activation_early) element.text("actearly", "true");
  write_range(element, "actrange", "actlimited",
              !std::isinf(a.activation_lower) || !std::isinf(a.activation_upper), a.activation_lower,
              a.activation_upper, owner);
}

void write_range(Element& element, const char* range, const char* limited, bool has_limits, double lower,
                 double upper, const std::string& owner) {
  if (!has_limits) return;
  if (!(std::isfinite(lower) && std::isfinite(upper) && lower < upper)) {
    throw InvalidInput(
        fmt::format("{} has the limits {} and {}: MJCF needs two finite ones, the smaller one first", owner,
                    lower, upper));
  }
  element.text(limited, "true").numbers(range, {lower, upper});
}

}  // namespace tribo::detail
