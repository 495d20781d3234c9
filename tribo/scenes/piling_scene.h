// piling: an arm with a 16-joint hand stacks bowl, bowl, plate and pot of 0.1, 0.1, 0.1 and 5 kg, 47 degrees of freedom in all
// (Lee et al. 2024, sec. VII-B2).
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> piling_scene_infos();

}  // namespace tribo::detail
