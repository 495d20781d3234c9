// Subsystem-based ADMM (Lee et al. 2024, Alg. 2) and the two ablations of its Table III.
#pragma once

#include <memory>

#include "tribo/solve/solver.h"

namespace tribo {

std::unique_ptr<Solver> make_subadmm();         // split per body
std::unique_ptr<Solver> make_subadmm_nobody();  // split per tree («No Body»)
std::unique_ptr<Solver> make_admm_full();       // one system for all trees («No Sub», (28))

}  // namespace tribo
