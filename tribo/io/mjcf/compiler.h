// <compiler>: how the numbers of an MJCF file are meant.
#pragma once

#include <string>

#include "tribo/base/types.h"
#include "tribo/io/xml/attributes.h"
#include "tribo/math/pose.h"

namespace tribo::detail {

struct CompilerSettings {
  bool degrees = true;
  bool autolimits = true;
  std::string euler_sequence = "xyz";
  enum class InertiaFromGeom { never, always, automatic } inertia_from_geom = InertiaFromGeom::automatic;
  int inertia_group_lower = 0, inertia_group_upper = 5;
  bool balance_inertia = false;
  double bound_mass = 0.0, bound_inertia = 0.0;
  double total_mass = -1.0;
  std::string mesh_folder, asset_folder;
  bool strip_path = false;
  bool fit_bounds = false;
  bool align_free = false;

  double angle(double value) const;  // in rad
  std::string mesh_path(const std::string& file) const;
  std::string asset_path(const std::string& file) const;
};

// Adds the attributes of one <compiler> element; later ones win.
void read_compiler(const SourceElement& element, LoadLog& log, CompilerSettings& settings);

// quat, axisangle, xyaxes, zaxis or euler of an element; identity where none is given.
Quat read_orientation(const Attributes& attributes, const CompilerSettings& compiler);
// `pos` and the orientation.
Pose read_pose(const Attributes& attributes, const CompilerSettings& compiler);
// The attributes these read.
inline constexpr std::array<std::string_view, 6> kPoseAttributes{"pos",    "quat",  "axisangle",
                                                                 "xyaxes", "zaxis", "euler"};

// Angles about the axes of the sequence; lower case: moving axes, upper case: fixed ones.
Quat euler_rotation(const Vec3& angles, const std::string& sequence);
// The rotation of least angle that turns z into the direction; half a turn about x for -z.
Quat rotation_to(const Vec3& direction);

// A path of a file that was written on Windows, where folders are separated by backslashes.
std::string with_slashes(std::string path);

}  // namespace tribo::detail
