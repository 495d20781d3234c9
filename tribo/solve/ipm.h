// Primal-dual interior point with a final polish; see solve/ipm.cpp.
#pragma once

#include <memory>

#include "tribo/solve/solver.h"

namespace tribo {

std::unique_ptr<Solver> make_ipm();

}  // namespace tribo
