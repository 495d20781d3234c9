// One MJCF file with its includes: its sections, how its numbers are meant, its defaults and assets. A model that
// is attached to another is a file of its own.
#pragma once

#include <memory>

#include "tribo/io/mjcf/assets.h"

namespace tribo::detail {

class MjcfFile {
 public:
  // Reads the file and all it includes; InvalidInput when a file is missing, damaged or includes itself.
  MjcfFile(const std::filesystem::path& file, LoadLog& log);
  MjcfFile(const MjcfFile&) = delete;
  MjcfFile& operator=(const MjcfFile&) = delete;

  const SourceElement& root() const { return root_; }
  const std::filesystem::path& path() const { return path_; }
  const CompilerSettings& compiler() const { return compiler_; }
  const DefaultTable& defaults() const { return defaults_; }
  AssetTable& assets() { return assets_; }
  // The elements of all sections of that name, one after the other.
  std::vector<const SourceElement*> entries(std::string_view section) const;

  // An element with the defaults of its class; `inherited` is the childclass of the bodies around it.
  Attributes attributes(const SourceElement& element, std::string_view kind,
                        const std::string& inherited) const;

 private:
  std::filesystem::path path_;
  SourceElement root_;
  CompilerSettings compiler_;
  DefaultTable defaults_;
  AssetTable assets_;
};

}  // namespace tribo::detail
