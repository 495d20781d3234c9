#include "tribo/io/mjcf/sensor_writer.h"

#include <array>

namespace tribo::detail {
namespace {

std::string site_name(std::size_t sensor, std::string_view part) {
  return fmt::format("sensor{}.{}", sensor, part);
}

bool has_reference(SensorKind kind) {
  return kind >= SensorKind::frame_position && kind <= SensorKind::frame_angular_velocity;
}

bool is_frame_reading(SensorKind kind) {
  return has_reference(kind) || kind == SensorKind::frame_acceleration ||
         kind == SensorKind::frame_angular_acceleration;
}

void write_side(Element& element, const ContactSide& side, const std::string& site, const SensorNames& names,
                char digit) {
  const auto name = [&](const char* attribute) { return fmt::format("{}{}", attribute, digit); };
  switch (side.kind) {
    case ContactSide::Kind::any:
      break;
    case ContactSide::Kind::geom:
      element.text(name("geom").c_str(), names.geom(side.object));
      break;
    case ContactSide::Kind::body:
      element.text(name("body").c_str(), names.body(side.object));
      break;
    case ContactSide::Kind::subtree:
      element.text(name("subtree").c_str(), names.body(side.object));
      break;
    case ContactSide::Kind::volume:
      element.text("site", site);
      break;
  }
}

void write_query(Element& element, const ContactQuery& query, std::size_t number, const SensorNames& names) {
  constexpr std::array<const char*, 7> words{"found", "force", "torque", "dist", "pos", "normal", "tangent"};
  constexpr std::array<const char*, 4> reductions{"none", "mindist", "maxforce", "netforce"};
  write_side(element, query.first, site_name(number, "volume"), names, '1');
  write_side(element, query.second, site_name(number, "volume"), names, '2');
  std::string data;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if ((query.fields >> k & 1) != 0) data += (data.empty() ? "" : " ") + std::string(words[k]);
  }
  element.text("num", std::to_string(query.count)).text("data", data);
  element.text("reduce", reductions[static_cast<std::size_t>(query.reduce)]);
}

}  // namespace

std::vector<SensorSite> sensor_sites(const World& world) {
  std::vector<SensorSite> sites;
  for (std::size_t k = 0; k < world.sensors.size(); ++k) {
    const SensorDescription& sensor = world.sensors[k];
    if (traits_of(sensor.kind).object == SensorObject::frame) {
      sites.push_back({{site_name(k, "frame"), sensor.frame.body, sensor.frame.pose}, sensor.volume});
    }
    if (sensor.reference) {
      sites.push_back(
          {{site_name(k, "reference"), sensor.reference->body, sensor.reference->pose}, std::nullopt});
    }
    for (const ContactSide* side : {&sensor.contact.first, &sensor.contact.second}) {
      if (side->kind != ContactSide::Kind::volume) continue;
      sites.push_back({{site_name(k, "volume"), side->frame.body, side->frame.pose}, side->volume});
    }
  }
  return sites;
}

void write_volume(Element& element, const Shape& volume) {
  element.text("type", std::string(to_string(volume.kind())));
  if (volume.kind() == ShapeKind::sphere) {
    element.numbers("size", {volume.radius()});
  } else if (volume.kind() == ShapeKind::capsule || volume.kind() == ShapeKind::cylinder) {
    element.numbers("size", {volume.radius(), volume.half_length()});
  } else {
    element.numbers("size", volume.size());
  }
}

void write_sensors(const World& world, const SensorNames& names, tinyxml2::XMLPrinter& printer) {
  Element section(printer, "sensor");
  for (std::size_t k = 0; k < world.sensors.size(); ++k) {
    const SensorDescription& sensor = world.sensors[k];
    const SensorTraits& traits = traits_of(sensor.kind);
    Element element(printer, std::string(traits.name).c_str());
    if (!sensor.name.empty()) element.text("name", sensor.name);
    element.unless(0.0, "cutoff", sensor.cutoff);
    switch (traits.object) {
      case SensorObject::joint:
      case SensorObject::ball:
        element.text("joint", names.joint(sensor.object));
        break;
      case SensorObject::tendon:
        element.text("tendon", names.tendon(sensor.object));
        break;
      case SensorObject::actuator:
        element.text("actuator", names.actuator(sensor.object));
        break;
      case SensorObject::subtree:
        element.text("body", names.body(sensor.object));
        break;
      case SensorObject::frame:
        if (is_frame_reading(sensor.kind)) {
          element.text("objtype", "site").text("objname", site_name(k, "frame"));
        } else {
          element.text("site", site_name(k, "frame"));
        }
        if (sensor.reference) element.text("reftype", "site").text("refname", site_name(k, "reference"));
        break;
      case SensorObject::none:
        if (sensor.kind == SensorKind::contact) write_query(element, sensor.contact, k, names);
    }
  }
}

}  // namespace tribo::detail
