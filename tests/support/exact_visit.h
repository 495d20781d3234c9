// Visits of sweeps that solve each constraint of a problem by itself, exactly.
#pragma once

#include <vector>

#include "tribo/problem/contact_problem.h"
#include "tribo/solve/law/one_contact.h"

namespace tribo::test {

struct ExactVisit {
  std::vector<ExactContact> contacts;
  std::vector<ScalarRow> rows;

  explicit ExactVisit(const ContactProblem& problem) {
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      if (problem.kind(i) == ConstraintKind::contact) {
        Mat3 w = problem.delassus_diagonal(i);
        w.diagonal() += problem.compliance().segment<3>(problem.row(i));
        contacts.emplace_back(w, problem.friction(i));
      } else {
        rows.push_back(scalar_row(problem, i, 1.0));
      }
    }
  }
  Vec3 contact(Index s, const Vec3& w, const Vec3& r) { return contacts[s].solve(w, r); }
  double scalar(Index s, double w, double r) { return rows[s].solve(w, r); }
};

}  // namespace tribo::test
