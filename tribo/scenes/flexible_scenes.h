// Scenes with bodies that bend.
#pragma once

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> flexible_scene_infos();

}  // namespace tribo::detail
