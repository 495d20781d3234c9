// Articulated scenes: quadrupeds, arm-press.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> robot_scene_infos();

}  // namespace tribo::detail
