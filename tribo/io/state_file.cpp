#include "tribo/io/state_file.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tribo/base/errors.h"
#include "tribo/formats/hdf5_reader.h"

namespace tribo {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class StateReader {
 public:
  StateReader(const Model& model, std::string file) : model_(model), file_(std::move(file)) {}

  State read(const json& root) const {
    if (!root.is_object()) fail("", "the file must hold an object with \"q\", \"v\", ...");
    State state = initial_state(model_);
    for (const auto& [key, value] : root.items()) {
      if (key == "q") {
        take(key, value, state.q.size(), state.q.data());
      } else if (key == "v") {
        take(key, value, state.v.size(), state.v.data());
      } else if (key == "activation") {
        take(key, value, state.activation.size(), state.activation.data());
      } else if (key == "mocap") {
        take(key, value, state.mocap.size(), state.mocap.data());
      } else if (key == "node_position" ||
                 key == "node_velocity") {  // how many nodes there are the world knows
        Vector& nodes = key == "node_position" ? state.node_position : state.node_velocity;
        nodes.resize(value.is_array() ? static_cast<Eigen::Index>(value.size()) : 0);
        take(key, value, nodes.size(), nodes.data());
      } else if (key == "time") {
        take(key, value, 1, &state.time);
      } else if (key != "joints") {
        fail(key, "unknown; there are: q, v, joints, activation, mocap, node_position, node_velocity, time");
      }
    }
    if (root.contains("joints")) take_joints(root["joints"], state);
    finish(state);
    return state;
  }

  State read(const detail::Hdf5Reader& reader, std::optional<Index> frame) const {
    const Vector time = reader.reals("/time");
    if (time.size() == 0) fail("/time", "has no frames");
    const Eigen::Index last = time.size() - 1, chosen = frame ? *frame : last;
    if (chosen < 0 || chosen > last)
      fail("", fmt::format("there is no frame {}: they are numbered from 0 to {}", chosen, last));
    State state = initial_state(model_);
    const auto take_frame = [&](const char* name, Vector& values) {
      const Vector all = reader.numbers(name, static_cast<std::size_t>(values.size() * time.size()));
      values = all.segment(chosen * values.size(), values.size());
      if (!values.allFinite()) fail(name, fmt::format("frame {} has a number that is not finite", chosen));
    };
    take_frame("/q", state.q);
    take_frame("/v", state.v);
    if (reader.has("/activation")) take_frame("/activation", state.activation);
    if (reader.has("/node_position")) {
      const std::vector<Index> first =
          reader.indices("/flexible/first_node", 0, std::numeric_limits<Index>::max());
      if (first.empty()) fail("/flexible/first_node", "has no values");
      state.node_position.resize(3 * static_cast<Eigen::Index>(first.back()));
      state.node_velocity.resize(state.node_position.size());
      take_frame("/node_position", state.node_position);
      take_frame("/node_velocity", state.node_velocity);
    }
    take_mocap(reader, time.size(), chosen, state);
    state.time = time[chosen];
    finish(state);
    return state;
  }

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& message) const {
    throw InvalidInput(field.empty() ? fmt::format("{}: {}", file_, message)
                                     : fmt::format("{}: {}: {}", file_, field, message));
  }

  void take(const std::string& field, const json& value, Eigen::Index size, double* to) const {
    const json list = value.is_number() ? json::array({value}) : value;
    if (!list.is_array()) fail(field, "it must be a list of numbers");
    if (static_cast<Eigen::Index>(list.size()) != size)
      fail(field, fmt::format("has {} numbers; this model needs {}", list.size(), size));
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (!list[k].is_number()) fail(fmt::format("{}[{}]", field, k), "is no number");
      to[k] = list[k].get<double>();
      if (!std::isfinite(to[k])) fail(fmt::format("{}[{}]", field, k), "is not finite");
    }
  }

  // Mocap bodies are where a recording has their bodies.
  void take_mocap(const detail::Hdf5Reader& reader, Eigen::Index frames, Eigen::Index chosen,
                  State& state) const {
    const std::vector<Index>& list = model_.mocap_bodies();
    if (list.empty()) return;
    const Eigen::Index bodies = model_.body_count();
    const auto table = [&](const char* name, Eigen::Index width) {
      return reader.numbers(name, static_cast<std::size_t>(width * bodies * frames));
    };
    const Vector position = table("/body_position", 3), rotation = table("/body_rotation", 4);
    for (std::size_t k = 0; k < list.size(); ++k) {
      const Eigen::Index body = chosen * bodies + list[k], first = 7 * static_cast<Eigen::Index>(k);
      state.mocap.segment<3>(first) = position.segment<3>(3 * body);
      state.mocap.segment<4>(first + 3) = rotation.segment<4>(4 * body);
    }
    if (!state.mocap.allFinite())
      fail("/body_position", fmt::format("frame {} has a number that is not finite", chosen));
  }

  void take_joints(const json& joints, State& state) const {
    if (!joints.is_object()) fail("joints", "it must be an object of joints by name");
    for (const auto& [name, fields] : joints.items()) {
      const std::string where = fmt::format("joints.{}", name);
      const Index joint = model_.find_joint(name);
      if (joint < 0) fail(where, "the model has no joint of this name");
      if (!fields.is_object()) fail(where, "it must be an object with \"q\", \"v\"");
      const JointTraits& traits = traits_of(model_.joint(joint).kind);
      for (const auto& [key, value] : fields.items()) {
        if (key == "q") {
          take(where + ".q", value, traits.coordinates, state.q.data() + model_.joint_coordinate(joint));
        } else if (key == "v") {
          take(where + ".v", value, traits.dofs, state.v.data() + model_.joint_dof(joint));
        } else {
          fail(where + "." + key, "unknown; there are: q, v");
        }
      }
    }
  }

  void finish(State& state) const {
    if (!std::isfinite(state.time)) fail("time", "is not finite");
    const Vector before = state.q;
    try {
      normalize(model_, state.q);
    } catch (const InvalidInput& error) {
      fail("q", error.what());
    }
    // What is of unit length already keeps its bits.
    if ((state.q - before).lpNorm<Eigen::Infinity>() <= 1e-15) state.q = before;
  }

  const Model& model_;
  std::string file_;
};

json list_of(const Vector& values) { return json(std::vector<double>(values.begin(), values.end())); }

}  // namespace

State read_state(const Model& model, const fs::path& file, std::optional<Index> frame) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) throw InvalidInput(fmt::format("{}: there is no such file", file.string()));
  if (fs::is_directory(file, ignored))
    throw InvalidInput(fmt::format("{} is a directory: name a file with a state", file.string()));
  const StateReader reader(model, file.string());
  if (detail::is_hdf5(file)) return reader.read(detail::Hdf5Reader(file), frame);
  if (frame) throw InvalidInput(fmt::format("{}: only a recording (.h5) has frames", file.string()));
  std::ifstream stream(file);
  json root;
  try {
    root = json::parse(stream);
  } catch (const json::exception& error) {
    throw InvalidInput(
        fmt::format("{}: this is neither a recording (.h5) nor JSON: {}", file.string(), error.what()));
  }
  return reader.read(root);
}

void write_state(const Model& model, const State& state, const fs::path& file) {
  if (state.q.size() != model.coordinate_count() || state.v.size() != model.dof_count())
    throw InvalidInput("write_state: the state does not fit the model");
  json root;
  root["time"] = state.time;
  root["q"] = list_of(state.q);
  root["v"] = list_of(state.v);
  if (state.activation.size() > 0) root["activation"] = list_of(state.activation);
  if (state.mocap.size() > 0) root["mocap"] = list_of(state.mocap);
  if (state.node_position.size() > 0) {
    root["node_position"] = list_of(state.node_position);
    root["node_velocity"] = list_of(state.node_velocity);
  }
  const fs::path temporary = file.string() + ".tmp";
  std::ofstream out(temporary);
  out << root.dump(1) << '\n';
  out.close();
  std::error_code error;
  if (out) fs::rename(temporary, file, error);
  if (!out || error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw InvalidInput(
        fmt::format("{}: cannot be written; choose a folder that exists and is writable", file.string()));
  }
}

}  // namespace tribo
