// Test and benchmark problems made from a seed: the same numbers on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tribo/problem/contact_problem.h"

namespace tribo {

struct GeneratorSettings {
  Index bodies = 10;        // bodies, cubes, spheres, links: the size of the scene
  double mass_ratio = 1.0;  // heaviest to lightest, geometric along the scene
  bool slide = false;       // give the bodies tangential velocities (and some yaw)
  double friction = -1.0;   // < 0: the kind's own (tower 0.4)
  double compliance = 0.0;  // R of every contact row, m/(N s); 0 = rigid
  double time_step = -1.0;  // s; < 0: the kind's own (tower 1e-3)
  std::uint64_t seed = 0;
};

struct GeneratorInfo {
  std::string_view name;
  std::string_view summary;
  bool sized =
      true;  // false: the scene has its own bodies; GeneratorSettings::bodies and mass_ratio are idle
};

std::span<const GeneratorInfo> generator_catalogue();

// InvalidInput for an unknown kind (lists them) or settings out of range (names the field).
ContactProblem generate(std::string_view kind, const GeneratorSettings& settings);

}  // namespace tribo
