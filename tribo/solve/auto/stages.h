// The stages of `auto` (auto/stage.h), by name.
#pragma once

#include <memory>

#include "tribo/solve/auto/stage.h"

namespace tribo {

std::unique_ptr<AutoStage> make_stage(StageId id, StageTools& tools);

}  // namespace tribo
