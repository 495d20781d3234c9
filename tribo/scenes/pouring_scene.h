// A torso with two arms pours what is in a bottle into another one, as Lee et al. (2024) sec. VII-C.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> pouring_scene_infos();

}  // namespace tribo::detail
