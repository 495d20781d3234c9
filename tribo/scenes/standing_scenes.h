// Built-in scenes of stones and cards that stand by friction alone; see scene.h.
#pragma once

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> standing_scene_infos();

}  // namespace tribo::detail
