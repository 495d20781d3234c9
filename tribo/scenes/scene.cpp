#include "tribo/scenes/scene.h"

#include <fmt/format.h>

#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/scenes/assembly_scene.h"
#include "tribo/scenes/dual_arm_scene.h"
#include "tribo/scenes/flexible_scenes.h"
#include "tribo/scenes/granular_scenes.h"
#include "tribo/scenes/humanoid_scene.h"
#include "tribo/scenes/limbed_scenes.h"
#include "tribo/scenes/masonry_scenes.h"
#include "tribo/scenes/paper_scenes.h"
#include "tribo/scenes/piled_scenes.h"
#include "tribo/scenes/piling_scene.h"
#include "tribo/scenes/pouring_scene.h"
#include "tribo/scenes/robot_scenes.h"
#include "tribo/scenes/shaped_scenes.h"
#include "tribo/scenes/sliding_scenes.h"
#include "tribo/scenes/soft_scenes.h"
#include "tribo/scenes/stacked_scenes.h"
#include "tribo/scenes/standing_scenes.h"
#include "tribo/scenes/walking_scenes.h"

namespace tribo {

namespace {

std::vector<SceneInfo> all_scenes() {
  std::vector<SceneInfo> all;
  for (auto family : {detail::stacked_scene_infos, detail::sliding_scene_infos, detail::piled_scene_infos,
                      detail::masonry_scene_infos, detail::granular_scene_infos, detail::robot_scene_infos,
                      detail::standing_scene_infos, detail::paper_scene_infos, detail::humanoid_scene_infos,
                      detail::limbed_scene_infos, detail::shaped_scene_infos, detail::walking_scene_infos,
                      detail::assembly_scene_infos, detail::piling_scene_infos, detail::pouring_scene_infos,
                      detail::dual_arm_scene_infos, detail::flexible_scene_infos, detail::soft_scene_infos}) {
    for (SceneInfo& info : family()) all.push_back(std::move(info));
  }
  return all;
}

std::string names_of(std::span<const SceneInfo> infos) {
  std::string names;
  for (const SceneInfo& info : infos) names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

SceneValues completed(const SceneInfo& info, const SceneValues& given) {
  SceneValues values;
  std::string names;
  for (const SceneParameter& p : info.parameters) {
    values[std::string(p.name)] = p.value;
    names += (names.empty() ? "" : ", ") + std::string(p.name);
  }
  for (const auto& [name, value] : given) {
    const auto found = values.find(name);
    if (found == values.end()) {
      throw InvalidInput(
          fmt::format("scene {} has no parameter '{}'; there are: {}", info.name, name, names));
    }
    found->second = value;
  }
  for (const SceneParameter& p : info.parameters) {
    const double value = values[std::string(p.name)];
    if (!(value >= p.lower && value <= p.upper) || (p.whole && value != std::floor(value))) {
      throw InvalidInput(fmt::format("parameter {} of scene {} is {}: it must be {} from {} to {}", p.name,
                                     info.name, value, p.whole ? "a whole number" : "a number", p.lower,
                                     p.upper));
    }
  }
  return values;
}

Scene made(const SceneInfo& info, const SceneValues& values, double dt, const RobotLoader& models) {
  if (models && info.robots.empty()) {
    std::string with;
    for (const SceneInfo& other : scene_catalogue()) {
      if (!other.robots.empty()) with += (with.empty() ? "" : ", ") + std::string(other.name);
    }
    throw InvalidInput(
        fmt::format("scene {} has no robot that a model could replace; these have: {}", info.name, with));
  }
  if (const auto* plain = std::get_if<0>(&info.make)) return (*plain)(values, dt);
  Robots robots;
  if (models) {
    for (const RobotRole& role : info.robots) robots.add(role.role, models(role));
  }
  return std::get<1>(info.make)(values, dt, robots);
}

}  // namespace

std::span<const SceneInfo> scene_catalogue() {
  static const std::vector<SceneInfo> scenes = all_scenes();
  return scenes;
}

Scene make_scene(std::string_view name, const SceneValues& values, double dt, const RobotLoader& models) {
  for (const SceneInfo& info : scene_catalogue()) {
    if (info.name == name) return made(info, completed(info, values), dt, models);
  }
  throw InvalidInput(fmt::format("unknown scene '{}'; there are: {}", name, names_of(scene_catalogue())));
}

namespace detail {

Scene empty_scene(std::string_view name, double dt, double own_dt) {
  Scene scene;
  scene.name = name;
  scene.world.name = name;
  scene.world.time_step = dt > 0.0 ? dt : own_dt;
  scene.world.gravity = Vec3(0.0, 0.0, -kEarthGravity);
  scene.control = [](Simulator&) {};
  scene.observe = [](const Simulator&, const StepReport&) {};
  scene.observables = [](const Simulator&) { return std::vector<Observable>(); };
  return scene;
}

Index add_solid(ModelBuilder& builder, World& world, std::string name, const Shape& shape, double mass,
                const Pose& pose, const Material& material) {
  const Index body = builder.add_free_body(name, pose, uniform_inertia(shape, mass));
  world.add_geom({.name = std::move(name), .shape = shape, .body = body, .material = material});
  return body;
}

void finish_scene(Scene& scene, ModelBuilder& builder) {
  scene.world.model = builder.build();
  scene.start = initial_state(scene.world);
}

}  // namespace detail

}  // namespace tribo
