// A humanoid that falls (Carpentier et al. 2024, Fig. 3).
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> humanoid_scene_infos();

}  // namespace tribo::detail
