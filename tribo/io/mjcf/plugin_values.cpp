#include "tribo/io/mjcf/plugin_values.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tribo::detail {

PluginValues read_plugin_values(const SourceElement& plugin) {
  PluginValues values;
  for (const SourceElement& config : plugin.children) {
    if (config.name != "config") fail(config, "a plugin holds <config key=\"\" value=\"\"/> only");
    const std::string text = config.text("value");
    double value = 0.0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || std::isnan(value)) {
      fail(config, fmt::format("value '{}' of key '{}' is not a number", text, config.text("key")));
    }
    values[config.text("key")] = value;
  }
  return values;
}

}  // namespace tribo::detail
