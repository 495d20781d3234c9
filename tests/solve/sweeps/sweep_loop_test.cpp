#include "tribo/solve/sweeps/sweep_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/exact_visit.h"
#include "tests/support/small_problems.h"

namespace tribo {
namespace {

using test::ExactVisit;

struct Counting : ExactVisit {
  using ExactVisit::ExactVisit;
  Index visits = 0;
  template <int N>
  VecN<N> contact(Index s, const VecN<N>& w, const VecN<N>& r) {
    ++visits;
    return ExactVisit::contact<N>(s, w, r);
  }
};

// Resting changes the work, not the result.
TEST(SweepRest, SettledConstraintsRestAndTheResultIsTheSame) {
  const ContactProblem problem = test::all_kinds(8, 0.3, 12);
  SweepOrder order;
  order.reset(problem.constraint_count());
  Vector impulse[2];
  Index visits[2];
  for (int m = 0; m < 2; ++m) {
    SweepOperator sweeps;
    sweeps.setup(problem);
    SweepRest rest;
    rest.reset(problem.constraint_count(), m == 0 ? 0 : 20);
    impulse[m] = Vector::Zero(problem.row_count());
    Counting visit(problem);
    Index complete = 0;
    for (int k = 0; k < 400; ++k) {
      complete += rest.sweep(sweeps, order.visits(), impulse[m], visit).complete ? 1 : 0;
    }
    visits[m] = visit.visits;
    EXPECT_GT(complete, 100);  // all of them, or at least the end, when nothing moves any more
  }
  EXPECT_EQ(visits[0], 400 * 12);
  EXPECT_LT(visits[1], visits[0]);
  EXPECT_LT((impulse[0] - impulse[1]).cwiseAbs().maxCoeff(), 1e-12 * impulse[0].cwiseAbs().maxCoeff());
}

TEST(SweepOrder, ShufflesArePermutationsAndRepeat) {
  SweepOrder a, b, c;
  a.reset(50, 7);
  b.reset(50, 7);
  c.reset(50, 8);
  for (int k = 0; k < 3; ++k) {
    a.shuffle();
    b.shuffle();
    c.shuffle();
  }
  EXPECT_TRUE(std::equal(a.visits().begin(), a.visits().end(), b.visits().begin()));
  EXPECT_FALSE(std::equal(a.visits().begin(), a.visits().end(), c.visits().begin()));
  std::vector<Index> sorted(a.visits().begin(), a.visits().end());
  std::sort(sorted.begin(), sorted.end());
  for (Index i = 0; i < 50; ++i) ASSERT_EQ(sorted[i], i);
  b.reverse();
  EXPECT_EQ(b.visits().front(), a.visits().back());
}

TEST(SweepWatch, LearnsTheRatioOfErrorToStep) {
  const ContactProblem problem = test::point_on_slope(0.3, 0.5);
  SweepWatch watch(problem, 1e-6);
  Index evaluations = 0, converged_at = 0;
  // Linear convergence with error = 50 * relative step.
  for (Index k = 1; k < 5000 && converged_at == 0; ++k) {
    const double step = std::pow(0.99, k);
    if (!watch.due(k, {step * step, 1.0})) continue;
    ++evaluations;
    if (50.0 * step <= 1e-6) converged_at = k;
    watch.learn(k, 50.0 * step);
  }
  const auto first_success = static_cast<Index>(std::ceil(std::log(1e-6 / 50.0) / std::log(0.99)));
  EXPECT_GE(converged_at, first_success);
  EXPECT_LE(converged_at, first_success + 2);
  EXPECT_LT(evaluations, 60);
}

// Impulses that go round without getting anywhere are a cycle; a slow straight approach is not.
TEST(SweepWatch, TellsCyclesFromSlowProgress) {
  const ContactProblem problem = test::point_on_slope(0.3, 0.5);
  for (const bool circle : {true, false}) {
    SweepWatch watch(problem, 1e-6);
    Vector impulse = Vector::Zero(3), past;
    bool seen = false;
    for (Index k = 1; k < 3000; ++k) {
      const double turn = 2.0 * k;
      const Vector step = circle ? Vec3(std::cos(turn), std::sin(turn), 0.0) : Vec3(1e-4, 0.0, 0.0);
      impulse += step;
      const SweepChange change{step.squaredNorm(), 10.0};
      if (watch.due(k, change)) watch.learn(k, 1e-3);
      seen = seen || watch.cycling(k, change, impulse, past);
    }
    EXPECT_EQ(seen, circle);
  }
}

}  // namespace
}  // namespace tribo
