// What every solver promises, whatever its method.
#include "tribo/solve/solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/base/errors.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

ContactProblem sliding_tower(Index bodies = 4) {
  GeneratorSettings settings;
  settings.bodies = bodies;
  settings.slide = true;
  return generate("tower", settings);
}

class EverySolver : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Solver> solver_ = make_solver(GetParam());
  Settings settings_;
  Solution solution_;
};

TEST_P(EverySolver, ConvergedMeansCertified) {
  const std::vector<ContactProblem> problems{test::point_on_slope(0.3, 0.5), test::cube_on_slope(0.9, 0.6),
                                             test::all_kinds(1, 0.5),        test::lifted_problem(2, 0.0),
                                             test::lifted_problem(2, 0.05),  sliding_tower(2)};
  settings_.max_iterations = 3000;
  int converged = 0;
  for (const ContactProblem& problem : problems) {
    for (const Law law : {Law::exact, Law::convex}) {
      for (const Measure measure : {Measure::scaled, Measure::fclib, Measure::siconos}) {
        settings_.law = law;
        settings_.measure = measure;
        const Report report = solver_->solve(problem, settings_, solution_);
        EXPECT_EQ(report.solver, GetParam());
        const Certificate certificate = certify(problem, solution_, law);
        const double error = value_of(certificate, measure);
        EXPECT_EQ(report.status == Status::converged, error <= settings_.tolerance);
        EXPECT_NEAR(value_of(report.certificate, measure), error, 1e-9 * error + 1e-15);
        EXPECT_LT(certificate.momentum, 1e-12);
        converged += report.status == Status::converged;
        // The solution's parts belong together.
        Vector u, v;
        problem.velocity_of(solution_.impulse, v, u);
        EXPECT_LT((u - solution_.velocity).norm(), 1e-12 * (1.0 + u.norm()));
        EXPECT_EQ(solution_.generalized_velocity.size(), problem.has_delassus() ? 0 : problem.dof_count());
      }
    }
  }
  EXPECT_GE(converged, 30);  // of 36
}

TEST_P(EverySolver, StopsAtTheIterationLimit) {
  const ContactProblem problem = sliding_tower();
  settings_.tolerance = 1e-300;
  for (const Index limit : {0, 1, 3}) {
    settings_.max_iterations = limit;
    const Report report = solver_->solve(problem, settings_, solution_);
    EXPECT_EQ(report.status, Status::iteration_limit);
    EXPECT_EQ(report.iterations, limit);
    EXPECT_TRUE(solution_.impulse.allFinite());
  }
}

TEST_P(EverySolver, StopsAtTheTimeLimit) {
  settings_.tolerance = 1e-13;
  settings_.max_iterations = 1000000;
  settings_.time_limit = 1e-9;
  const Report report = solver_->solve(sliding_tower(), settings_, solution_);
  EXPECT_EQ(report.status, Status::time_limit);
  EXPECT_GT(report.seconds, 0.0);
}

TEST_P(EverySolver, CanBeCancelled) {
  settings_.tolerance = 1e-13;
  settings_.max_iterations = 1000000;
  int calls = 0;
  settings_.on_progress = [&](const Progress&) { return ++calls < 3; };
  const Report report = solver_->solve(sliding_tower(), settings_, solution_);
  EXPECT_EQ(report.status, Status::cancelled);
  EXPECT_EQ(calls, 3);
  // Cancelled at once: the start is what there is.
  settings_.on_progress = [](const Progress&) { return false; };
  EXPECT_EQ(solver_->solve(sliding_tower(), settings_, solution_).iterations, 0);
  EXPECT_TRUE(solution_.impulse.isZero(0.0));
}

TEST_P(EverySolver, RecordsHistoryAndReturnsTheBest) {
  const ContactProblem problem = sliding_tower();
  settings_.max_iterations = 60;
  settings_.tolerance = 1e-300;
  EXPECT_TRUE(solver_->solve(problem, settings_, solution_).history.empty());
  settings_.history = true;
  std::vector<Progress> seen;
  settings_.on_progress = [&](const Progress& progress) {
    seen.push_back(progress);
    return true;
  };
  const Report report = solver_->solve(problem, settings_, solution_);
  ASSERT_GE(report.history.size(), 3u);
  ASSERT_EQ(report.history.size(), seen.size());
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < seen.size(); ++k) {
    EXPECT_EQ(report.history[k].error, seen[k].error);
    if (k > 0) {
      EXPECT_GT(seen[k].iteration, seen[k - 1].iteration);
      EXPECT_GE(seen[k].seconds, seen[k - 1].seconds);
    }
    best = std::min(best, seen[k].error);
  }
  EXPECT_EQ(seen.front().iteration, 0);
  EXPECT_EQ(seen.back().iteration, 60);
  EXPECT_NEAR(report.certificate.error.value, best, 1e-6 * best + 1e-13);  // up to rounding of the evaluation
}

TEST_P(EverySolver, ReportsTheLastCheckToo) {
  settings_.history = true;
  double last = 1.0;
  settings_.on_progress = [&](const Progress& progress) {
    last = progress.error;
    return true;
  };
  const Report report = solver_->solve(test::point_on_slope(0.8, 0.5), settings_, solution_);
  ASSERT_EQ(report.status, Status::converged);
  EXPECT_LE(last, settings_.tolerance);
  EXPECT_EQ(report.history.back().error, last);
}

TEST_P(EverySolver, RefusesBadSettings) {
  const ContactProblem problem = test::point_on_slope(0.3, 0.5);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto message = [&](const Settings& settings, const Vector* start = nullptr) -> std::string {
    try {
      solver_->solve(problem, settings, solution_, start);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "accepted";
  };
  for (const double bad : {0.0, -1.0, nan, infinity}) {
    Settings settings;
    settings.tolerance = bad;
    EXPECT_EQ(message(settings).substr(0, 9), "tolerance") << bad;
  }
  for (const double bad : {-1.0, nan}) {
    Settings settings;
    settings.start_tolerance = bad;
    EXPECT_EQ(message(settings).substr(0, 15), "start_tolerance") << bad;
  }
  for (const double bad : {0.0, -1.0, nan}) {
    Settings settings;
    settings.time_limit = bad;
    EXPECT_EQ(message(settings).substr(0, 10), "time_limit") << bad;
  }
  Settings settings;
  settings.max_iterations = -1;
  EXPECT_EQ(message(settings).substr(0, 14), "max_iterations");
  const Vector short_start = Vector::Zero(2), nan_start = Vector::Constant(3, nan);
  EXPECT_EQ(message({}, &short_start).substr(0, 15), "initial impulse");
  EXPECT_EQ(message({}, &nan_start).substr(0, 15), "initial impulse");
  EXPECT_EQ(message({}), "accepted");
}

TEST_P(EverySolver, ProjectsTheStart) {
  const ContactProblem problem = test::all_kinds(3, 0.0);
  test::Random random(3);
  const Vector start = 5.0 * random.vector(problem.row_count());
  settings_.max_iterations = 0;
  solver_->solve(problem, settings_, solution_, &start);
  Vector expected = start;
  test::project(problem, expected);
  EXPECT_EQ(solution_.impulse, expected);
  EXPECT_NE(solution_.impulse, start);
  project_impulse(problem, expected);  // idempotent up to rounding
  EXPECT_LT((solution_.impulse - expected).norm(), 1e-14);
}

class AnySolver : public EverySolver {};

// A start that would do is returned as it is, or worked on where the caller asks for a better one; never made worse.
TEST_P(AnySolver, WorksOnAGoodStartOnlyWhenAsked) {
  const ContactProblem problem = test::cube_on_slope(0.9, 0.6);
  settings_.tolerance = 1e-3;
  settings_.max_iterations = 3000;
  const Report first = solver_->solve(problem, settings_, solution_);
  ASSERT_EQ(first.status, Status::converged);
  const Vector start = solution_.impulse;
  const Report same = solver_->solve(problem, settings_, solution_, &start);
  EXPECT_EQ(same.iterations, 0);
  EXPECT_LE((solution_.impulse - start).norm(), 1e-14 * start.norm());  // projected once more
  settings_.start_tolerance = 1e-15;
  const Report better = solver_->solve(problem, settings_, solution_, &start);
  EXPECT_GT(better.iterations, 0);
  EXPECT_EQ(better.status, Status::converged);
  EXPECT_LE(better.certificate.error.value, same.certificate.error.value);
}

// The measure asked for is the certificate's own; what was not computed says so.
TEST_P(AnySolver, ABriefCertificateSaysOnlyWhatIsKnown) {
  for (const Measure measure : {Measure::scaled, Measure::fclib, Measure::siconos}) {
    settings_.measure = measure;
    settings_.max_iterations = 3000;
    settings_.full_certificate = false;
    const ContactProblem problem = test::point_on_slope(0.3, 0.5);
    const Report report = solver_->solve(problem, settings_, solution_);
    const double error = value_of(certify(problem, solution_), measure);
    EXPECT_NEAR(value_of(report.certificate, measure), error, 1e-9 * error + 1e-13);  // up to rounding
    EXPECT_EQ(report.seconds, 0.0);
    if (report.status == Status::converged) {
      EXPECT_TRUE(std::isnan(report.certificate.lee_residual));
    }
  }
}

TEST_P(EverySolver, SolvesNothing) {
  ContactProblemBuilder builder;
  builder.add_tree(2.0 * Mat3::Identity(), Vec3(1, 2, 3));
  const ContactProblem problem = builder.build();
  const Report report = solver_->solve(problem, settings_, solution_);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(solution_.impulse.size(), 0);
  EXPECT_LT((solution_.generalized_velocity - Vec3(0.5, 1.0, 1.5)).norm(), 1e-15);
  EXPECT_EQ(solver_->solve(ContactProblemBuilder().build(), settings_, solution_).status, Status::converged);
}

TEST_P(EverySolver, OneObjectSolvesProblemsOfAllSizes) {
  for (const ContactProblem& problem :
       {sliding_tower(3), test::point_on_slope(0.3, 0.5), test::lifted_problem(4, 0.0), sliding_tower(2)}) {
    Solution fresh;
    settings_.max_iterations = 50;
    const Report again = solver_->solve(problem, settings_, solution_);
    const Report first = make_solver(GetParam())->solve(problem, settings_, fresh);
    EXPECT_EQ(again.iterations, first.iterations);
    EXPECT_EQ(solution_.impulse, fresh.impulse);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EverySolver, testing::Values("admm", "nsgs", "pgs"),
                         [](const auto& test) { return std::string(test.param); });
INSTANTIATE_TEST_SUITE_P(All, AnySolver,
                         testing::Values("admm", "nsgs", "pgs", "canal", "auto", "alnewton", "ipm"),
                         [](const auto& test) { return std::string(test.param); });
INSTANTIATE_TEST_SUITE_P(Cascades, EverySolver, testing::Values("canal", "al-dogleg", "al-damped"));

}  // namespace
}  // namespace tribo
