#include "tribo/io/load.h"

#include <fmt/format.h>

#include "tribo/base/errors.h"
#include "tribo/io/xml/source_xml.h"

namespace tribo {

namespace {

World load_by_kind(const std::filesystem::path& file, const LoadOptions& options, LoadReport& report) {
  const std::filesystem::path extension = file.extension();
  if (extension == ".urdf") return load_urdf(file, options, report);
  if (extension == ".mjcf") return load_mjcf(file, options, report);
  // An .xml file is what its root element says.
  const detail::SourceElement root = detail::parse_xml(detail::read_text(file), file);
  if (root.name == "robot") return load_urdf(file, options, report);
  return load_mjcf(file, options, report);
}

}  // namespace

// Whatever is wrong, the message begins with the file (or one it includes, from the same folder).
World load_world(const std::filesystem::path& file, const LoadOptions& options, LoadReport& report) {
  try {
    World world = load_by_kind(file, options, report);
    validate(world);
    return world;
  } catch (const InvalidInput& error) {
    const std::string folder = file.parent_path().string();
    if (std::string_view(error.what()).starts_with(folder.empty() ? file.string() : folder)) throw;
    throw InvalidInput(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace tribo
