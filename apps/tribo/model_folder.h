// Models of robots from a folder that the user names, for scenes that have robots of primitives (scenes/robots.h).
#pragma once

#include <functional>
#include <string>

#include "tribo/io/load_options.h"
#include "tribo/scenes/robots.h"

namespace tribo::cli {

struct ModelFolder {
  std::string folder, scene;  // as the user wrote them, for messages
  bool visuals = false;       // also what is only drawn
  std::function<void(const LoadWarning&)> warn = [](const LoadWarning&) {};
};

// Reads <folder>/<role.folder>/<role.file>. InvalidInput when the folder, now, or the file, when it is asked for, is not there.
RobotLoader models_of(ModelFolder from);

}  // namespace tribo::cli
