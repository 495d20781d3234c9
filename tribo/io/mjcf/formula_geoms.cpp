#include "tribo/io/mjcf/formula_geoms.h"

#include <cmath>
#include <string>

#include "tribo/base/errors.h"
#include "tribo/collide/shapes/ready_solids.h"
#include "tribo/io/mjcf/plugin_values.h"

namespace tribo::detail {

namespace {

constexpr std::string_view kPrefix = "tribo.sdf.";
constexpr double kPieces = 30.0;  // triangles along the body where no spacing is given

}  // namespace

std::optional<Shape> read_formula_shape(const SourceElement& geom) {
  for (const SourceElement& plugin : geom.children) {
    const std::string name = plugin.text("plugin");
    if (plugin.name != "plugin" || !name.starts_with(kPrefix)) continue;
    PluginValues values = read_plugin_values(plugin);
    for (const auto& [key, value] : values) {
      if (!std::isfinite(value)) fail(plugin, "the value of key '" + key + "' is not finite");
    }
    double spacing = 0.0;
    if (const auto given = values.find("spacing"); given != values.end()) {
      spacing = given->second;
      if (!(spacing > 0.0)) fail(plugin, "spacing must be positive");
      values.erase(given);
    }
    try {
      const Solid solid = ready_solid(std::string_view(name).substr(kPrefix.size()), values);
      if (spacing == 0.0) spacing = (solid.bounds().upper - solid.bounds().lower).maxCoeff() / kPieces;
      return solid.shape(spacing);
    } catch (const InvalidInput& error) {
      fail(plugin, error.what());
    }
  }
  return std::nullopt;
}

}  // namespace tribo::detail
