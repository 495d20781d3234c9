#include "tribo/io/live/command.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tribo/base/errors.h"

namespace tribo::detail {
namespace {

using nlohmann::json;

const json& field(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw InvalidInput(fmt::format("'{}' is missing", name));
  return *found;
}

double number(const json& object, const char* name, double lowest, double highest) {
  const json& value = field(object, name);
  const double x = value.is_number() ? value.get<double>() : std::nan("");
  if (!(x >= lowest && x <= highest)) {
    throw InvalidInput(fmt::format("'{}' must be a number from {:g} to {:g}", name, lowest, highest));
  }
  return x;
}

Index whole(const json& object, const char* name, Index lowest, Index highest) {
  const json& value = field(object, name);
  const bool fits = value.is_number_integer() && value.get<std::int64_t>() >= lowest &&
                    value.get<std::int64_t>() <= highest;
  if (!fits) {
    throw InvalidInput(highest < lowest
                           ? fmt::format("'{}': there is none", name)
                           : fmt::format("'{}' must be a whole number from {} to {}", name, lowest, highest));
  }
  return value.get<Index>();
}

Vec3 vector(const json& object, const char* name, double limit) {
  const json& value = field(object, name);
  Vec3 x = Vec3::Constant(std::nan(""));
  if (value.is_array() && value.size() == 3) {
    for (int k = 0; k < 3; ++k) {
      if (value[static_cast<std::size_t>(k)].is_number())
        x[k] = value[static_cast<std::size_t>(k)].get<double>();
    }
  }
  if (!(x.cwiseAbs().maxCoeff<Eigen::PropagateNaN>() <= limit)) {
    throw InvalidInput(fmt::format("'{}' must be three numbers from {:g} to {:g}", name, -limit, limit));
  }
  return x;
}

constexpr std::array<const char*, 10> kActions{"play", "pause",   "step",    "reset", "speed",
                                               "push", "control", "gravity", "dump",  "save"};

}  // namespace

LiveCommand parse_command(const std::string& text, const Model& model) {
  constexpr double kFar = 1e6, kStrong = 1e12;
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) throw InvalidInput("the body must be a JSON object such as {\"do\": \"pause\"}");
  const json& name = field(object, "do");
  LiveCommand command;
  std::size_t k = 0;
  while (k < kActions.size() && name != kActions[k]) ++k;
  if (k == kActions.size()) {
    throw InvalidInput(fmt::format("'do' must be one of {}", fmt::join(kActions, ", ")));
  }
  command.action = static_cast<LiveAction>(k);
  switch (command.action) {
    case LiveAction::step:
      command.steps = object.contains("steps") ? whole(object, "steps", 1, 1'000'000) : 1;
      break;
    case LiveAction::speed:
      command.value = number(object, "value", 0.0, 1e6);
      break;
    case LiveAction::push:
      command.number = whole(object, "body", 1, model.body_count() - 1);
      if (model.body_tree(command.number) < 0) {
        throw InvalidInput(
            fmt::format("body {} is fixed in the world: a push cannot move it", command.number));
      }
      command.point = vector(object, "point", kFar);
      command.force = vector(object, "force", kStrong);
      command.seconds = object.contains("seconds") ? number(object, "seconds", 0.0, 3600.0) : 0.1;
      break;
    case LiveAction::control:
      command.number = whole(object, "index", 0, static_cast<Index>(model.actuators().size()) - 1);
      command.value = number(object, "value", -kStrong, kStrong);
      break;
    case LiveAction::gravity:
      command.gravity = vector(object, "value", 1e4);
      break;
    default:
      break;
  }
  return command;
}

}  // namespace tribo::detail
