#include "tribo/io/urdf/robot.h"

#include <console_bridge/console.h>
#include <fmt/format.h>
#include <urdf_parser/urdf_parser.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "tribo/base/errors.h"

namespace tribo::detail {
namespace {

// Keeps urdfdom's complaints instead of printing them. console_bridge has one handler for the whole program.
class QuietConsole : public console_bridge::OutputHandler {
 public:
  QuietConsole() : lock_(mutex()) { console_bridge::useOutputHandler(this); }
  ~QuietConsole() override { console_bridge::restorePreviousOutputHandler(); }
  void log(const std::string& text, console_bridge::LogLevel level, const char*, int) override {
    if (level >= console_bridge::CONSOLE_BRIDGE_LOG_ERROR && first_.empty()) first_ = text;
  }
  const std::string& first() const { return first_; }

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  std::lock_guard<std::mutex> lock_;
  std::string first_;
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

template <std::size_t N>
void check_children(const SourceElement& element, const std::array<std::string_view, N>& known,
                    LoadLog& log) {
  for (const SourceElement& child : element.children) {
    if (std::find(known.begin(), known.end(), child.name) == known.end()) {
      log.warn(child, "this element is not supported and is ignored");
    }
  }
}

void check_elements(const SourceElement& root, LoadLog& log) {
  constexpr std::array<std::string_view, 8> kRobot{"link",   "joint",  "material",    "transmission",
                                                   "gazebo", "sensor", "group_state", "ros2_control"};
  constexpr std::array<std::string_view, 5> kLink{"inertial", "visual", "collision", "contact",
                                                  "self_collision_checking"};
  constexpr std::array<std::string_view, 9> kJoint{
      "origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"};
  check_children(root, kRobot, log);
  for (const SourceElement& child : root.children) {
    if (child.name == "link") check_children(child, kLink, log);
    if (child.name == "joint") check_children(child, kJoint, log);
  }
}

}  // namespace

const SourceElement& UrdfRobot::element(const std::string& kind, const std::string& name) const {
  for (const SourceElement& child : root.children) {
    if (child.name == kind && child.text("name") == name) return child;
  }
  return root;
}

const SourceElement& UrdfRobot::geometry_element(const std::string& link, const std::string& kind,
                                                 std::size_t k) const {
  const SourceElement& owner = element("link", link);
  for (const SourceElement& child : owner.children) {
    if (child.name == kind && k-- == 0) return child;
  }
  return owner;
}

UrdfRobot parse_urdf(const std::filesystem::path& file, LoadLog& log) {
  std::string text = read_text(file);
  UrdfRobot robot;
  robot.root = parse_xml(text, file);
  if (robot.root.name != "robot") fail(robot.root, "the root element of a URDF file is <robot>");
  check_elements(robot.root, log);
  // urdfdom refuses capsules; as cylinders they pass, and the elements above tell which they were.
  replace_all(text, "<capsule", "<cylinder");
  replace_all(text, "</capsule", "</cylinder");
  std::string complaint;
  try {
    const QuietConsole console;
    robot.model = urdf::parseURDF(text);
    complaint = console.first();
  } catch (const std::exception& error) {
    complaint = error.what();
    robot.model.reset();
  }
  if (robot.model == nullptr || robot.model->getRoot() == nullptr) {
    throw InvalidInput(fmt::format("{}: not a usable URDF: {}", file.string(),
                                   complaint.empty() ? "no robot could be read" : complaint));
  }
  // urdfdom drops some damaged pieces and goes on.
  if (!complaint.empty()) log.warn(robot.root, fmt::format("urdfdom left something out: {}", complaint));
  return robot;
}

std::filesystem::path resolve_uri(const std::string& uri, const std::filesystem::path& file,
                                  const LoadOptions& options, const SourceElement& asking) {
  if (uri.starts_with("file://")) return uri.substr(7);
  for (const std::string_view scheme : {"package://", "model://"}) {
    if (!uri.starts_with(scheme)) continue;
    const std::string rest = uri.substr(scheme.size());
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string name = rest.substr(0, slash);
    const std::string inside = slash < rest.size() ? rest.substr(slash + 1) : std::string();
    for (const auto& [package, root] : options.packages) {
      if (package == name) return root / inside;
    }
    std::error_code error;
    const std::filesystem::path start = std::filesystem::absolute(file, error).parent_path();
    for (std::filesystem::path folder = start; folder.has_relative_path(); folder = folder.parent_path()) {
      if (folder.filename() == name) return folder / inside;
      if (std::filesystem::exists(folder / name / inside, error)) return folder / name / inside;
    }
    fail(asking, fmt::format("the package '{}' of {} is not known; name its folder with --package {}=FOLDER",
                             name, uri, name));
  }
  if (uri.find("://") != std::string::npos)
    fail(asking, fmt::format("addresses like {} are not supported", uri));
  return file.parent_path() / uri;
}

}  // namespace tribo::detail
