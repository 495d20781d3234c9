// All solvers by name.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "tribo/solve/solver.h"

namespace tribo {

// What solvers are built on, in the order of the catalogue. From `projection` on they are those of the literature, for
// comparison (docs/solvers/README.md): each has problems that it does not solve.
enum class SolverFamily : std::uint8_t {
  tribo,
  ablation,
  projection,
  newton,
  splitting,
  proximal,
  fixed_point,
  pivoting,
};
inline constexpr int kSolverFamilies = 8;

std::string_view to_string(SolverFamily family);  // "fixed-point"
inline bool is_classical(SolverFamily family) { return family >= SolverFamily::projection; }

struct SolverInfo {
  std::string_view name;
  std::string_view summary;  // one line: what it is and when to use it
  std::unique_ptr<Solver> (*make)();
  SolverFamily family = SolverFamily::tribo;
};

// All of them, family by family, `auto` first.
std::span<const SolverInfo> solver_catalogue();
// Those that are not classical: what is run where nobody asks for the others.
std::span<const SolverInfo> main_solvers();

// `name` may carry options: "nsgs", "nsgs:local=newton,omega=1.2". InvalidInput lists the names there are.
std::unique_ptr<Solver> make_solver(std::string_view name);

}  // namespace tribo
