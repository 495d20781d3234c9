// Where the simulation of a model file starts, and with which controls.
#pragma once

#include <string>
#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::cli {

// InvalidInput that names `what` where the text is no number.
double parse_number(const std::string& what, const std::string& text);
// NAME=VALUE of --set.
SceneValues parse_parameters(const std::vector<std::string>& assignments);

// By name, or by number from 0 where no keyframe has that name. InvalidInput lists what there is.
const Keyframe& find_keyframe(const World& world, const std::string& wanted, const std::string& file);

// Controls that hold a pose. Those of the keyframe, where one of them is not zero. Else every drive with a position gain gets the
// target at which its force is zero at the start, within its control range, and every other one zero.
Vector holding_control(const World& world, const State& start, const Vector& keyframe_control);

}  // namespace tribo::cli
