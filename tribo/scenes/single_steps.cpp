#include "tribo/scenes/single_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tribo/base/errors.h"
#include "tribo/base/random.h"
#include "tribo/scenes/scene.h"

namespace tribo {

namespace {

constexpr std::uint64_t kWrenches = 10;  // per configuration

struct Set {
  const char* scene;
  // Standard deviation of each component on a body: N per kg of its mass, N m per kg.
  double force, torque;
};

constexpr std::array<SingleStepInfo, 2> kCatalogue{{
    {"bolt-nut",
     "one step of an M48 nut on a fixed bolt from their real threads, random wrenches (Lee et al. 2024, sec. "
     "VII-A); "
     "seeds 0 to 99 are ten configurations with ten wrenches each; friction 0.2, time step 1/240 s"},
    {"dish-pile",
     "one step of stacked bowl, bowl, plate and pot (0.1, 0.1, 0.1, 5 kg) from their real surfaces, random "
     "wrenches "
     "(Lee et al. 2024, sec. VII-B); seeds as for bolt-nut; friction 0.3, time step 1/240 s"},
}};
// In the order of the catalogue. Forces of five times the nut's weight and of the dishes' own; arms of 2 and 5 cm.
constexpr std::array<Set, kCatalogue.size()> kSets{{{"bolt-nut", 50.0, 1.0}, {"dishes", 10.0, 0.5}}};

const Set& find_set(std::string_view name) {
  std::string names;
  for (std::size_t k = 0; k < kCatalogue.size(); ++k) {
    if (kCatalogue[k].name == name) return kSets[k];
    names += (k == 0 ? "" : ", ") + std::string(kCatalogue[k].name);
  }
  throw InvalidInput(fmt::format("unknown set of single steps '{}': choose one of {}", name, names));
}

}  // namespace

std::span<const SingleStepInfo> single_step_catalogue() { return kCatalogue; }

ContactProblem make_single_step(std::string_view name, const SingleStepSettings& settings) {
  const Set& set = find_set(name);
  constexpr std::uint64_t kMostSeeds = 1'000'000'000;
  if (settings.seed > kMostSeeds)
    throw InvalidInput(fmt::format("seed is {}: it must be at most {}", settings.seed, kMostSeeds));
  if (!std::isfinite(settings.time_step) || settings.time_step == 0.0)
    throw InvalidInput(fmt::format("time_step is {}: it must be finite and > 0 (negative: the set's own)",
                                   settings.time_step));
  if (!std::isfinite(settings.friction))
    throw InvalidInput(
        fmt::format("friction is {}: it must be finite (negative: the set's own)", settings.friction));
  SceneValues values{{"seed", static_cast<double>(settings.seed / kWrenches)}};
  if (settings.friction >= 0.0) values["mu"] = settings.friction;
  const Scene scene = make_scene(set.scene, values, std::max(settings.time_step, 0.0));
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  detail::Random random(0x9E3779B97F4A7C15u ^ settings.seed);
  const Model& model = simulator.model();
  for (Index t = 0; t < model.tree_count(); ++t) {
    const double mass = model.inertia(model.tree_body(t)).mass;
    simulator.force().segment<3>(model.tree_dof(t)) = set.force * mass * random.normal_vector();
    simulator.force().segment<3>(model.tree_dof(t) + 3) = set.torque * mass * random.normal_vector();
  }
  return simulator.next_problem();
}

}  // namespace tribo
