#include "tribo/io/mjcf/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace tribo::detail {
namespace {

constexpr std::array<std::string_view, 18> kSections{
    "compiler",   "option",    "size",     "visual",    "statistic", "default",
    "custom",     "extension", "asset",    "worldbody", "contact",   "equality",
    "deformable", "tendon",    "actuator", "sensor",    "keyframe",  "include"};

// Puts the children of included files in the place of the <include> elements.
void expand_includes(SourceElement& element, const std::filesystem::path& folder,
                     std::set<std::filesystem::path>& included) {
  for (std::size_t k = 0; k < element.children.size();) {
    if (element.children[k].name != "include") {
      expand_includes(element.children[k], folder, included);
      ++k;
      continue;
    }
    const SourceElement include = element.children[k];
    const std::string name = with_slashes(include.text("file"));
    if (name.empty()) fail(include, "attribute 'file' is missing");
    std::filesystem::path file = folder / name;
    std::error_code error;
    if (!std::filesystem::exists(file, error)) {
      const auto beside = std::filesystem::path(*include.file).parent_path() / name;
      if (std::filesystem::exists(beside, error)) file = beside;
    }
    if (!std::filesystem::is_regular_file(file, error))
      fail(include, fmt::format("there is no file {}", file.string()));
    if (!included.insert(std::filesystem::weakly_canonical(file, error)).second) {
      fail(include, fmt::format("{} is included twice", file.string()));
    }
    SourceElement root = parse_xml(read_text(file), file);
    expand_includes(root, folder, included);
    const auto at = element.children.erase(element.children.begin() + static_cast<std::ptrdiff_t>(k));
    element.children.insert(at, std::make_move_iterator(root.children.begin()),
                            std::make_move_iterator(root.children.end()));
    k += root.children.size();
  }
}

// Which are only seen; flexible bodies are read with the tree of bodies.
bool has_skins(const SourceElement& deformable) {
  return std::any_of(deformable.children.begin(), deformable.children.end(),
                     [](const SourceElement& child) { return child.name != "flex"; });
}

bool shapes_softness(const SourceElement& element) {
  return std::any_of(element.attributes.begin(), element.attributes.end(), [](const auto& attribute) {
    const std::string_view name = attribute.first;
    return name.starts_with("solref") || name.starts_with("solimp") || name == "solmix";
  });
}

// Before MuJoCo 3.9 a gap was taken off the margin. Numbers that are none are refused where they are read.
bool has_margin_and_gap(const SourceElement& element) {
  if (element.name != "geom" && element.name != "pair") return false;
  const auto number = [&](std::string_view name) {
    const std::string* text = element.find(name);
    return text != nullptr ? std::strtod(text->c_str(), nullptr) : 0.0;
  };
  return number("margin") > 0.0 && number("gap") > 0.0;
}

// What models do on hundreds of elements (nearly every one shapes MuJoCo's soft constraints): one warning for each file.
class OncePerFile {
 public:
  OncePerFile(bool (*concerns)(const SourceElement&), const char* message)
      : concerns_(concerns), message_(message) {}

  void look_at(const SourceElement& element) {
    if (concerns_(element)) {
      Found& found = files_[*element.file];
      if (found.count++ == 0) found.first = &element;
    }
    for (const SourceElement& child : element.children) look_at(child);
  }

  void warn(LoadLog& log) const {
    for (const auto& [file, found] : files_) {
      const std::string where = found.count > 1 ? fmt::format(" (first of {} elements)", found.count) : "";
      log.warn(*found.first, fmt::format(fmt::runtime(message_), where));
    }
  }

 private:
  struct Found {
    const SourceElement* first = nullptr;
    int count = 0;
  };
  bool (*concerns_)(const SourceElement&);
  const char* message_;
  std::map<std::string, Found> files_;
};

}  // namespace

MjcfFile::MjcfFile(const std::filesystem::path& file, LoadLog& log) : path_(file) {
  root_ = parse_xml(read_text(file), file);
  if (root_.name != "mujoco") fail(root_, "the root element of an MJCF file is <mujoco>");
  std::error_code error;
  std::set<std::filesystem::path> included{std::filesystem::weakly_canonical(file, error)};
  expand_includes(root_, file.parent_path(), included);
  for (const SourceElement& section : root_.children) {
    if (std::find(kSections.begin(), kSections.end(), section.name) == kSections.end()) {
      log.warn(section, "this section is not known and is ignored");
    } else if ((section.name == "deformable" && has_skins(section)) ||
               (section.name == "extension" && !section.children.empty())) {
      log.warn(section, "this section is not supported and is ignored");
    } else if (section.name == "compiler") {
      read_compiler(section, log, compiler_);
    }
  }
  for (OncePerFile remark :
       {OncePerFile(shapes_softness,
                    "solref and solimp are ignored{}: contacts and limits are rigid; materials can get a "
                    "stiffness in SI units, see docs/simulator.md"),
        OncePerFile(
            has_margin_and_gap,
            "margin and gap together{}: surfaces stand out by the whole margin, as in MuJoCo since its "
            "version 3.9; before, the gap was taken off")}) {
    remark.look_at(root_);
    remark.warn(log);
  }
  for (const SourceElement& section : root_.children) {
    if (section.name == "default") defaults_.read(section, log);
  }
  for (const SourceElement& section : root_.children) {
    if (section.name == "asset") assets_.read(section, compiler_, defaults_, file.parent_path(), log);
  }
}

std::vector<const SourceElement*> MjcfFile::entries(std::string_view section) const {
  std::vector<const SourceElement*> result;
  for (const SourceElement& candidate : root_.children) {
    if (candidate.name != section) continue;
    for (const SourceElement& child : candidate.children) result.push_back(&child);
  }
  return result;
}

Attributes MjcfFile::attributes(const SourceElement& element, std::string_view kind,
                                const std::string& inherited) const {
  const std::string* own = element.find("class");
  const auto layers = DefaultTable::layers(defaults_.find(own != nullptr ? *own : inherited, element), kind);
  return Attributes(element, layers);
}

}  // namespace tribo::detail
