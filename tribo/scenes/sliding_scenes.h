// Scenes with a closed-form answer: slope, sliding-block, spring-cylinder, cradle, spin.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> sliding_scene_infos();

}  // namespace tribo::detail
