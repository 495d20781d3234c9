// Nonsmooth Gauss-Seidel: one contact after the other is solved with the others held. See nsgs.cpp.
#pragma once

#include <memory>

#include "tribo/solve/solver.h"

namespace tribo {

std::unique_ptr<Solver> make_nsgs();

}  // namespace tribo
