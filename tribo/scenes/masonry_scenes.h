// Structures of blocks that something disturbs: kapla-tower, kapla-house, arch-bridge, low-wall.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> masonry_scene_infos();

}  // namespace tribo::detail
