// Many bodies that fall, flow or hang: box-drop, capsule-drop, chute, shear-box, sphere-press, hanging-chain.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> granular_scene_infos();

}  // namespace tribo::detail
