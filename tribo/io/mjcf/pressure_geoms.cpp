#include "tribo/io/mjcf/pressure_geoms.h"

#include <fmt/format.h>

#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/io/mjcf/plugin_values.h"

namespace tribo::detail {

namespace {

constexpr std::string_view kPlugin = "tribo.pressure";

void take(const SourceElement& plugin, const std::string& key, double value, PressureField& field,
          Material& material) {
  if (key == "modulus") {
    field.modulus = value;
  } else if (key == "depth") {
    field.depth = value;
  } else if (key == "resolution") {
    field.resolution = value;
  } else if (key == "max_faces") {
    if (!(value >= 0.0 && value <= 1e9 && value == std::floor(value))) {
      fail(plugin, fmt::format("max_faces is {}: it must be a whole number >= 0", value));
    }
    field.max_faces = static_cast<Index>(value);
  } else if (key == "dissipation") {
    if (!(std::isfinite(value) && value >= 0.0)) {
      fail(plugin, fmt::format("dissipation is {}: it must be finite and >= 0 s", value));
    }
    material.dissipation_time = value;
  } else {
    fail(plugin,
         fmt::format("there is no key '{}': modulus, depth, resolution, max_faces, dissipation", key));
  }
}

}  // namespace

void read_pressure(const SourceElement& element, Geom& geom) {
  for (const SourceElement& plugin : element.children) {
    if (plugin.name != "plugin" || plugin.text("plugin") != kPlugin) continue;
    PressureField field;
    const PluginValues values = read_plugin_values(plugin);
    if (!values.contains("modulus")) fail(plugin, "it needs the key 'modulus', Pa (inf: rigid)");
    for (const auto& [key, value] : values) take(plugin, key, value, field, geom.material);
    try {
      check_pressure_field("the geom", geom.shape, field);
    } catch (const InvalidInput& error) {
      fail(plugin, error.what());
    }
    geom.pressure = field;
  }
}

void write_pressure(tinyxml2::XMLPrinter& printer, const Geom& geom) {
  if (!geom.pressure) return;
  Element plugin(printer, "plugin");
  plugin.text("plugin", std::string(kPlugin));
  const auto config = [&](const char* key, double value) {
    Element(printer, "config").text("key", key).numbers("value", {value});
  };
  config("modulus", geom.pressure->modulus);
  if (geom.pressure->depth > 0.0) config("depth", geom.pressure->depth);
  if (geom.pressure->resolution > 0.0) config("resolution", geom.pressure->resolution);
  if (geom.pressure->max_faces > 0) config("max_faces", static_cast<double>(geom.pressure->max_faces));
  if (geom.material.dissipation_time > 0.0) config("dissipation", geom.material.dissipation_time);
}

}  // namespace tribo::detail
