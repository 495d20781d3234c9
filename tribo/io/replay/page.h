// The pieces of a replay page: the viewer, then worlds and frames as <script> elements that hold data.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "tribo/base/types.h"

namespace tribo::detail {

// The viewer as it was embedded at build time; empty where it was not built.
std::string_view viewer_page();
// The same, or InvalidInput that says how to build it. `wanted_by`: the option or file that asks.
std::string_view require_viewer(std::string_view wanted_by);

// JSON (or any text) that may stand in a <script>: `<` becomes \u003c.
std::string script_safe(std::string json);

// `run`: 0, or 1 for the second of two runs side by side.
void write_world(std::ostream& out, std::string_view world_json, int run);
void write_chunk(std::ostream& out, std::string_view base64, Index frames, int run);
void write_end(std::ostream& out, std::int64_t frames, std::int64_t missed_steps, int run);

}  // namespace tribo::detail
