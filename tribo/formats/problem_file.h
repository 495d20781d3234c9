// Reading and writing contact problems: FCLIB (.hdf5) and Siconos text files (.dat).
//
//   LoadedProblem loaded = read_problem("tower.hdf5");
//   write_problem("copy.hdf5", loaded.problem, {.title = "tower", .solution = &solution});
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tribo/problem/contact_problem.h"
#include "tribo/problem/solution.h"

namespace tribo {

struct LoadedProblem {
  ContactProblem problem;
  std::optional<Vector> guess = std::nullopt;  // [rows] impulses: the file's first guess
  // [rows] impulses. None where the file holds zeros without a certificate: a place that was never filled.
  std::optional<Vector> solution = std::nullopt;
  std::string format = {};    // e.g. "FCLIB global, triplet", "Siconos local, sparse block"
  Index space_dimension = 3;  // 2: planar contacts, embedded in three dimensions with an idle second tangent
  std::string title = {};     // from the file's info, UTF-8, possibly empty
  std::string description = {};  // likewise
  // What is unusual about the file without making it useless: a W that is indefinite by rounding, and by how much.
  std::vector<std::string> warnings = {};
};

// By content for HDF5 and by extension otherwise; InvalidInput names the file and what is wrong with it.
LoadedProblem read_problem(const std::filesystem::path& path);

// Writes FCLIB (local when the problem is in Delassus form, otherwise global) through a temporary file, so
// that a failure leaves nothing behind and an existing file untouched. Reading it returns an equal problem.
// `solution`, if given, is stored with its certificate, recomputed here; InvalidInput if that is not finite.
struct WriteOptions {
  std::string title = {};
  std::string description = {};
  const Solution* solution = nullptr;  // stored in /solution
  const Vector* guess = nullptr;       // stored in /guesses/1
  bool compress = false;               // shuffle and deflate; any HDF5 library (h5py, Siconos) reads it
};
void write_problem(const std::filesystem::path& path, const ContactProblem& problem,
                   const WriteOptions& options = {});

}  // namespace tribo
