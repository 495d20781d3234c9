#include "tribo/io/mjcf/defaults.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tribo::detail {
namespace {

constexpr std::array<std::string_view, 21> kKnown{
    "geom",    "joint",    "site",     "mesh",     "pair",        "equality", "tendon",
    "general", "motor",    "position", "velocity", "intvelocity", "damper",   "cylinder",
    "muscle",  "adhesion", "dcmotor",  "material", "camera",      "light",    "flex"};

}  // namespace

void DefaultTable::read(const SourceElement& element, LoadLog& log) {
  const std::string name = element.text("class");
  read_class(element, main_, log);
  // Other names of the outermost class; "main" is always one.
  if (!name.empty() && name != "main") classes_[name] = DefaultClass{&main_, {}};
}

void DefaultTable::read_class(const SourceElement& element, DefaultClass& into, LoadLog& log) {
  // What a class says holds for the classes inside it, even where it is said after them.
  for (const SourceElement& child : element.children) {
    if (child.name == "default") continue;
    if (std::find(kKnown.begin(), kKnown.end(), child.name) == kKnown.end()) {
      log.warn(child, "defaults of this element are not supported and are ignored");
      continue;
    }
    into.elements.push_back(&child);
  }
  for (const SourceElement& child : element.children) {
    if (child.name != "default") continue;
    const std::string name = child.text("class");
    if (name.empty()) fail(child, "a nested default needs the attribute 'class'");
    const auto [at, added] = classes_.try_emplace(name);
    if (!added) fail(child, fmt::format("the class '{}' is defined twice", name));
    at->second.parent = &into;
    read_class(child, at->second, log);
  }
}

const DefaultClass& DefaultTable::find(const std::string& name, const SourceElement& asking) const {
  if (name.empty() || name == "main") return main_;
  const auto at = classes_.find(name);
  if (at == classes_.end()) fail(asking, fmt::format("there is no default class '{}'", name));
  return at->second;
}

std::vector<const SourceElement*> DefaultTable::layers(const DefaultClass& chosen, std::string_view kind) {
  std::vector<const SourceElement*> result;
  for (const DefaultClass* c = &chosen; c != nullptr; c = c->parent) {
    for (auto e = c->elements.rbegin(); e != c->elements.rend(); ++e) {
      if ((*e)->name == kind) result.push_back(*e);
    }
  }
  return result;
}

std::vector<const SourceElement*> DefaultTable::history(const DefaultClass& chosen) {
  std::vector<const SourceElement*> result;
  for (const DefaultClass* c = &chosen; c != nullptr; c = c->parent) {
    result.insert(result.begin(), c->elements.begin(), c->elements.end());
  }
  return result;
}

}  // namespace tribo::detail
