// Loads text as if it were a file, and keeps what the loader said.
#pragma once

#include <string>

#include "tests/support/temporary_folder.h"
#include "tribo/base/errors.h"
#include "tribo/io/load.h"

namespace tribo::test {

struct Loaded {
  World world;
  LoadReport report;

  bool warned_of(const std::string& words) const {
    for (const LoadWarning& w : report.warnings) {
      if (w.message.find(words) != std::string::npos) return true;
    }
    return false;
  }
};

inline Loaded load_text(const std::string& text, const std::string& name = "model.xml",
                        const LoadOptions& options = {}) {
  const TemporaryFolder folder;
  Loaded loaded;
  loaded.world = load_world(folder.write(name, text), options, loaded.report);
  return loaded;
}

// Contents of <mujoco>.
inline Loaded load_model(const std::string& inner, const LoadOptions& options = {}) {
  return load_text("<mujoco>" + inner + "</mujoco>", "model.xml", options);
}

// The message of the InvalidInput, or "loaded".
inline std::string refusal(const std::string& text, const std::string& name = "model.xml",
                           const LoadOptions& options = {}) {
  try {
    load_text(text, name, options);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "loaded";
}

inline bool contains(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// Corners and triangles of the cube [0, 2]^3, counter-clockwise seen from outside.
inline std::string cube_obj() {
  std::string text = "# a cube\n";
  for (int k = 0; k < 8; ++k) {
    text += "v " + std::to_string(2 * (k & 1)) + " " + std::to_string(k & 2) + " " +
            std::to_string((k & 4) / 2) + "\n";
  }
  return text + "f 1 3 4 2\nf 5 6 8 7\nf 1/1 2/1 6/1 5/1\nf 3//1 7//1 8//1 4//1\nf 1 5 7 3\nf -7 -5 -1 -3\n";
}

}  // namespace tribo::test
