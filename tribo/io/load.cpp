#include "tribo/io/load.h"

#include <fmt/format.h>

#include "tribo/io/source_xml.h"
#include "tribo/math/errors.h"

namespace tribo {

World load_world(const std::filesystem::path& file, const LoadOptions& options, LoadReport& report) {
  const std::filesystem::path extension = file.extension();
  if (extension == ".urdf") return load_urdf(file, options, report);
  if (extension == ".mjcf") return load_mjcf(file, options, report);
  // An .xml file is what its root element says.
  const detail::SourceElement root = detail::parse_xml(detail::read_text(file), file);
  if (root.name == "robot") return load_urdf(file, options, report);
  return load_mjcf(file, options, report);
}

}  // namespace tribo
