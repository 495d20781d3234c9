// Robots that scenes have of primitives, and that the user may replace by models of his own.
//
// A scene names its robots by role in SceneInfo::robots, with the file where collections of models keep such a robot:
// <folder>/<file> below the folder the user gives (`tribo sim --scene NAME --models DIR`). Its function `make` then takes the
// robots as a third argument, asks `robots.find(role)` and attaches the world it gets (sim/attach.h); nullptr: nobody gave
// one, and the scene builds its own of primitives. This room cannot read files: whoever calls make_scene() gives the loader.
//
// Example, in a scene
//   Scene make_walk(const SceneValues& values, double dt, const Robots& robots) {
//     ...
//     if (const World* model = robots.find("quadruped")) attach(builder, scene.world, *model, {.actuators = false});
//     else add_quadruped(builder, scene.world);
//   ... in its catalogue: {"rough-walk", "...", {parameters}, make_walk, {{"quadruped", "unitree_a1", "a1.xml"}}}
// Example, for users of the library
//   make_scene("rough-walk", {}, 0.0, [&](const RobotRole& role) { return load_world(dir / role.folder / role.file, {}, report); });
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tribo/sim/world.h"

namespace tribo {

struct RobotRole {
  std::string_view role;          // what the scene calls it
  std::string_view folder, file;  // of a folder of models, as in MuJoCo Menagerie
};

// Reads the model of a role; InvalidInput when there is none.
using RobotLoader = std::function<World(const RobotRole&)>;

class Robots {
 public:
  void add(std::string_view role, World world) {
    worlds_.insert_or_assign(std::string(role), std::move(world));
  }
  const World* find(std::string_view role) const {
    const auto found = worlds_.find(role);
    return found == worlds_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, World, std::less<>> worlds_;
};

}  // namespace tribo
