#include "tribo/generate/generators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tribo/base/errors.h"
#include "tribo/generate/quadruped.h"
#include "tribo/generate/ring_scenes.h"
#include "tribo/generate/serial_arm.h"
#include "tribo/generate/sphere_pile.h"
#include "tribo/generate/stacked_scenes.h"

namespace tribo {

namespace {

constexpr Index kMostBodies = 2'000'000;
constexpr Index kMostJoints = 1000;  // of an arm: its mass matrix is dense
constexpr Index kMostRobots = 10'000;
constexpr double kLargestRatio = 1e12;

struct Kind {
  double friction;
  double time_step;  // s
  Index most_bodies;
  ContactProblem (*make)(const GeneratorSettings&);
};

constexpr std::array<GeneratorInfo, 9> kCatalogue{{
    {"tower",
     "N unit cubes on the ground, 4 corner contacts per interface; masses from 1 kg at the bottom to the "
     "mass ratio at "
     "the top; slide: alternate cubes at +-0.5 m/s with +-0.2 rad/s of yaw; seed 0 is straight, others "
     "displace the "
     "cubes; friction 0.4, time step 1 ms"},
    {"wall",
     "N bricks in running bond (half bricks end every other course), touching bed joints, head joints 1 mm "
     "open; mass "
     "ratio from the lowest to the highest course; slide and seed as for tower; friction 0.6, time step 1 "
     "ms"},
    {"pyramid",
     "the smallest two-dimensional pyramid of at least N unit cubes, each on two; mass ratio from the base "
     "to the top; "
     "slide and seed as for tower; friction 0.5, time step 1 ms"},
    {"chain",
     "N links on the ground joined by ball joints (bilateral rows), the first anchored, the last pulled by "
     "the chain's "
     "weight; mass ratio from the anchor to the end; the seed draws side forces; slide: joints swing at "
     "+-0.5 m/s; "
     "friction 0.5, time step 1 ms"},
    {"pile",
     "N spheres dropped at random into an open box, about 3 contacts per sphere; mass ratio from the first "
     "to the "
     "last "
     "dropped; slide: random horizontal velocities and spins; friction 0.5, time step 1 ms"},
    {"bolt",
     "one nut on a fixed bolt, 120 contacts with helically scattered normals, a random wrench; number of "
     "bodies and "
     "mass ratio do not apply; slide: it screws; friction 0.2, time step 1/240 s",
     false},
    {"dishes",
     "four dishes of 0.1, 0.1, 0.1 and 5 kg, 30 contacts per ring-shaped interface, random wrenches; number "
     "of bodies "
     "and mass ratio do not apply; slide: alternate dishes at +-0.5 m/s; friction 0.3, time step 1/240 s",
     false},
    {"arm",
     "a serial arm of N revolute joints (one dense tree, at most 1000) with contacts, joint limits and dry "
     "joint "
     "friction; mass ratio from the base to the tip; slide: random joint speeds; friction 0.5, time step 1 "
     "ms"},
    {"trees",
     "N four-legged robots (trees of 18 dofs with known articulation, at most 10000) on uneven ground, about "
     "11 contacts each: feet, knees, bellies, between legs and between neighbours; joint limits; mass ratio "
     "from the first to the last; slide: they fall with random speeds; friction 0.7, time step 1/240 s"},
}};

// In the order of the catalogue.
constexpr std::array<Kind, kCatalogue.size()> kKinds{{
    {0.4, 1e-3, kMostBodies, detail::make_tower},
    {0.6, 1e-3, kMostBodies, detail::make_wall},
    {0.5, 1e-3, kMostBodies, detail::make_pyramid},
    {0.5, 1e-3, kMostBodies, detail::make_chain},
    {0.5, 1e-3, kMostBodies, detail::make_pile},
    {0.2, 1.0 / 240.0, kMostBodies, detail::make_bolt},
    {0.3, 1.0 / 240.0, kMostBodies, detail::make_dishes},
    {0.5, 1e-3, kMostJoints, detail::make_arm},
    {0.7, 1.0 / 240.0, kMostRobots, detail::make_trees},
}};

const Kind& find_kind(std::string_view name) {
  const auto found = std::find_if(kCatalogue.begin(), kCatalogue.end(),
                                  [name](const GeneratorInfo& info) { return info.name == name; });
  if (found != kCatalogue.end()) return kKinds[found - kCatalogue.begin()];
  std::string names;
  for (const GeneratorInfo& info : kCatalogue) names += (names.empty() ? "" : ", ") + std::string(info.name);
  throw InvalidInput(fmt::format("unknown kind of problem '{}': choose one of {}", name, names));
}

// Checked settings with the kind's own friction and time step where none are given.
GeneratorSettings resolve(const GeneratorSettings& settings, std::string_view name, const Kind& kind) {
  if (settings.bodies < 1 || settings.bodies > kind.most_bodies) {
    throw InvalidInput(
        fmt::format("bodies is {}: '{}' takes 1 to {}", settings.bodies, name, kind.most_bodies));
  }
  if (!(settings.mass_ratio >= 1.0 / kLargestRatio && settings.mass_ratio <= kLargestRatio)) {
    throw InvalidInput(fmt::format("mass_ratio is {}: it must be positive, between {:g} and {:g}",
                                   settings.mass_ratio, 1.0 / kLargestRatio, kLargestRatio));
  }
  if (!std::isfinite(settings.friction)) {
    throw InvalidInput(
        fmt::format("friction is {}: it must be finite (negative: the kind's own)", settings.friction));
  }
  if (!(settings.compliance >= 0.0 && std::isfinite(settings.compliance))) {
    throw InvalidInput(fmt::format("compliance is {}: it must be finite and >= 0", settings.compliance));
  }
  if (!std::isfinite(settings.time_step) || settings.time_step == 0.0) {
    throw InvalidInput(fmt::format("time_step is {}: it must be finite and > 0 (negative: the kind's own)",
                                   settings.time_step));
  }
  GeneratorSettings resolved = settings;
  if (resolved.friction < 0.0) resolved.friction = kind.friction;
  if (resolved.time_step < 0.0) resolved.time_step = kind.time_step;
  return resolved;
}

}  // namespace

std::span<const GeneratorInfo> generator_catalogue() { return kCatalogue; }

ContactProblem generate(std::string_view kind, const GeneratorSettings& settings) {
  const Kind& maker = find_kind(kind);
  return maker.make(resolve(settings, kind, maker));
}

}  // namespace tribo
