// A URDF file as urdfdom understands it, with what urdfdom does not keep: the order of the file, lines, capsules.
#pragma once

#include <urdf_model/model.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "tribo/io/xml/source_xml.h"

namespace tribo::detail {

struct UrdfRobot {
  SourceElement root;
  std::shared_ptr<urdf::ModelInterface> model;

  // Where a link or joint is in the file; the root element where it is not found.
  const SourceElement& element(const std::string& kind, const std::string& name) const;
  // The <collision> (or <visual>) number k of a link.
  const SourceElement& geometry_element(const std::string& link, const std::string& kind,
                                        std::size_t k) const;
};

// InvalidInput naming the file, with urdfdom's own complaint, when the file is not a robot. Nothing is printed.
UrdfRobot parse_urdf(const std::filesystem::path& file, LoadLog& log);

// package://name/path, model://name/path, file:///path or a path relative to the URDF file. Packages that are not
// in the list are looked for among the folders above the file. InvalidInput naming the element when unknown.
std::filesystem::path resolve_uri(const std::string& uri, const std::filesystem::path& file,
                                  const LoadOptions& options, const SourceElement& asking);

}  // namespace tribo::detail
