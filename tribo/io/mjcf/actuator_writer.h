// Gain, bias and activation of an actuator as attributes of <general>; ranges of anything.
#pragma once

#include <string>

#include "tribo/io/xml/xml_element.h"
#include "tribo/multibody/model.h"

namespace tribo::detail {

void write_actuator_law(Element& element, const ActuatorDescription& actuator);
// `owner`: whom a refusal names.
void write_activation(Element& element, const ActuatorDescription& actuator, const std::string& owner);
// The attributes `limited` and `range` of something with two finite limits; nothing without limits.
void write_range(Element& element, const char* range, const char* limited, bool has_limits, double lower,
                 double upper, const std::string& owner);

}  // namespace tribo::detail
