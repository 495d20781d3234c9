// Puts the bodies of one world into another that is being built: a robot from a file into a scene, a gripper on an arm.
//
// Example
//   Attached robot = attach(builder, scene.world, load_world("a1.xml", {}, report), {.pose = {Vec3(0, 0, 0.4)}});
//   ... more bodies ...
//   scene.world.model = builder.build();
#pragma once

#include <functional>
#include <string>

#include "tribo/sim/world.h"

namespace tribo {

struct AttachOptions {
  Index body =
      0;  // what the other world's body 0 becomes; not 0: no free joints, and the body added last or above it
  Pose pose = {};           // of the other world's frame in that body's
  bool actuators = true;    // without them the joints are free for torques of a controller
  std::string prefix = {};  // of the names of bodies, joints, geoms and whatever else has one
  // Whether a joint may move; empty: all do. The others are left out, and what hung on them stays where it is at the reference;
  // nothing but a drive may act on them.
  std::function<bool(const JointDescription&)> moves = {};
};

// What was added, as ranges [first, first + count). Body b > 0 of the other world is `body + b - 1`, joint j is `joint + j`
// (where all of them move), geom g is `geom + g`.
struct Attached {
  Index body = 0, body_count = 0;
  Index joint = 0, joint_count = 0;
  Index geom = 0, geom_count = 0;
  Index actuator = 0, actuator_count = 0;
};

// Bodies with joints, sites, tendons, actuators; geoms, pairs, excluded bodies, connects, welds, couplings, ellipsoids in the
// medium, visuals. Keyframes, sensors and the options of the other world (gravity, time step, margin, rules) stay behind.
// InvalidInput where a free or mocap body would hang on a body, or a tendon or a coupling on a joint that does not move.
Attached attach(ModelBuilder& builder, World& world, const World& other, const AttachOptions& options = {});

}  // namespace tribo
