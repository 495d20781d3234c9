// Names for the things of a world that is written as MJCF, which wants a different one for each.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/base/errors.h"
#include "tribo/base/types.h"

namespace tribo::detail {

// Names of all things of one kind: their own, or made from the kind and the number.
class Names {
 public:
  explicit Names(std::string_view kind) : kind_(kind) {}

  void add(const std::string& own) {
    names_.push_back(own.empty() ? fmt::format("{}{}", kind_, names_.size()) : own);
    if (!seen_.insert(names_.back()).second) {
      throw InvalidInput(
          fmt::format("there are two things of kind {} with the name '{}': MJCF needs different names", kind_,
                      names_.back()));
    }
  }
  const std::string& operator[](Index index) const { return names_[static_cast<std::size_t>(index)]; }

 private:
  std::string kind_;
  std::vector<std::string> names_;
  std::set<std::string> seen_;
};

}  // namespace tribo::detail
