// Small scenes of the papers that this library stands on: a wall that is hit, single bodies, stacked spheres, a grasp at the
// verge of slipping.
#pragma once

#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

std::vector<SceneInfo> paper_scene_infos();

// Follows the largest total energy after a step, and the most that it rose above the beginning: without drives never.
// Adds to what the scene observes already; `energy_gain` and its bound are appended to the observables.
void follow_energy(Scene& scene);

}  // namespace tribo::detail
