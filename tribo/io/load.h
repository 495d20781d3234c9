// Robots and scenes from files: MJCF (.xml, .mjcf) and URDF (.urdf).
//
// Example
//   LoadReport report;
//   World world = load_world("humanoid.xml", {}, report);
//   for (const LoadWarning& w : report.warnings) fmt::print("{}:{}: {}\n", w.file, w.line, w.message);
#pragma once

#include <filesystem>

#include "tribo/io/load_options.h"
#include "tribo/io/mjcf/reader.h"
#include "tribo/io/urdf/reader.h"
#include "tribo/sim/world.h"

namespace tribo {

// InvalidInput naming file, line and element when the file is damaged, when ground or actuators would be missing
// (unless allow_missing), or, with strict, when it is not fully supported.
World load_world(const std::filesystem::path& file, const LoadOptions& options, LoadReport& report);

}  // namespace tribo
