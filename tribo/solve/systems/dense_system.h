// The momentum equation of a few trees, as dense matrices.
#pragma once

#include <memory>

#include "tribo/solve/systems/newton_system.h"

namespace tribo {

std::unique_ptr<NewtonSystem> make_dense_system();

}  // namespace tribo
