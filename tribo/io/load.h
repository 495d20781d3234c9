// Robots and scenes from files: MJCF (.xml, .mjcf) and URDF (.urdf).
//
// Example
//   LoadReport report;
//   World world = load_world("humanoid.xml", {}, report);
//   for (const LoadWarning& w : report.warnings) fmt::print("{}:{}: {}\n", w.file, w.line, w.message);
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tribo/sim/world.h"

namespace tribo {

struct LoadOptions {
  bool strict = false;  // what is not supported is an error instead of a warning
  // MJCF: what would be missing from the physics altogether (a height field or mesh that takes part in collisions and
  // cannot be read, a tendon, an actuator, a deformable body) is left out with a warning instead of being an error.
  bool allow_missing = false;
  // URDF: package://name/path is looked up as root/path. ROS-style: root of each package by name.
  std::vector<std::pair<std::string, std::filesystem::path>> packages{};
  bool fixed_base = true;        // URDF: the root link is welded to the world; false: it floats
  bool visual_geometry = false;  // URDF: use <visual> where a link has no <collision>
};

struct LoadWarning {
  std::string file;
  int line = 0;
  std::string message;
};

struct LoadReport {
  std::vector<LoadWarning> warnings;  // what the file asks for and tribo does not do
};

// InvalidInput naming file, line and element when the file is damaged, when ground or actuators would be missing
// (unless allow_missing), or, with strict, when it is not fully supported.
World load_world(const std::filesystem::path& file, const LoadOptions& options, LoadReport& report);

World load_mjcf(const std::filesystem::path& file, const LoadOptions& options, LoadReport& report);
World load_urdf(const std::filesystem::path& file, const LoadOptions& options, LoadReport& report);

}  // namespace tribo
