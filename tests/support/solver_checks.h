// Checks that every solver of the exact law must pass, and the settings and scenes they use.
#pragma once

#include <string_view>

#include "tests/support/small_problems.h"
#include "tribo/solve/catalogue.h"

namespace tribo::test {

Settings to(double tolerance, Law law = Law::exact);

ContactProblem tower(Index cubes, double mass_ratio, bool slide);

void expect_points_on_slopes(Solver& solver);

void expect_cubes_on_slopes(Solver& solver);

// Every kind of constraint, compliant so that the solution is unique, under both laws, against a dense
// iteration and another solver.
void expect_all_kinds(Solver& solver, std::string_view other);

}  // namespace tribo::test
