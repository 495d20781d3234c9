// Robots of primitives as in Carpentier et al. (2024) sec. V: a hand with cubes, an arm at a wall.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> limbed_scene_infos();

}  // namespace tribo::detail
