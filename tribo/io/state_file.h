// States in files: where a simulation begins, or what it came to.
//
// JSON (.json): an object with any of
//   "q" [coordinates], "v" [dofs], "activation", "mocap", "node_position", "node_velocity" as in State, "time" s, and
//   "joints": {"<name of a joint>": {"q": [...], "v": [...]}}; a single number may stand without brackets
// What is not named stays as in the initial state of the model. "joints" comes after "q" and "v".
// HDF5 (.h5, .hdf5): a recording (io/recorder.h); one of its frames, nodes of flexible bodies included.
//
// Example
//   simulator.set_state(read_state(simulator.model(), "lifted.json"));
#pragma once

#include <filesystem>
#include <optional>

#include "tribo/multibody/state.h"

namespace tribo {

// `frame` of a recording, numbered from 0; none: the last one. InvalidInput names the file and the field when it is missing,
// is no number, is not finite, has the wrong length or no joint has that name.
State read_state(const Model& model, const std::filesystem::path& file, std::optional<Index> frame = {});

// As JSON with all digits: read_state() gives the same bits. Written whole or not at all.
void write_state(const Model& model, const State& state, const std::filesystem::path& file);

}  // namespace tribo
