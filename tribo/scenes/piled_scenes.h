// Many bodies thrown together: clutter, balls-in-box, pile216.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> piled_scene_infos();

}  // namespace tribo::detail
