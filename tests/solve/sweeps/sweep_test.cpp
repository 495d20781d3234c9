#include "tribo/solve/sweeps/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/exact_visit.h"
#include "tests/support/random.h"
#include "tests/support/small_problems.h"
#include "tribo/problem/lift.h"

namespace tribo {
namespace {

using test::ExactVisit;

TEST(SweepOperator, RefreshIsTheVelocityOfTheProblem) {
  const ContactProblem problem = test::all_kinds(1, 0.5, 17);
  test::Random random(2);
  for (const auto mode : {SweepOperator::Mode::velocity, SweepOperator::Mode::rows}) {
    SweepOperator sweeps;
    sweeps.setup(problem, mode);
    ASSERT_EQ(sweeps.mode(), mode);
    for (int sample = 0; sample < 5; ++sample) {
      const Vector impulse = random.vector(problem.row_count());
      Vector v, expected, velocity;
      problem.velocity_of(impulse, v, expected);
      sweeps.refresh(impulse, velocity);
      ASSERT_LT((velocity - expected).cwiseAbs().maxCoeff(), 1e-13 * expected.cwiseAbs().maxCoeff());
    }
  }
}

TEST(SweepOperator, BothModesGiveTheSameSweeps) {
  for (const double compliance : {0.0, 0.5}) {
    const ContactProblem problem = test::all_kinds(3, compliance, 17);
    Vector impulse[2], velocity[2];
    SweepOrder order;
    order.reset(problem.constraint_count());
    for (int m = 0; m < 2; ++m) {
      SweepOperator sweeps;
      sweeps.setup(problem, m == 0 ? SweepOperator::Mode::velocity : SweepOperator::Mode::rows);
      impulse[m] = Vector::Zero(problem.row_count());
      ExactVisit visit(problem);
      for (int k = 0; k < 50; ++k) sweeps.sweep(order.visits(), impulse[m], visit);
      sweeps.refresh(impulse[m], velocity[m]);
    }
    EXPECT_GT(impulse[0].norm(), 0.1);
    EXPECT_LT((impulse[0] - impulse[1]).cwiseAbs().maxCoeff(), 1e-12 * impulse[0].cwiseAbs().maxCoeff());
    EXPECT_LT((velocity[0] - velocity[1]).cwiseAbs().maxCoeff(), 1e-12);
  }
}

struct Recorder {
  const ContactProblem& problem;
  Vector& impulse;
  test::Random random{5};
  Vector v, u;
  Index contacts_seen = 0;
  Recorder(const ContactProblem& p, Vector& lambda) : problem(p), impulse(lambda) {}
  template <int N>
  VecN<N> contact(Index, const VecN<N>& w, const VecN<N>&) {
    problem.velocity_of(impulse, v, u);
    bool found = false;
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      if (problem.rows(i) == N) {
        found = found || (u.segment<N>(problem.row(i)) - w).norm() < 1e-12;
      }
    }
    EXPECT_TRUE(found);
    ++contacts_seen;
    return random.vector(N);
  }
  double scalar(Index, double, double) { return random.uniform(); }
};

// The velocities kept during sweeps are those of the impulses.
TEST(SweepOperator, SweepsKeepVelocitiesUpToDate) {
  const ContactProblem problem = test::all_kinds(4, 0.0, 12);
  SweepOperator sweeps;
  sweeps.setup(problem, SweepOperator::Mode::velocity);
  SweepOrder order;
  order.reset(problem.constraint_count());
  Vector impulse = Vector::Zero(problem.row_count()), v, expected;

  Recorder recorder(problem, impulse);
  sweeps.sweep(order.visits(), impulse, recorder);
  sweeps.sweep(order.visits(), impulse, recorder);
  EXPECT_EQ(recorder.contacts_seen, 24);
}

TEST(SweepOperator, UnsymmetricMatrixIsUsedAsGiven) {
  test::Random random(6);
  const Index contacts = 5;
  Matrix w = test::random_spd(random, 3 * contacts);
  w += 0.1 * random.matrix(3 * contacts, 3 * contacts);
  std::vector<ScalarTriplet> triplets;
  for (Index r = 0; r < w.rows(); ++r) {
    for (Index c = 0; c < w.cols(); ++c) triplets.push_back({r, c, w(r, c)});
  }
  const Vector q = random.vector(3 * contacts);
  std::vector<ConstraintSpec> specs(contacts);
  for (ConstraintSpec& spec : specs) spec.friction = 0.5;
  std::vector<Index> starts;
  for (Index i = 0; i <= contacts; ++i) starts.push_back(3 * i);
  const ContactProblem problem = lift(BlockMatrix::from_triplets(starts, triplets), q, specs);
  SweepOperator sweeps;
  sweeps.setup(problem);
  EXPECT_EQ(sweeps.mode(), SweepOperator::Mode::rows);
  const Vector impulse = random.vector(3 * contacts);
  Vector velocity;
  sweeps.refresh(impulse, velocity);
  EXPECT_LT((velocity - (w * impulse + q)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(SweepOperator, ChoosesByWork) {
  // One contact on a tree of 40 degrees of freedom: W has 9 entries, J 120.
  test::Random random(7);
  ContactProblemBuilder builder;
  Index tree = builder.add_tree(test::random_spd(random, 40), random.vector(40));
  builder.add_contact(0.5, {{tree, random.matrix(3, 40)}});
  SweepOperator sweeps;
  const ContactProblem arm = builder.build();
  sweeps.setup(arm);
  EXPECT_EQ(sweeps.mode(), SweepOperator::Mode::rows);
  // Many contacts on one body.
  tree = builder.add_tree(test::random_spd(random, 6), random.vector(6));
  for (int i = 0; i < 20; ++i) builder.add_contact(0.5, {{tree, random.matrix(3, 6)}});
  const ContactProblem body = builder.build();
  sweeps.setup(body);
  EXPECT_EQ(sweeps.mode(), SweepOperator::Mode::velocity);
}

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
