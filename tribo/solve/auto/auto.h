// The default solver: goes from cheap to strong, island by island, and returns the best certified iterate.
//
// Three parts: what the problem is (traits.h), the schedule (schedule.cpp: a table in reading order of stages, when they
// apply and what they may spend), and the stages (stages.h). Settings::explain records what every stage cost.
#pragma once

#include <memory>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo {

// The numbers of the schedule. What chose them is said in docs/solvers/auto.md, with what each is worth.
struct AutoOptions {
  Index large = 20000;         // constraints of an island above which nothing is factorised
  Index tiny_sweeps = 30;      // of an island of up to five constraints
  Index warm_sweeps = 6;       // before Newton's method, where a start is not near
  Index probe_sweeps = 6;      // whose rate tells ...
  Index promised_sweeps = 60;  // ... whether so many more would reach the tolerance
  Index admm_iterations = 40;
  double near = 1e-2;        // error of a start from which on Newton finds the contacts as they were
  double very_near = 1e-5;   // ... and hardly a contact changes: it goes on to ...
  double deep = 1e-4;        // ... this error, relative to the tolerance
  Index few_factors = 8;     // factorisations that end it from a near start of a large island
  Index some_factors = 60;   // from a start of few trees, or of a stack from its load
  Index many_factors = 200;  // before another method has its turn
  Index point_iterations = 150;
  double cheap_factor = 150.0;  // sweeps that one factorisation of a pile may cost
  double path_target = 1e-4;    // error at which an interior path is left
  Index path_iterations = 22;
  Index restarts = 8;  // other starts of an island of few constraints
  Index few = 200;     // constraints up to which a factorisation costs little
  Index skip = 0;      // row of the schedule that is left out, 0: none; for ablations
};

// The table of the options: meaning, unit and range of each.
std::vector<Option> describe(AutoOptions& options);

std::unique_ptr<Solver> make_auto(const AutoOptions& options = {});

}  // namespace tribo
