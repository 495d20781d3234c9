// The immutable description of a mechanism: trees of rigid bodies joined by joints, in flat arrays.
//
// Body 0 is the world. Every other body hangs on a parent with a smaller index; its frame sits at `position`,
// `rotation` in the parent's frame while all its joints are at their reference. A body has any number of
// joints: none (welded to its parent), one, or several (applied in order, each in the frame the ones before
// left). A free joint is the only joint of a body that hangs on the world.
//
// Coordinates q [coordinates] and velocities v [dofs], joint after joint in the order of the bodies; multibody/joints.h
// says what they are for each type of joint.
//
// A tree is a maximal set of bodies connected by joints: a child of the world (or of a body welded to it) that
// has joints, with everything below. The dofs of a tree are consecutive; so are its bodies.
//
// Example: a pendulum (multibody/model_builder.h).
//   ModelBuilder builder;
//   Index rod = builder.add_body({.name = "rod", .parent = 0, .inertia = RigidInertia::point(1.0, {0, 0, -0.5})});
//   builder.add_joint({.name = "pivot", .body = rod, .kind = JointKind::hinge, .axis = Vec3::UnitY()});
//   Model model = builder.build();
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/base/types.h"
#include "tribo/math/pose.h"
#include "tribo/multibody/joints.h"
#include "tribo/multibody/muscle.h"

namespace tribo {

class ModelBuilder;  // multibody/model_builder.h

// Mass [kg], centre of mass in the body frame [m], inertia about the centre in body axes [kg m^2].
struct RigidInertia {
  double mass = 0.0;
  Vec3 center = Vec3::Zero();
  Mat3 rotational = Mat3::Zero();

  static RigidInertia point(double mass, const Vec3& center) { return {mass, center, Mat3::Zero()}; }
  // The same body seen from a frame in which this frame has the given pose.
  RigidInertia placed(const Pose& pose) const;
  // The two rigidly together (parallel axes).
  RigidInertia operator+(const RigidInertia& other) const;
};

struct BodyDescription {
  std::string name{};
  Index parent = 0;
  Vec3 position = Vec3::Zero();  // m, in the parent's frame
  Quat rotation = Quat::Identity();
  RigidInertia inertia{};
  double gravity_compensation =
      0.0;  // share of its weight carried by a force at its centre of mass; 1: all of it
  // Moved by the user (State::mocap) and by nothing else: hangs on the world, has no joints.
  bool mocap = false;
  // Axes of the inertia in the body frame, for drag (sim/forces/body_forces.h), which asks for them where moments are equal;
  // none: found from the inertia.
  std::optional<Quat> inertia_axes{};
};

// What a spatial tendon passes, one after the other. Shapes stand between two sites, and the string goes round them
// where it would otherwise go through. A pulley ends one piece of the string and begins the next, whose length counts
// divided by its divisor.
struct TendonPoint {
  enum class Kind : std::uint8_t { site, sphere, cylinder, pulley };
  Kind kind = Kind::site;
  Index body = 0;
  Pose pose{};            // in the body's frame; of a site the position; the axis of a cylinder is z
  double radius = 0.0;    // m
  bool has_side = false;  // the string runs on the side of this point; inside the shape: against its inside
  Index side_body = 0;
  Vec3 side = Vec3::Zero();  // m, in the frame of its body
  double divisor = 1.0;      // pulley
};

// Fixed: a linear combination of scalar joint coordinates, sum coefficient_k q_k: cables over pulleys, gear trains.
// Spatial: a string through `path`; its length is in m.
struct TendonDescription {
  struct Term {
    Index joint;
    double coefficient;
  };
  std::string name{};
  std::vector<Term> terms{};  // one of the two
  std::vector<TendonPoint> path{};
  double damping = 0.0, stiffness = 0.0;
  double spring_lower = 0.0, spring_upper = 0.0;  // no spring force between them
  bool limited = false;
  double lower = 0.0, upper = 0.0;
  double limit_margin = 0.0;
  double dry_friction = 0.0;

  bool is_spatial() const { return !path.empty(); }
};

// How the input u of an actuator follows from its control c, with the activation a, one number of the state:
//   none          u = c
//   integrator    a' = c
//   filter        a' = (c - a) / T, one explicit step per time step
//   filter_exact  the same, integrated exactly
//   muscle        a' = (c - a) / T(c, a), see multibody/muscle.h
// u = a, or what a will be at the end of the step where activation_early. a stays within its limits.
enum class ActivationKind : std::uint8_t { none, integrator, filter, filter_exact, muscle };

// Force along a joint, a tendon, a site or the contacts of a body, with the input u (see ActivationKind),
//   f = (gain + gain_slope[0] * length + gain_slope[1] * velocity) * u + bias[0] + bias[1] * length + bias[2] * velocity,
// clamped to [force_lower, force_upper]. Where there is a muscle, it takes the place of gain or bias.
//   joint   length = gear[0] * coordinate. A free or ball joint takes gear[0..5] as the direction in v and has length 0.
//   tendon  length = gear[0] * length of the tendon.
//   site    a force gear[0..2] and a torque gear[3..5] in the axes of the site; length 0. With a reference site in the
//           axes of that one, which takes the reaction, and length = gear . (position, rotation vector) of the site in it.
//   body    adhesion: the force presses the body and what it touches together, shared equally by its contacts.
//   motor: gain 1, bias 0.  position servo kp, kv: gain kp, bias (0, -kp, -kv).  velocity servo: gain kv, bias (0, 0, -kv).
struct ActuatorDescription {
  std::string name{};
  Index joint = -1, tendon = -1;  // exactly one of joint, tendon, site, body
  Vec6 gear = (Vec6() << 1, 0, 0, 0, 0, 0).finished();
  double gain = 1.0;
  Vec3 bias = Vec3::Zero();
  double control_lower = -std::numeric_limits<double>::infinity();
  double control_upper = std::numeric_limits<double>::infinity();
  double force_lower = -std::numeric_limits<double>::infinity();  // N or N m, before the gear
  double force_upper = std::numeric_limits<double>::infinity();
  Index site = -1, reference_site = -1;
  Index body = -1;
  std::array<double, 2> gain_slope{};
  std::optional<Muscle> muscle_gain{}, muscle_bias{};
  ActivationKind activation = ActivationKind::none;
  // filters: T [s]; muscle: times of activation and deactivation [s] and the width of the change between them.
  Vec3 activation_times = Vec3(1.0, 0.0, 0.0);
  double activation_lower = -std::numeric_limits<double>::infinity();
  double activation_upper = std::numeric_limits<double>::infinity();
  bool activation_early = false;
};

// A named frame on a body.
struct SiteDescription {
  std::string name{};
  Index body = 0;
  Pose pose{};
};

class Model {
 public:
  Model() = default;  // the world alone

  Index body_count() const { return static_cast<Index>(body_parent_.size()); }  // with the world
  Index joint_count() const { return static_cast<Index>(joints_.size()); }
  Index tree_count() const { return static_cast<Index>(tree_dof_.size()) - 1; }
  Index dof_count() const { return tree_dof_.back(); }
  Index coordinate_count() const { return coordinate_count_; }

  // Bodies.
  const std::string& body_name(Index body) const { return body_names_[body]; }
  Index find_body(std::string_view name) const;  // -1: none
  Index body_parent(Index body) const { return body_parent_[body]; }
  Index body_tree(Index body) const { return body_tree_[body]; }  // -1: fixed in the world
  Index joint_begin(Index body) const { return body_joint_[body]; }
  Index joint_end(Index body) const { return body_joint_[body + 1]; }
  // The last dof that moves the body, its own or inherited; -1: fixed in the world.
  Index body_dof(Index body) const { return body_dof_[body]; }
  const Vec3& body_position(Index body) const { return body_position_[body]; }
  const Quat& body_rotation(Index body) const { return body_rotation_[body]; }
  const RigidInertia& inertia(Index body) const { return inertia_[body]; }
  double gravity_compensation(Index body) const { return gravity_compensation_[body]; }
  const std::optional<Quat>& inertia_axes(Index body) const { return inertia_axes_[body]; }
  const std::vector<Index>& mocap_bodies() const { return mocap_bodies_; }  // in the order of State::mocap
  double total_mass() const;

  // Joints; the descriptions with normalised axes.
  const JointDescription& joint(Index joint) const { return joints_[joint]; }
  Index find_joint(std::string_view name) const;                                  // -1: none
  Index joint_coordinate(Index joint) const { return joint_coordinate_[joint]; }  // first entry in q
  Index joint_dof(Index joint) const { return joint_dof_[joint]; }                // first entry in v

  // Dofs. parent: the dof before on the path to the root, -1 at a root (global numbering).
  Index dof_parent(Index dof) const { return dof_parent_[dof]; }
  Index dof_joint(Index dof) const { return dof_joint_[dof]; }
  // Whether it is an angular velocity, rad/s, and not a linear one.
  bool dof_turns(Index dof) const;
  const Vector& armature() const { return armature_; }          // [dofs]
  const Vector& damping() const { return damping_; }            // [dofs]
  const Vector& dry_friction() const { return dry_friction_; }  // [dofs]

  // Trees. The dofs [tree_dof(t), tree_dof(t + 1)) and the bodies [tree_body(t), tree_body_end(t)).
  Index tree_dof(Index tree) const { return tree_dof_[tree]; }
  Index tree_dof_count(Index tree) const { return tree_dof_[tree + 1] - tree_dof_[tree]; }
  Index tree_body(Index tree) const { return tree_body_[tree]; }
  Index tree_body_end(Index tree) const { return tree_body_end_[tree]; }
  // One body on one free joint: the fast path.
  bool is_free_body(Index tree) const { return tree_is_free_body_[tree]; }

  const std::vector<TendonDescription>& tendons() const { return tendons_; }
  const std::vector<ActuatorDescription>& actuators() const { return actuators_; }
  const std::vector<SiteDescription>& sites() const { return sites_; }
  Index find_tendon(std::string_view name) const;
  Index find_actuator(std::string_view name) const;
  Index activation(Index actuator) const {
    return activation_[actuator];
  }  // entry of State::activation, -1: none
  Index activation_count() const { return activation_count_; }
  Index find_site(std::string_view name) const;

  // All joints at their references, free bodies where they are described.
  Vector reference_coordinates() const { return reference_; }

 private:
  friend class ModelBuilder;
  std::vector<std::string> body_names_{"world"};
  std::vector<Index> body_parent_{-1}, body_tree_{-1}, body_joint_{0, 0}, body_dof_{-1};
  std::vector<Vec3> body_position_{Vec3::Zero()};
  std::vector<Quat> body_rotation_{Quat::Identity()};
  std::vector<RigidInertia> inertia_{RigidInertia{}};
  std::vector<double> gravity_compensation_{0.0};
  std::vector<std::optional<Quat>> inertia_axes_{std::nullopt};
  std::vector<Index> mocap_bodies_, activation_;
  std::vector<JointDescription> joints_;
  std::vector<Index> joint_coordinate_, joint_dof_;
  std::vector<Index> dof_parent_, dof_joint_;
  Vector armature_, damping_, dry_friction_;
  std::vector<Index> tree_dof_{0}, tree_body_, tree_body_end_;
  std::vector<bool> tree_is_free_body_;
  std::vector<TendonDescription> tendons_;
  std::vector<ActuatorDescription> actuators_;
  std::vector<SiteDescription> sites_;
  Vector reference_;
  Index coordinate_count_ = 0, activation_count_ = 0;
};

}  // namespace tribo
