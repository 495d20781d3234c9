// Height fields of MJCF: from a PNG image, from MuJoCo's binary format, or as numbers in the file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tribo/collide/shapes/height_field.h"
#include "tribo/io/xml/source_xml.h"

namespace tribo::detail {

struct HeightFieldAsset {
  std::shared_ptr<const HeightField> field;  // nullptr: it cannot be read
  std::string obstacle;                      // why
};

// `file`: where it is; empty: the heights are numbers in the element. `asset` is called `name` in messages.
void read_height_field(const SourceElement& element, const std::string& name,
                       const std::filesystem::path& file, LoadLog& log, HeightFieldAsset& asset);

}  // namespace tribo::detail
