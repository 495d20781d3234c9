// The solvers that Acary, Bremond and Huber (2018) compare, and pivoting on faceted cones, as entries of the catalogue: each
// a composition of the engines of this room. docs/solvers/README.md lists them, one page per engine.
#pragma once

#include <span>

#include "tribo/solve/catalogue.h"

namespace tribo {

std::span<const SolverInfo> classical_solvers();

}  // namespace tribo
