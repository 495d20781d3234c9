// Built-in scenes: worlds with a known or telling behaviour, made by name from a few parameters, each with the
// quantities one would measure on it, in SI units, and the exact value beside where mechanics gives one.
//
// Example
//   Scene scene = make_scene("slope", {{"angle", 20.0}, {"mu", 0.5}});
//   Simulator simulator(scene.world, scene.settings);
//   simulator.set_state(scene.start);
//   while (simulator.state().time < scene.duration) { scene.control(simulator); scene.observe(simulator, simulator.step()); }
//   for (const Observable& o : scene.observables(simulator)) fmt::print("{} {} {}\n", o.name, o.value, o.unit);
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tribo/scenes/robots.h"
#include "tribo/sim/simulator.h"

namespace tribo {

struct SceneParameter {
  std::string_view name;
  double value;  // default
  double lower, upper;
  bool whole;  // an integer
  std::string_view help;
};

struct Observable {
  std::string name;
  double value;
  std::string unit;
};

struct Scene {
  std::string name;
  World world;
  State start;
  SimulatorSettings settings;  // what the scene wants by default; the caller may change it
  double duration = 1.0;       // s
  // Before, after a step; observables at any time, most telling at the end. Never empty.
  std::function<void(Simulator&)> control;
  std::function<void(const Simulator&, const StepReport&)> observe;
  std::function<std::vector<Observable>(const Simulator&)> observables;
};

using SceneValues = std::map<std::string, double, std::less<>>;

// `values` are complete and in range; `dt` <= 0: the scene's own time step. With robots: see scenes/robots.h.
using SceneMaker = std::variant<Scene (*)(const SceneValues&, double dt),
                                Scene (*)(const SceneValues&, double dt, const Robots&)>;

struct SceneInfo {
  std::string_view name;
  std::string_view summary;
  std::vector<SceneParameter> parameters;
  SceneMaker make;
  std::vector<RobotRole> robots = {};  // that the user may replace by models
};

std::span<const SceneInfo> scene_catalogue();

// InvalidInput when the scene or a parameter is unknown (the message lists what there is) or out of range. `models`: the
// scene's robots are those that it reads; InvalidInput when the scene has none.
Scene make_scene(std::string_view name, const SceneValues& values = {}, double dt = 0.0,
                 const RobotLoader& models = {});

namespace detail {

// A scene with empty hooks, the state of the model's reference, the floor z = 0 if asked for.
Scene empty_scene(std::string_view name, double dt, double own_dt);
// Adds a free body of one shape; returns its number.
Index add_solid(ModelBuilder& builder, World& world, std::string name, const Shape& shape, double mass,
                const Pose& pose, const Material& material);
// After all bodies were added.
void finish_scene(Scene& scene, ModelBuilder& builder);

inline constexpr double kEarthGravity = 9.81;

// A parameter of a complete set.
inline double number(const SceneValues& values, std::string_view name) { return values.find(name)->second; }
inline Index whole(const SceneValues& values, std::string_view name) {
  return static_cast<Index>(number(values, name));
}

}  // namespace detail

}  // namespace tribo
