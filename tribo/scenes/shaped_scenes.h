// Bodies from formulas: a nut on its bolt and a stack of dishes (Lee et al. 2024, sec. VII), as scenes and as sets of single
// steps.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> shaped_scene_infos();

}  // namespace tribo::detail
