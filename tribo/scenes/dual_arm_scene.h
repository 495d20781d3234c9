// Two arms with hands open a jar, pour its marbles into a bowl, close it and put it back, as Castro et al. (2022) sec. VI-E.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> dual_arm_scene_infos();

}  // namespace tribo::detail
