// <sensor> of MJCF from the sensors of a World. Their frames are sites of their own.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tribo/io/xml/xml_element.h"
#include "tribo/sim/world.h"

namespace tribo::detail {

struct SensorSite {
  SiteDescription site;
  std::optional<Shape> volume;
};
std::vector<SensorSite> sensor_sites(const World& world);

// The shape of a site.
void write_volume(Element& element, const Shape& volume);

// How things are called in the file.
struct SensorNames {
  std::function<std::string(Index)> body, joint, geom, tendon, actuator;
};
void write_sensors(const World& world, const SensorNames& names, tinyxml2::XMLPrinter& printer);

}  // namespace tribo::detail
