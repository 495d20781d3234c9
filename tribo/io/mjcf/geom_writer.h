// Shape, pose, material and contact bits of a geom as attributes of <geom>.
#pragma once

#include <string>

#include "tribo/io/xml/xml_element.h"
#include "tribo/sim/world.h"

namespace tribo::detail {

// `name`: its own, and that of its hull among the assets; `owner`: whom a refusal names.
void write_geom(Element& element, const Geom& geom, const std::string& name, const std::string& owner);

// InvalidInput where MJCF has no number for it.
void check_material(const std::string& owner, const Material& material);

}  // namespace tribo::detail
