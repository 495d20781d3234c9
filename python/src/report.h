// What came of a solve, as Python sees it.
#pragma once

#include <nanobind/nanobind.h>

#include "tribo/problem/solution.h"
#include "tribo/solve/report.h"

namespace tribo::python {

// In physical units, unlike tribo::Solution, whose rows are those of the problem's memory.
struct PhysicalSolution {
  Vector impulse, velocity, generalized_velocity;
};
PhysicalSolution physical(const ContactProblem& problem, Solution solution);

void bind_certificate(nanobind::module_& m);
void bind_report(nanobind::module_& m);

}  // namespace tribo::python
