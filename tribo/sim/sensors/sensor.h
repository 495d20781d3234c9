// What a sensor is: its kind, what it is attached to, its range. Names and readings are those of MJCF.
//
// A sensor reads from one to dozens of numbers, one after the other in Simulator::sensor_data(), in the order of
// World::sensors. Readings of positions and velocities are those of the present state; those of accelerations and forces
// are of the last step, which went from velocity v0 to v in the time h:
//   acceleration  (v - v0) / h, along J vdot + dJ/dt v
//   force         impulse / h
// Impacts (restitution) come before a step and are not part of it, so they show in neither. Before the first step, after
// set_state() and after next_problem() there is no last step: accelerations and forces read 0.
//
// Example
//   world.sensors.push_back({.name = "imu", .kind = SensorKind::accelerometer, .frame = {torso, {Vec3(0, 0, 0.1)}}});
//   Simulator simulator(world);
//   simulator.step();
//   simulator.sensor("imu");  // 3 numbers, m/s^2
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tribo/collide/shape.h"
#include "tribo/math/pose.h"

namespace tribo {

enum class SensorKind : std::uint8_t {
  joint_position,
  joint_velocity,
  joint_limit_position,
  joint_limit_velocity,
  joint_limit_force,
  joint_actuator_force,
  ball_rotation,
  ball_velocity,
  tendon_position,
  tendon_velocity,
  tendon_limit_position,
  tendon_limit_velocity,
  tendon_limit_force,
  tendon_actuator_force,
  actuator_position,
  actuator_velocity,
  actuator_force,
  frame_position,
  frame_rotation,
  frame_x_axis,
  frame_y_axis,
  frame_z_axis,
  frame_velocity,
  frame_angular_velocity,
  frame_acceleration,
  frame_angular_acceleration,
  gyro,
  velocimeter,
  accelerometer,
  force,
  torque,
  magnetometer,
  touch,
  subtree_center,
  subtree_velocity,
  subtree_angular_momentum,
  contact,
  clock,
  potential_energy,
  kinetic_energy
};

// What SensorDescription::object counts.
enum class SensorObject : std::uint8_t { none, joint, ball, tendon, actuator, frame, subtree };
// Of what the reading is made.
enum class SensorStage : std::uint8_t { position, velocity, step };
// How the cutoff limits it: to [-c, c], to [0, c], not at all.
enum class SensorRange : std::uint8_t { real, positive, unlimited };

struct SensorTraits {
  SensorKind kind;
  std::string_view name;  // in MJCF
  Index size;             // numbers; contact: as its query says
  SensorObject object;
  SensorStage stage;
  SensorRange range;
};
const SensorTraits& traits_of(SensorKind kind);
// By the name of MJCF; nullptr: none.
const SensorTraits* find_sensor_kind(std::string_view name);

// A frame fixed to a body.
struct SensorFrame {
  Index body = 0;
  Pose pose = {};  // in the body's frame
};

// One of the two that meet in a contact. Volume: of contacts within it, whichever bodies meet.
struct ContactSide {
  enum class Kind : std::uint8_t { any, geom, body, subtree, volume };
  Kind kind = Kind::any;
  Index object = -1;  // geom or body
  SensorFrame frame = {};
  std::optional<Shape> volume = {};
};

// What a contact sensor reports: `count` contacts between the two sides, with these numbers of each, in this order:
//   found    how many match, in every place that is filled
//   force    (normal, tangent, other tangent) N, on the second side
//   torque   the same axes, N m
//   distance m, < 0: overlap
//   position m, world
//   normal   from the first side to the second, world
//   tangent  the first one, world
// Which ones, where more match than there are places: the first (none), the deepest, those with the largest force. Net: the
// sum of all as one force, in world axes, at their centre weighted by force, with the torque about it and the distance 0.
struct ContactQuery {
  enum Field : std::uint8_t {
    found = 1,
    force = 2,
    torque = 4,
    distance = 8,
    position = 16,
    normal = 32,
    tangent = 64
  };
  enum class Reduce : std::uint8_t { none, min_distance, max_force, net_force };
  ContactSide first = {}, second = {};
  Index count = 1;
  std::uint8_t fields = found;
  Reduce reduce = Reduce::none;

  Index size_of_one() const;
};

struct SensorDescription {
  std::string name = {};
  SensorKind kind = SensorKind::clock;
  Index object = -1;                          // joint, tendon, actuator, or the root body of a subtree
  SensorFrame frame = {};                     // of sensors on frames
  std::optional<SensorFrame> reference = {};  // frame_position .. frame_angular_velocity: seen from this one
  double cutoff = 0.0;                        // largest reading, in its unit; 0: none
  std::optional<Shape> volume = {};  // touch: sphere, capsule, ellipsoid, cylinder or box about the frame
  ContactQuery contact = {};

  Index size() const;
};

// Whether the ray from `origin` along `direction` meets the shape, which stands at its own origin; true inside. Sphere,
// capsule, ellipsoid, cylinder and box; InvalidInput for others.
bool meets(const Shape& shape, const Vec3& origin, const Vec3& direction);
bool is_volume(const Shape& shape);  // one of these

}  // namespace tribo
