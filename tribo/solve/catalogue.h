// All solvers by name.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "tribo/solve/solver.h"

namespace tribo {

struct SolverInfo {
  std::string_view name;
  std::string_view summary;  // one line: what it is and when to use it
  std::unique_ptr<Solver> (*make)();
};

std::span<const SolverInfo> solver_catalogue();

// `name` may carry options: "nsgs", "nsgs:local=newton,omega=1.2". InvalidInput lists the names there are.
std::unique_ptr<Solver> make_solver(std::string_view name);

}  // namespace tribo
