// Scenes in which robots walk.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> walking_scene_infos();

}  // namespace tribo::detail
