#include "tribo/solve/auto/restarts.h"

#include <gtest/gtest.h>

#include "tests/support/small_problems.h"
#include "tribo/solve/solver.h"

namespace tribo {
namespace {

TEST(Restarts, AreAdmissibleReproducibleAndDifferent) {
  const ContactProblem problem = test::all_kinds(3, 0.0);
  const Vector best = Vector::Constant(problem.row_count(), 0.1);
  Vector a, b, before = best;
  for (Index k = 0; k < 12; ++k) {
    restart(problem, best, k, a);
    restart(problem, best, k, b);
    EXPECT_EQ(a, b);
    EXPECT_NE(a, before);
    ASSERT_TRUE(a.allFinite());
    b = a;
    project_impulse(problem, b);
    EXPECT_LE((a - b).norm(), 1e-12 * a.norm());
    before = a;
  }
}

// Every other start keeps most of what is known.
TEST(Restarts, KeepMostOfTheBestByTurns) {
  const ContactProblem problem = test::all_kinds(3, 0.0);
  Vector best = Vector::Constant(problem.row_count(), 0.1);
  project_impulse(problem, best);
  Index kept = 0, elsewhere = 0, total = 0;
  Vector start;
  for (Index k = 0; k < 20; ++k) {
    restart(problem, best, k, start);
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const Index row = problem.row(i), n = problem.rows(i);
      const bool same = (start.segment(row, n) - best.segment(row, n)).norm() < 1e-12;
      (k % 2 == 1 ? kept : elsewhere) += same ? 1 : 0;
    }
    total += k % 2 == 1 ? problem.constraint_count() : 0;
  }
  EXPECT_GT(kept, total / 2);
  EXPECT_LT(kept, total);
  EXPECT_LT(elsewhere, total / 10);
}

}  // namespace
}  // namespace tribo
