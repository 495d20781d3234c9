// The default solver: goes from cheap to strong, island by island, and returns the best certified iterate.
//
// Three parts: what the problem is (traits.h), the schedule (schedule.cpp: a table in reading order of stages, when they
// apply and what they may spend), and the stages (stages.h). Settings::explain records what every stage cost.
#pragma once

#include <memory>
#include <vector>

#include "tribo/solve/auto/tuning.h"
#include "tribo/solve/solver.h"

namespace tribo {

// The table of the options: meaning, unit and range of each.
std::vector<Option> describe(AutoOptions& options);

std::unique_ptr<Solver> make_auto(const AutoOptions& options = {});

}  // namespace tribo
