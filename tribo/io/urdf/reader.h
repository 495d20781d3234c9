// URDF robots from a file.
#pragma once

#include <filesystem>

#include "tribo/io/load_options.h"
#include "tribo/sim/world.h"

namespace tribo {

// InvalidInput as load_world() in io/load.h.
World load_urdf(const std::filesystem::path& file, const LoadOptions& options, LoadReport& report);

}  // namespace tribo
