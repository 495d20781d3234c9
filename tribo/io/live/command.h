// What a viewer asks of a running simulation: the JSON of POST /command, checked.
#pragma once

#include <cstdint>
#include <string>

#include "tribo/sim/world.h"

namespace tribo::detail {

enum class LiveAction : std::uint8_t { play, pause, step, reset, speed, push, control, gravity, dump, save };

struct LiveCommand {
  LiveAction action = LiveAction::pause;
  std::int64_t steps = 1;
  double value = 0.0;    // of speed and control
  double seconds = 0.0;  // simulated, of push
  Index number = 0;      // body of push, actuator of control
  Vec3 point = Vec3::Zero(), force = Vec3::Zero(), gravity = Vec3::Zero();  // world, m, N, m/s^2
};

// InvalidInput naming the field that is wrong.
LiveCommand parse_command(const std::string& json, const Model& model);

}  // namespace tribo::detail
