#include "tribo/problem/divergence.h"

#include <gtest/gtest.h>

#include "tests/support/small_problems.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/problem/solution.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

// A mass of 1 kg on a line between two stops that move towards it (speed > 0) or away: v >= speed and v <= -speed.
ContactProblem between_stops(double speed) {
  ContactProblemBuilder builder;
  const Index mass = builder.add_tree(Matrix::Identity(1, 1), Vector::Zero(1));
  for (const double side : {1.0, -1.0}) {
    const JacobianPiece piece{mass, Matrix::Constant(1, 1, side)};
    builder.add_unilateral({&piece, 1}, -speed);
  }
  return builder.build();
}

bool is_suspected(const ContactProblem& problem, const Vector& impulse, Law law = Law::exact) {
  Vector scratch, velocity;
  problem.velocity_of(impulse, scratch, velocity);
  return looks_infeasible(problem, impulse, velocity, law);
}

// Whatever the two stops push, one of them is violated by 1 m/s at least: pushing 1e4 times what stops the mass changes
// nothing, and it is too early to say so at the natural size.
TEST(Divergence, StopsThatApproachEachOtherAreSuspectedOnceTheirImpulsesAreFarBeyondTheDemand) {
  const ContactProblem problem = between_stops(1.0);
  EXPECT_FALSE(is_suspected(problem, Vector::Zero(2)));
  EXPECT_FALSE(is_suspected(problem, Vector::Constant(2, 1.0)));
  EXPECT_TRUE(is_suspected(problem, Vector::Constant(2, 1e4)));
  EXPECT_TRUE(is_suspected(problem, Vector::Constant(2, 1e9)));
}

// Between resting stops any pressure is a solution, however large.
TEST(Divergence, PressureBetweenRestingStopsIsNone) {
  const ContactProblem problem = between_stops(0.0);
  for (const double pressure : {1.0, 1e4, 1e9}) {
    EXPECT_FALSE(is_suspected(problem, Vector::Constant(2, pressure))) << pressure;
  }
}

TEST(Divergence, SolutionsAreNeverSuspected) {
  for (const Law law : {Law::exact, Law::convex}) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      const ContactProblem problem = test::all_kinds(seed, 0.1);
      Settings settings;
      settings.law = law;
      Solution solution;
      ASSERT_EQ(make_solver("auto")->solve(problem, settings, solution).status, Status::converged);
      EXPECT_FALSE(looks_infeasible(problem, solution.impulse, solution.velocity, law)) << seed;
    }
  }
}

}  // namespace
}  // namespace tribo
