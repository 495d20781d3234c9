#include "apps/tribo/sim_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "apps/tribo/support.h"
#include "tribo/base/errors.h"
#include "tribo/sim/assembly/joint_constraints.h"

namespace tribo::cli {

double parse_number(const std::string& what, const std::string& text) {
  try {
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    if (used == text.size()) return value;
  } catch (const std::exception&) {
  }
  throw InvalidInput(fmt::format("{}: '{}' is not a number", what, text));
}

SceneValues parse_parameters(const std::vector<std::string>& assignments) {
  SceneValues values;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InvalidInput(fmt::format("--set {}: write NAME=VALUE", assignment));
    }
    const std::string name = assignment.substr(0, equals);
    const double value = parse_number("--set " + assignment, assignment.substr(equals + 1));
    if (!values.emplace(name, value).second)
      throw InvalidInput(fmt::format("--set {}: {} is given twice", assignment, name));
  }
  return values;
}

const Keyframe& find_keyframe(const World& world, const std::string& wanted, const std::string& file) {
  const std::vector<Keyframe>& keyframes = world.keyframes;
  if (keyframes.empty()) throw InvalidInput(fmt::format("--keyframe {}: {} has none", wanted, file));
  std::vector<std::string> names;
  for (const Keyframe& key : keyframes) names.push_back(key.name);
  if (const auto named = std::ranges::find(names, wanted); named != names.end() && !wanted.empty()) {
    return keyframes[static_cast<std::size_t>(named - names.begin())];
  }
  std::size_t number = 0;
  const char* end = wanted.data() + wanted.size();
  const auto parsed = std::from_chars(wanted.data(), end, number);
  if (wanted.empty() || parsed.ec != std::errc{} || parsed.ptr != end) {
    return keyframes[index_of_name("keyframe", wanted, names)];
  }
  if (number >= keyframes.size()) {
    throw InvalidInput(fmt::format("--keyframe {}: {} has {}, numbered from 0", wanted, file,
                                   counted(static_cast<long long>(keyframes.size()), "keyframe")));
  }
  return keyframes[number];
}

Vector holding_control(const World& world, const State& start, const Vector& keyframe_control) {
  const auto& actuators = world.model.actuators();
  Vector control = Vector::Zero(static_cast<Eigen::Index>(actuators.size()));
  if (keyframe_control.size() == control.size() && !keyframe_control.isZero(0.0)) return keyframe_control;
  const JointConstraints joints(world);
  Kinematics kinematics(world.model);
  if (start.mocap.size() > 0) kinematics.set_mocap(start.mocap);
  kinematics.set_positions(start.q);
  std::vector<JointConstraints::Term> room;
  for (std::size_t a = 0; a < actuators.size(); ++a) {
    const ActuatorDescription& actuator = actuators[a];
    if (!(actuator.bias[1] < 0.0) || actuator.gain == 0.0) continue;
    const auto number = static_cast<Index>(a);
    const double length = joints.acting(number, kinematics, start.q, start.v, control, room).drive.length;
    const double target = -(actuator.bias[0] + actuator.bias[1] * length) / actuator.gain;
    control[number] = std::clamp(target, actuator.control_lower, actuator.control_upper);
  }
  return control;
}

}  // namespace tribo::cli
