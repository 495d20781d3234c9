// Scenes at rest: stack, pyramid, wall, dominos, cylinder-stand.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> stacked_scene_infos();

}  // namespace tribo::detail
