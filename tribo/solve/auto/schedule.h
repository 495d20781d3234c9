// The schedule of `auto`: which stage, when, with what budget, in reading order. See docs/solvers/auto.md.
#pragma once

#include <span>
#include <string_view>

#include "tribo/solve/auto/stage.h"

namespace tribo {

struct ScheduleRow {
  StageId stage;
  Monitor::From from;
  bool (*applies)(const StageContext& context);
  Budget (*budget)(const StageContext& context);
  std::string_view purpose;  // for people: what it is there for
};

std::span<const ScheduleRow> auto_schedule();

}  // namespace tribo
