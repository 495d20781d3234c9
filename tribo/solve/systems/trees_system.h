// The momentum equation of robots that touch each other in few places: a dense matrix per tree.
#pragma once

#include <memory>

#include "tribo/solve/systems/newton_system.h"

namespace tribo {

std::unique_ptr<NewtonSystem> make_trees_system();

}  // namespace tribo
