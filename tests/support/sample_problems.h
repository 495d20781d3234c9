// Small problems that have everything a file must be able to say, and texts of Siconos files; for tests and
// fuzzing.
#pragma once

#include <string>
#include <vector>

#include "tribo/problem/contact_problem_builder.h"
#include "tribo/problem/lift.h"

namespace tribo::test {

// Four trees of 6, 1, 3 and 6 degrees of freedom; all kinds of constraints in mixed order, with keys and
// compliance, on one, two and three trees; the last tree is free.
ContactProblem mixed_problem(unsigned seed);

// W, q and sets of all kinds; `skew` makes W unsymmetric. Constraint 2 is coupled to nothing.
struct DelassusSample {
  std::vector<ConstraintSpec> constraints;
  BlockMatrix delassus;
  Vector q;
};

DelassusSample mixed_delassus(unsigned seed, double skew);

ContactProblem lifted_problem(unsigned seed, double skew);

// Siconos text files of every storage; the 3-D local ones hold the same W, q and mu.
struct DatSample {
  const char* name;
  std::string text;
};

std::vector<DatSample> dat_samples();

}  // namespace tribo::test
