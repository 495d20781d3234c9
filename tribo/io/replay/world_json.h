// The WORLD of docs/replay-format.md: shapes, meshes and colours as JSON.
#pragma once

#include <string>

#include "tribo/io/replay/flexible_look.h"
#include "tribo/sim/simulator.h"

namespace tribo::detail {

// What a page says about a run besides its shapes.
struct RunFacts {
  std::string name, solver, law, scheme;
  double tolerance = 0.0, time_step = 0.0, frame_time = 0.0;  // s; frame_time 0: every step
};
RunFacts facts_of(const Simulator& simulator, const std::string& name, double frames_per_second);

// On one line, and safe within <script>. Names that are not UTF-8 are repaired.
// The pieces of flexible bodies follow the bodies and the visuals, where there is a look.
std::string world_json(const World& world, const RunFacts& facts, const FlexibleLook* look = nullptr);

// Unit of positions, m: a two-thousandth of the smallest extent of what moves, between 1 and 120 um; a power of two.
double position_quantum(const World& world);

}  // namespace tribo::detail
