// Visits of sweeps that solve each constraint of a problem by itself, exactly.
#pragma once

#include <vector>

#include "tribo/problem/contact_problem.h"
#include "tribo/solve/law/by_rows.h"
#include "tribo/solve/law/one_cone.h"

namespace tribo::test {

struct ExactVisit {
  ByRows<ExactContactN> contacts;
  std::vector<ScalarRow> rows;

  explicit ExactVisit(const ContactProblem& problem) {
    for_each_constraint(
        problem,
        [&](auto cone) {
          constexpr int n = cone.kRows;
          contacts.of<n>().emplace_back(local_matrix<n>(problem, cone.index), cone.friction);
        },
        [&](IntervalConstraint row) { rows.push_back(scalar_row(problem, row.index, 1.0)); });
  }
  template <int N>
  VecN<N> contact(Index s, const VecN<N>& w, const VecN<N>& r) {
    return contacts.of<N>()[s].solve(w, r);
  }
  double scalar(Index s, double w, double r) { return rows[s].solve(w, r); }
};

}  // namespace tribo::test
