#include "tribo/sim/assembly/unfinished_solve.h"

#include <gtest/gtest.h>

#include "tribo/generate/generators.h"
#include "tribo/problem/passive_impulse.h"

namespace tribo {
namespace {

struct Unfinished {
  ContactProblem problem = generate("tower", {.bodies = 8, .slide = true});
  Settings settings;
  Report report;
  Solution solution;
};

// What a solver leaves that was stopped before anything else: no impulses at all.
Unfinished nothing_yet(Status status) {
  Unfinished u;
  u.report.status = status;
  u.solution.impulse = Vector::Zero(u.problem.row_count());
  u.solution.velocity = u.problem.free_velocity();
  u.report.certificate = certify(u.problem, u.solution, Law::exact);
  return u;
}

TEST(UnfinishedSolve, SweepsBringWhatALimitOfTimeLeftNearer) {
  Unfinished u = nothing_yet(Status::time_limit);
  const double before = u.report.certificate.error.value;
  ASSERT_GT(before, 0.1);
  const double error = UnfinishedSolve().finish(u.problem, u.settings, nullptr, u.report, u.solution);
  EXPECT_LE(error, 0.2 * before);
  EXPECT_NEAR(error, certify(u.problem, u.solution, Law::exact).error.value, 1e-12);
  EXPECT_LE(impulse_work(u.problem, u.solution), 0.0);
  for (Index i = 0; i < u.problem.constraint_count(); ++i) {
    const Vec3 impulse = u.solution.impulse.segment<3>(u.problem.row(i));
    EXPECT_LE(impulse.head<2>().norm(), u.problem.friction(i) * impulse.z() + 1e-12);
  }
}

TEST(UnfinishedSolve, BeginsWithTheImpulsesOfTheStepBefore) {
  Unfinished cold = nothing_yet(Status::time_limit), warm = nothing_yet(Status::time_limit);
  UnfinishedSolve finisher;
  const double first = finisher.finish(cold.problem, cold.settings, nullptr, cold.report, cold.solution);
  const Vector start = cold.solution.impulse;
  EXPECT_LT(finisher.finish(warm.problem, warm.settings, &start, warm.report, warm.solution), first);
}

TEST(UnfinishedSolve, LeavesAloneWhatNoLimitOfTimeEnded) {
  for (const Status status : {Status::iteration_limit, Status::stalled}) {
    Unfinished u = nothing_yet(status);
    const double error = UnfinishedSolve().finish(u.problem, u.settings, nullptr, u.report, u.solution);
    EXPECT_EQ(error, u.report.certificate.error.value);
    EXPECT_TRUE(u.solution.impulse.isZero(0.0));
  }
  // Nor what is as good as asked for, or nearly.
  Unfinished u = nothing_yet(Status::time_limit);
  u.settings.tolerance = 10.0 * u.report.certificate.error.value;
  UnfinishedSolve().finish(u.problem, u.settings, nullptr, u.report, u.solution);
  EXPECT_TRUE(u.solution.impulse.isZero(0.0));
}

// A step of Newton's method may leave contacts that pull, or have more friction than there is.
TEST(UnfinishedSolve, BringsImpulsesIntoTheirSets) {
  Unfinished u = nothing_yet(Status::iteration_limit);
  for (Index i = 0; i < u.problem.constraint_count(); ++i) {
    u.solution.impulse.segment<3>(u.problem.row(i)) = i % 2 == 0 ? Vec3(0.1, 0.0, -0.2) : Vec3(3.0, 0.0, 0.1);
  }
  u.report.certificate = certify(u.problem, u.solution, Law::exact);
  const double error = UnfinishedSolve().finish(u.problem, u.settings, nullptr, u.report, u.solution);
  const Certificate after = certify(u.problem, u.solution, Law::exact);
  EXPECT_LT(after.cone_primal.value, 1e-12);
  EXPECT_LT(after.momentum, 1e-12);
  EXPECT_NEAR(error, after.error.value, 1e-12 * error);
  Vector scratch, velocity;
  u.problem.velocity_of(u.solution.impulse, scratch, velocity);
  EXPECT_LT((velocity - u.solution.velocity).norm(), 1e-12 * velocity.norm());
}

TEST(UnfinishedSolve, KeepsTwoFifthsOfALimit) {
  Settings settings;
  EXPECT_EQ(UnfinishedSolve::of_solver(settings).time_limit, settings.time_limit);  // none
  settings.time_limit = 0.002;
  EXPECT_NEAR(UnfinishedSolve::of_solver(settings).time_limit, 0.0012, 1e-12);
}

}  // namespace
}  // namespace tribo
