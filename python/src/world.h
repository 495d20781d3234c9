// A world with what belongs to it: where it begins, how it wants to be simulated, what was noticed about its file.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "tribo/io/load_options.h"
#include "tribo/scenes/scene.h"
#include "tribo/sim/simulator.h"

namespace tribo::python {

struct WorldBox {
  World world;
  State start;                 // as described, or of the scene
  SimulatorSettings settings;  // of the scene, or the defaults
  double duration = 0.0;       // s, of the scene; 0: none
  // Of a scene what it is made from: each of its simulators gets hooks of its own.
  std::string scene = {};
  SceneValues scene_values = {};
  double scene_step = 0.0;
  std::vector<LoadWarning> warnings = {};

  static WorldBox of(World world);
};

// By name or number; InvalidInput lists what there is.
Index body_number(const World& world, nanobind::handle body);
Index joint_number(const World& world, nanobind::handle joint);
Index geom_number(const World& world, nanobind::handle geom);
Index site_number(const World& world, nanobind::handle site);
Index flexible_number(const World& world, nanobind::handle body);
Index actuator_number(const World& world, nanobind::handle actuator);
const Keyframe& find_keyframe(const World& world, nanobind::handle keyframe);

// Position and unit quaternion (w, x, y, z), or a 3 x 3 rotation matrix; None: at the origin, not turned.
Pose to_pose(nanobind::handle position, nanobind::handle rotation);
Quat to_quat(nanobind::handle rotation);

}  // namespace tribo::python
