// Projected Gauss-Seidel: normal impulse first, then friction on its disk. See pgs.cpp.
#pragma once

#include <memory>

#include "tribo/solve/solver.h"

namespace tribo {

std::unique_ptr<Solver> make_pgs();

}  // namespace tribo
