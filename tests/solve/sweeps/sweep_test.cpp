#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/exact_visit.h"
#include "tests/support/random.h"
#include "tests/support/small_problems.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/problem/lift.h"
#include "tribo/solve/sweeps/sweep_loop.h"

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

}  // namespace
}  // namespace tribo
