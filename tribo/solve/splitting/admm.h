// Proximal ADMM on the exact contact law (Carpentier, Le Lidec, Montaut 2024, Alg. 1), rigid and compliant.
#pragma once

#include <memory>

#include "tribo/solve/solver.h"

namespace tribo {

std::unique_ptr<Solver> make_admm();

}  // namespace tribo
