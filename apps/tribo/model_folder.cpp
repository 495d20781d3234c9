#include "apps/tribo/model_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "tribo/base/errors.h"
#include "tribo/io/load.h"

namespace tribo::cli {

namespace fs = std::filesystem;

RobotLoader models_of(ModelFolder from) {
  if (!fs::is_directory(from.folder))
    throw InvalidInput(fmt::format("--models {}: there is no such folder", from.folder));
  return [from = std::move(from)](const RobotRole& role) {
    const fs::path path = fs::path(from.folder) / role.folder / role.file;
    if (!fs::is_regular_file(path)) {
      throw InvalidInput(fmt::format("--models {}: scene {} looks for its {} in {}, which is not there",
                                     from.folder, from.scene, role.role, path.string()));
    }
    LoadOptions options;
    options.visuals = from.visuals;
    LoadReport report;
    World world = load_world(path, options, report);
    for (const LoadWarning& warning : report.warnings) from.warn(warning);
    return world;
  };
}

}  // namespace tribo::cli
