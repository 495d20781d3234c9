// assembly: an arm with a gripper takes an M48 nut from a block, sets it on a stud, screws it down in strokes of 300
// degrees and stops when it sits on the workpiece (Lee et al. 2024, sec. VII-A2).
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> assembly_scene_infos();

}  // namespace tribo::detail
