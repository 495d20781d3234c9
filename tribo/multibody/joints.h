// The types of joints: what is particular to each, in one table. How they move is in multibody/joint_types.h; everything
// else asks these two. docs/inside-the-simulator.md, «Add a joint type», says what to write.
//
// | joint | q                                                 | v                                             |
// | free  | 3 position in the world [m], unit quaternion wxyz | 3 velocity of the frame origin in world axes, |
// |       |                                                   | 3 angular velocity in body axes               |
// | ball  | unit quaternion wxyz                              | 3 angular velocity in body axes [rad/s]       |
// | hinge | angle [rad]                                       | rate                                          |
// | slide | displacement [m]                                  | rate                                          |
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "tribo/base/types.h"

namespace tribo {

enum class JointKind : std::uint8_t { free, ball, hinge, slide };

enum class JointRotation : std::uint8_t { none, axis, all };  // directions about which it turns its body
enum class JointLimit : std::uint8_t {
  none,
  coordinate,
  rotation
};  // of the only coordinate; of the rotation angle

struct JointTraits {
  std::string_view name;
  Index coordinates, dofs;
  Index quaternion;  // first entry of a unit quaternion wxyz among its coordinates, -1: none
  JointRotation rotation;
  bool translates;  // a body without mass cannot hang on it
  bool floating;    // places a body in the world: hangs there, and is the only joint of its body
  bool has_axis;    // JointDescription::axis
  bool has_anchor;  // JointDescription::anchor
  JointLimit limit;
  // Of several coordinates and dofs, in recordings. A single one has the name of the joint.
  std::array<std::string_view, 7> coordinate_names;
  std::array<std::string_view, 6> dof_names;

  constexpr bool is_scalar() const { return dofs == 1; }
};

// In the order of JointKind.
inline constexpr std::array kJointTraits{
    JointTraits{.name = "free",
                .coordinates = 7,
                .dofs = 6,
                .quaternion = 3,
                .rotation = JointRotation::all,
                .translates = true,
                .floating = true,
                .has_axis = false,
                .has_anchor = false,
                .limit = JointLimit::none,
                .coordinate_names = {"x", "y", "z", "qw", "qx", "qy", "qz"},
                .dof_names = {"vx", "vy", "vz", "wx", "wy", "wz"}},
    JointTraits{.name = "ball",
                .coordinates = 4,
                .dofs = 3,
                .quaternion = 0,
                .rotation = JointRotation::all,
                .translates = false,
                .floating = false,
                .has_axis = false,
                .has_anchor = true,
                .limit = JointLimit::rotation,
                .coordinate_names = {"qw", "qx", "qy", "qz"},
                .dof_names = {"wx", "wy", "wz"}},
    JointTraits{.name = "hinge",
                .coordinates = 1,
                .dofs = 1,
                .quaternion = -1,
                .rotation = JointRotation::axis,
                .translates = false,
                .floating = false,
                .has_axis = true,
                .has_anchor = true,
                .limit = JointLimit::coordinate,
                .coordinate_names = {},
                .dof_names = {}},
    JointTraits{.name = "slide",
                .coordinates = 1,
                .dofs = 1,
                .quaternion = -1,
                .rotation = JointRotation::none,
                .translates = true,
                .floating = false,
                .has_axis = true,
                .has_anchor = false,
                .limit = JointLimit::coordinate,
                .coordinate_names = {},
                .dof_names = {}},
};

constexpr const JointTraits& traits_of(JointKind kind) {
  return kJointTraits[static_cast<std::size_t>(kind)];
}
constexpr std::string_view to_string(JointKind kind) { return traits_of(kind).name; }
constexpr Index coordinates_of(JointKind kind) { return traits_of(kind).coordinates; }
constexpr Index dofs_of(JointKind kind) { return traits_of(kind).dofs; }

struct JointDescription {
  std::string name{};
  Index body = 0;
  JointKind kind = JointKind::hinge;
  Vec3 axis = Vec3::UnitZ();      // hinge, slide: in the body frame, any length > 0
  Vec3 anchor = Vec3::Zero();     // hinge, ball: m, in the body frame
  double reference = 0.0;         // hinge, slide: q at which the body has its described pose
  double armature = 0.0;          // added to the diagonal of the mass matrix, kg or kg m^2
  double damping = 0.0;           // N s/m or N m s/rad
  double stiffness = 0.0;         // N/m or N m/rad; free: both, of the translation and of the rotation
  double spring_reference = 0.0;  // q at which the spring is at rest (ball, free: always the described pose)
  bool limited = false;
  double lower = 0.0, upper = 0.0;  // hinge, slide: of q; ball: total rotation angle <= upper
  double limit_margin = 0.0;        // the limit becomes a constraint this far before it is reached
  double dry_friction = 0.0;        // N or N m, on every dof of the joint
  // Gravity compensation of the dofs comes from the joint's actuators: then it counts, together with what the actuator
  // does, against these limits of the sum (hinge, slide: N or N m). Otherwise it is a passive force without limits.
  bool actuator_compensation = false;
  double actuator_force_lower = -std::numeric_limits<double>::infinity();
  double actuator_force_upper = std::numeric_limits<double>::infinity();
};

// What its kinematics read of a joint at every step.
struct JointGeometry {
  Vec3 axis;         // of unit length, in the body frame
  double reference;  // q at the described pose
};

}  // namespace tribo
