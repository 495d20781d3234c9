// Reading and writing contact problems: FCLIB (.hdf5) and Siconos text files (.dat).
//
//   LoadedProblem loaded = read_problem("tower.hdf5");
//   write_problem("copy.hdf5", loaded.problem, &solution);
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tribo/problem/contact_problem.h"
#include "tribo/problem/solution.h"

namespace tribo {

struct LoadedProblem {
  ContactProblem problem;
  std::optional<Vector>
      guess;           // [rows] impulses of the file's first guess (or nonzero solution), for warm starts
  std::string format;  // e.g. "FCLIB global, triplet", "Siconos local, sparse block"
  Index space_dimension = 3;  // 2: planar contacts, embedded in three dimensions with an idle second tangent
  std::string title, description;  // from the file's info, possibly empty
};

// By content for HDF5 and by extension otherwise; InvalidInput names the file and what is wrong with it.
LoadedProblem read_problem(const std::filesystem::path& path);

// Writes FCLIB (local when the problem is in Delassus form, otherwise global) through a temporary file, so
// that a failure leaves nothing behind. `solution`, if given, is stored after its certificate has been
// recomputed.
struct WriteOptions {
  std::string title, description;
  const Solution* solution = nullptr;  // stored in /solution
  const Vector* guess = nullptr;       // stored in /guesses/1
};
void write_problem(const std::filesystem::path& path, const ContactProblem& problem,
                   const WriteOptions& options = {});

}  // namespace tribo
