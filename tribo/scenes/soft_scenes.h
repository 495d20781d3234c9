// Scenes with pressure fields: block-on-foam, slip-control, jar-lid.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> soft_scene_infos();

}  // namespace tribo::detail
