// A problem as plain tuples of arrays and back, for pickling.
#pragma once

#include <nanobind/nanobind.h>

#include "tribo/problem/contact_problem.h"

namespace tribo::python {

nanobind::tuple state_of(const ContactProblem& problem);
// InvalidInput where the tuple is not one of state_of().
ContactProblem problem_of(const nanobind::tuple& state);

}  // namespace tribo::python
