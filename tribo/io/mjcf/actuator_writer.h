// Gain and bias of an actuator as attributes of <general>.
#pragma once

#include "tribo/io/xml/xml_element.h"
#include "tribo/multibody/model.h"

namespace tribo::detail {

void write_actuator_law(Element& element, const ActuatorDescription& actuator);

}  // namespace tribo::detail
