// The numbers of a plugin in MJCF's own words: <plugin plugin=""><config key="" value=""/> ..</plugin>.
#pragma once

#include <map>
#include <string>

#include "tribo/io/xml/source_xml.h"

namespace tribo::detail {

using PluginValues = std::map<std::string, double, std::less<>>;

// InvalidInput with file and line where a value is no number (infinite is one) or an element is none of these.
PluginValues read_plugin_values(const SourceElement& plugin);

}  // namespace tribo::detail
