#include "tribo/io/mjcf/actuator_writer.h"

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

}  // namespace tribo::detail
