// From which size on the structure of a problem is worth looking at. Solvers and their callers that partition problems
// (islands, steps of a simulation) must agree on it: a small problem gets no solver of its own, because no solver keeps
// anything for it.
#pragma once

#include "tribo/base/types.h"

namespace tribo {

// Constraints up to which W is made as one dense matrix without a heap (at most 15 x 15): no symbolic analysis.
inline constexpr Index kFewConstraints = 5;
// Trees up to which Newton's matrix is dense: with three trees hardly a block of it is zero.
inline constexpr Index kFewTrees = 3;

}  // namespace tribo
