// How files of robots and scenes are read, and what was noticed about them.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tribo {

struct LoadOptions {
  bool strict = false;  // what is not supported is an error instead of a warning
  // MJCF: what would be missing from the physics altogether (a height field or mesh that takes part in collisions and
  // cannot be read, a tendon, an actuator, a deformable body) is left out with a warning instead of being an error.
  bool allow_missing = false;
  // URDF: package://name/path is looked up as root/path. ROS-style: root of each package by name.
  std::vector<std::pair<std::string, std::filesystem::path>> packages{};
  bool fixed_base = true;  // URDF: the root link is welded to the world; false: it floats
  // Also read what is only drawn: geoms that touch nothing, visual meshes (World::visuals). Changes nothing of the physics;
  // what of it cannot be read is left out with a warning.
  bool visuals = false;
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

}  // namespace tribo
