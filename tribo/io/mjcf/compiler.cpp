#include "tribo/io/mjcf/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

namespace tribo::detail {
namespace {}  // namespace

std::string with_slashes(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

namespace {

std::string file_in(const std::string& folder, const std::string& file, bool strip_path) {
  const std::filesystem::path path(with_slashes(file));
  if (strip_path) return (std::filesystem::path(folder) / path.filename()).string();
  return (std::filesystem::path(folder) / path).string();
}

Quat from_axes(const SourceElement& element, const Vec3& first, const Vec3& second) {
  const Vec3 x = first.normalized();
  const Vec3 y = (second - x.dot(second) * x).normalized();
  if (first.norm() < 1e-10 || second.cross(first).norm() < 1e-10 || !x.allFinite() || !y.allFinite()) {
    fail(element, "attribute 'xyaxes' must be two vectors that are not parallel");
  }
  Mat3 rotation;
  rotation << x, y, x.cross(y);
  return Quat(rotation);
}

Quat orientation_of(const SourceElement& source, const CompilerSettings& compiler) {
  const Attributes attributes(source);
  std::array<double, 6> n{};
  if (attributes.fill("quat", std::span(n).first(4), 4) > 0) {
    const Quat quat(n[0], n[1], n[2], n[3]);
    if (!(quat.norm() > 1e-10) || !std::isfinite(quat.norm()))
      fail(source, "attribute 'quat' must not be zero");
    return quat.normalized();
  }
  if (attributes.fill("axisangle", std::span(n).first(4), 4) > 0) {
    const Vec3 axis(n[0], n[1], n[2]);
    if (!(axis.norm() > 1e-10)) fail(source, "the axis of attribute 'axisangle' must not be zero");
    return Quat(Eigen::AngleAxisd(compiler.angle(n[3]), axis.normalized()));
  }
  if (attributes.fill("xyaxes", n, 6) > 0) return from_axes(source, {n[0], n[1], n[2]}, {n[3], n[4], n[5]});
  if (attributes.fill("zaxis", std::span(n).first(3), 3) > 0) {
    const Vec3 axis(n[0], n[1], n[2]);
    if (!(axis.norm() > 1e-10)) fail(source, "attribute 'zaxis' must not be zero");
    return rotation_to(axis);
  }
  attributes.fill("euler", std::span(n).first(3), 3);
  return euler_rotation({compiler.angle(n[0]), compiler.angle(n[1]), compiler.angle(n[2])},
                        compiler.euler_sequence);
}

void read_inertia_settings(const Attributes& attributes, CompilerSettings& settings) {
  using From = CompilerSettings::InertiaFromGeom;
  settings.inertia_from_geom = static_cast<From>(attributes.word(
      "inertiafromgeom", {"false", "true", "auto"}, static_cast<int>(settings.inertia_from_geom)));
  std::array<double, 2> range{static_cast<double>(settings.inertia_group_lower),
                              static_cast<double>(settings.inertia_group_upper)};
  attributes.fill("inertiagrouprange", range, 2);
  settings.inertia_group_lower = static_cast<int>(std::clamp(range[0], -1e6, 1e6));
  settings.inertia_group_upper = static_cast<int>(std::clamp(range[1], -1e6, 1e6));
  settings.balance_inertia = attributes.flag("balanceinertia", settings.balance_inertia);
  settings.bound_mass = attributes.number("boundmass", settings.bound_mass);
  settings.bound_inertia = attributes.number("boundinertia", settings.bound_inertia);
  settings.total_mass = attributes.number("settotalmass", settings.total_mass);
}

}  // namespace

double CompilerSettings::angle(double value) const {
  return degrees ? value / 180.0 * std::numbers::pi : value;
}

std::string CompilerSettings::mesh_path(const std::string& file) const {
  return file_in(mesh_folder.empty() ? asset_folder : mesh_folder, file, strip_path);
}

std::string CompilerSettings::asset_path(const std::string& file) const {
  return file_in(asset_folder, file, strip_path);
}

void read_compiler(const SourceElement& element, LoadLog& log, CompilerSettings& settings) {
  log.check_attributes(element,
                       {"angle", "autolimits", "eulerseq", "inertiafromgeom", "inertiagrouprange",
                        "balanceinertia", "boundmass", "boundinertia", "settotalmass", "meshdir", "assetdir",
                        "strippath", "fitaabb", "alignfree", "coordinate"},
                       {"texturedir", "discardvisual", "fusestatic", "usethread", "saveinertial"});
  const Attributes attributes(element);
  settings.degrees = attributes.word("angle", {"radian", "degree"}, settings.degrees ? 1 : 0) == 1;
  settings.autolimits = attributes.flag("autolimits", settings.autolimits);
  settings.strip_path = attributes.flag("strippath", settings.strip_path);
  settings.fit_bounds = attributes.flag("fitaabb", settings.fit_bounds);
  settings.align_free = attributes.flag("alignfree", settings.align_free);
  if (attributes.word("coordinate", {"local", "global"}, 0) == 1) {
    fail(element, "global coordinates are not supported; save the model with local coordinates first");
  }
  if (attributes.has("meshdir")) settings.mesh_folder = attributes.text("meshdir");
  if (attributes.has("assetdir")) settings.asset_folder = attributes.text("assetdir");
  if (attributes.has("eulerseq")) {
    settings.euler_sequence = attributes.text("eulerseq");
    if (settings.euler_sequence.size() != 3 ||
        settings.euler_sequence.find_first_not_of("xyzXYZ") != std::string::npos) {
      fail(element, "attribute 'eulerseq' must be three letters of xyzXYZ");
    }
  }
  read_inertia_settings(attributes, settings);
}

Quat read_orientation(const Attributes& attributes, const CompilerSettings& compiler) {
  const SourceElement* source = attributes.strongest({"quat", "axisangle", "xyaxes", "zaxis", "euler"});
  return source != nullptr ? orientation_of(*source, compiler) : Quat::Identity();
}

Pose read_pose(const Attributes& attributes, const CompilerSettings& compiler) {
  return {attributes.vector3("pos", Vec3::Zero()), read_orientation(attributes, compiler).toRotationMatrix()};
}

Quat euler_rotation(const Vec3& angles, const std::string& sequence) {
  Quat result = Quat::Identity();
  for (int i = 0; i < 3; ++i) {
    const char letter = sequence[static_cast<std::size_t>(i)];
    const bool fixed = letter < 'a';
    const Vec3 axis = Vec3::Unit(letter - (fixed ? 'X' : 'x'));
    const Quat turn(Eigen::AngleAxisd(angles[i], axis));
    result = fixed ? turn * result : result * turn;
  }
  return result;
}

Quat rotation_to(const Vec3& direction) {
  const Vec3 z = direction.normalized();
  Vec3 axis = Vec3::UnitZ().cross(z);
  const double sine = axis.norm();
  axis = sine < 1e-10 ? Vec3::UnitX() : Vec3(axis / sine);
  return Quat(Eigen::AngleAxisd(std::atan2(sine, z.z()), axis));
}

}  // namespace tribo::detail
