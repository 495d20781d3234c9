// Every entry of the catalogue that is taken over from the literature: problems with known solutions, agreement with
// `auto`, and the faceted cones of pivoting.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/support/allocation_counter.h"
#include "tests/support/solver_checks.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/driver/loop_solver.h"
#include "tribo/solve/driver/monitor.h"

namespace tribo {
namespace {

class ClassicalSolver : public testing::TestWithParam<std::string_view> {
 protected:
  std::unique_ptr<Solver> solver_ = make_solver(GetParam());
  bool exact_ = solver_->supports(Law::exact);
  Solution solution_;

  Report solve(const ContactProblem& problem, double tolerance, Law law = Law::exact) {
    Settings settings = test::to(tolerance, law);
    settings.max_iterations = 1000000;
    settings.time_limit = 30.0;
    return solver_->solve(problem, settings, solution_);
  }
};

// A point of mass 2 (kg) on slopes: sticks, slides.
TEST_P(ClassicalSolver, PointOnASlope) {
  if (!exact_) GTEST_SKIP() << "solves the convex law";
  const double mu = 0.5;
  for (const double angle : {0.1, 0.4, 0.47, 0.8, 1.2}) {
    ASSERT_EQ(solve(test::point_on_slope(angle, mu), 1e-10).status, Status::converged) << angle;
    const double normal = std::cos(angle), friction = std::min(mu * normal, std::sin(angle));
    EXPECT_NEAR(solution_.impulse[2], normal, 1e-9);
    EXPECT_NEAR(solution_.impulse[0], -friction, 1e-9);
    EXPECT_NEAR(solution_.velocity[0], (std::sin(angle) - friction) / 2.0, 1e-9);
  }
}

TEST_P(ClassicalSolver, TakesOff) {
  ContactProblemBuilder builder;
  builder.add_tree(2.0 * Mat3::Identity(), Vec3(1.0, 0.5, 0.3));
  builder.add_contact(0.5, {{0, Mat3::Identity()}});
  builder.add_contact(0.5, {{0, Mat3::Identity()}}, Vec3(0.0, 0.0, 2.0));
  const Law law = exact_ ? Law::exact : Law::convex;
  ContactProblem problem = builder.build();
  ASSERT_EQ(solve(problem, 1e-9, law).status, Status::converged);
  if (exact_) {
    EXPECT_LT(solution_.impulse.norm(), 1e-9);
  }
}

// Sliding, the convex law lets the contact open with mu |u_t|: r = P_K(-m u) of the free motion for W = 1/m.
TEST_P(ClassicalSolver, ConvexLawOfAPoint) {
  if (!solver_->supports(Law::convex)) GTEST_SKIP() << "solves the exact law";
  const double mu = 0.5;
  for (const double angle : {0.1, 0.8, 1.2}) {
    ASSERT_EQ(solve(test::point_on_slope(angle, mu), 1e-10, Law::convex).status, Status::converged) << angle;
    const Vec3 free(std::sin(angle), 0.0, -std::cos(angle));
    EXPECT_LT((solution_.impulse - project_cone(Vec3(-free), mu)).norm(), 1e-9);
  }
}

TEST_P(ClassicalSolver, CubesOnSlopesAndTowers) {
  const std::string name(GetParam());
  if (!exact_) GTEST_SKIP() << "solves the convex law";
  if (name == "fp-ds") GTEST_SKIP() << "rho = 1 diverges where W is larger than 2";
  if (name == "nsgs-fp-ds-one") GTEST_SKIP() << "diverges where the tangents are softer than the normals";
  if (name == "lemke" || name == "dantzig") GTEST_SKIP() << "another cone: see FacetedCones";
  // Plain Newton cycles on some problems, as it does in the literature; then it says so.
  const bool may_fail = name.starts_with("nsn-") && !name.starts_with("nsn-fb");
  for (const double angle : {0.2, 0.9}) {
    const Report report = solve(test::cube_on_slope(angle, 0.6), 1e-10);
    if (may_fail && report.status != Status::converged) continue;
    ASSERT_EQ(report.status, Status::converged) << angle;
    test::expect_slope_impulses(solution_.impulse, angle, 0.6, 3.0);
  }
  // At rest everything stands still. A sliding tower has more than one motion under Coulomb's law: the certificate alone
  // can say that one was found.
  for (const bool slide : {false, true}) {
    const ContactProblem tower = test::tower(2, 1.0, slide);
    const Report report = solve(tower, 1e-8);
    if (may_fail && report.status != Status::converged) continue;
    ASSERT_EQ(report.status, Status::converged) << slide;
    EXPECT_LE(certify(tower, solution_).error.value, 1e-8);
    Solution other;
    ASSERT_EQ(make_solver("auto")->solve(tower, test::to(1e-9), other).status, Status::converged);
    if (!slide) {
      EXPECT_LT((solution_.velocity - other.velocity).lpNorm<Eigen::Infinity>(), 1e-7);
    }
  }
}

// Every kind of constraint, compliant so that the solution is unique.
TEST_P(ClassicalSolver, AllKinds) {
  const std::string name(GetParam());
  if (name == "fp-ds" || name == "nsgs-fp-ds-one" || name == "lemke" || name == "dantzig") {
    GTEST_SKIP() << "see CubesOnSlopesAndTowers";
  }
  for (const unsigned seed : {31u, 32u, 33u}) {
    const ContactProblem problem = test::all_kinds(seed, 1.0);
    for (const Law law : {Law::exact, Law::convex}) {
      if (!solver_->supports(law)) continue;
      ASSERT_EQ(solve(problem, 1e-9, law).status, Status::converged) << seed;
      const Vector expected = test::dense_reference(problem, law);
      EXPECT_LT((solution_.impulse - expected).lpNorm<Eigen::Infinity>(),
                1e-6 * expected.lpNorm<Eigen::Infinity>());
    }
  }
}

// Whatever becomes of it: nothing that is not a number, and no claim that the certificate does not confirm.
TEST_P(ClassicalSolver, FailsHonestly) {
  const Law law = exact_ ? Law::exact : Law::convex;
  Settings settings = test::to(1e-7, law);
  settings.max_iterations = 300;
  for (const ContactProblem& problem : {test::tower(6, 1e4, true), test::all_kinds(5, 0.0)}) {
    const Report report = solver_->solve(problem, settings, solution_);
    EXPECT_TRUE(solution_.impulse.allFinite());
    Solution bare;
    bare.impulse = solution_.impulse;
    const double error = certify(problem, bare, law).error.value;
    EXPECT_EQ(report.status == Status::converged, error <= 1e-7);
  }
}

TEST_P(ClassicalSolver, AllocatesNothingOnceWarm) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  const std::string name(GetParam());
  if (name == "lemke" || name == "dantzig") GTEST_SKIP() << "dense and small: it allocates";
  const ContactProblem problem = test::all_kinds(31, 1.0);
  Settings settings = test::to(1e-8, exact_ ? Law::exact : Law::convex);
  settings.max_iterations = 200;
  for (int warm = 0; warm < 2; ++warm) solver_->solve(problem, settings, solution_);
  const std::size_t before = test::allocation_count();
  solver_->solve(problem, settings, solution_);
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> list;
  for (const SolverInfo& info : solver_catalogue()) {
    if (is_classical(info.family)) list.push_back(info.name);
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, ClassicalSolver, testing::ValuesIn(names()), [](const auto& parameter) {
  std::string name(parameter.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(ClassicalSolvers, OptionsChooseTheVariants) {
  const ContactProblem problem = test::all_kinds(31, 1.0);
  Solution solution;
  for (const char* name : {"fp-vi-upk:scaled=off",
                           "eg-vi-upts:han_lo=on",
                           "nsn-ac:rho=largest",
                           "nsn-ac:rho=norm",
                           "nsn-ac-gp:rho=conditioned",
                           "nsn-fb:regularize=0.1",
                           "nsn-nm:search=armijo",
                           "nsgs-fp-vi-upk:adaptive=on,shuffle=every,seed=3",
                           "psor-ac:omega=1.2,relax=iterate",
                           "nsgs-ac:rho=constant",
                           "nsgs-ac:scaled=off,rho=constant",
                           "nsgs-exact:regularize=0.3",
                           "nsgs-fp-vi-upk:regularize=0.3,scaled=off",
                           "nsgs-fp-ds-one:regularize=2",
                           "tresca-nsgs-fp-vi-upk:regularize=0.1",
                           "ppa-nsn-ac:kind=tikhonov",
                           "ppa-nsgs-ac-adaptive:kind=tikhonov",
                           "ppa-nsn-ac:over=1.3",
                           "ppa-nsn-ac-gp:scaled=off",
                           "aclm-fp-vi-upk:scaled=off"}) {
    Settings settings = test::to(1e-7);
    settings.max_iterations = 200000;
    EXPECT_EQ(make_solver(name)->solve(problem, settings, solution).status, Status::converged) << name;
  }
}

// A point that sticks, W = I / m: one sweep of the regularised local problem, W + c W, goes 1 / (1 + c) of the way.
TEST(ClassicalSolvers, RegularisedSweepsAreProximal) {
  const ContactProblem problem = test::point_on_slope(0.2, 0.5);
  const Vec3 solution(-std::sin(0.2), 0.0, std::cos(0.2));
  for (const std::string name : {"nsgs-ac", "nsgs-exact"}) {
    Settings settings = test::to(1e-12);
    settings.max_iterations = 1;
    Solution first;
    make_solver(name + ":regularize=0.25")->solve(problem, settings, first);
    EXPECT_LT((1.25 * first.impulse - solution).norm(), 1e-9) << name;
  }
}

// What an inner engine had when the time was over may be the best there is: a single sweep, better than zero.
TEST(ClassicalSolvers, TimeOverInAnInnerProblemKeepsItsIterate) {
  const ContactProblem problem = test::tower(3, 1.0, false);
  for (const char* name : {"ppa-nsgs-ac", "aclm-nsgs-fp-vi-upk", "tresca-fp-vi-upk"}) {
    const auto inner = make_solver(name);
    double before = 0.0, after = 0.0;
    LoopSolver solver("test", [&](const ContactProblem&, Monitor& monitor) {
      before = monitor.best_error();
      monitor.run(*inner, {.seconds = 0.0});
      after = monitor.best_error();
      return Status::stalled;
    });
    Solution solution;
    solver.solve(problem, test::to(1e-9), solution);
    EXPECT_LT(after, 0.9 * before) << name;
  }
}

// Four corners under a cube at rest share its weight in many ways: Tikhonov's kind chooses the least impulses, which are
// equal ones, the proximal kind what is near to the start.
TEST(ClassicalSolvers, TikhonovChoosesTheLeastImpulses) {
  const double mass = 3.0, share = 0.25 * mass;  // impulse of weight 1 per mass
  const ContactProblem problem = test::cube_on_slope(0.0, 0.6, mass);
  for (const char* name : {"ppa-nsn-ac", "ppa-nsn-ac-adaptive"}) {
    for (const bool tikhonov : {false, true}) {
      Vector start = Vector::Zero(12);
      // A tenth too little, and more on the corners of one diagonal, which moves nothing.
      for (const Index row : {2, 11}) start[row] = 0.9 * share + 0.3;
      for (const Index row : {5, 8}) start[row] = 0.9 * share - 0.3;
      const auto solver = make_solver(std::string(name) + (tikhonov ? ":kind=tikhonov" : ""));
      Solution solution;
      ASSERT_EQ(solver->solve(problem, test::to(1e-8), solution, &start).status, Status::converged) << name;
      double farthest = 0.0;
      for (const Index row : {2, 5, 8, 11})
        farthest = std::max(farthest, std::abs(solution.impulse[row] - share));
      if (tikhonov) {
        EXPECT_LT(farthest, 1e-3) << name;
      } else {
        EXPECT_GT(farthest, 0.1) << name;
      }
    }
  }
}

// A regular W and a good start: Newton needs a handful of steps and a factorisation for each.
TEST(ClassicalSolvers, NewtonIsQuadratic) {
  const ContactProblem problem = test::all_kinds(32, 1.0);
  Solution solution;
  for (const char* name : {"nsn-ac-gp", "nsn-jm-gp", "nsn-nm-gp", "nsn-fb-gp"}) {
    const Report report = make_solver(name)->solve(problem, test::to(1e-11), solution);
    EXPECT_EQ(report.status, Status::converged) << name;
    EXPECT_LE(report.iterations, 25) << name;
    EXPECT_GE(report.factorizations, report.iterations) << name;
  }
}

// Along a corner of the polygon facets cost nothing; between two of them they cost 1 - cos(pi / F) of the friction.
TEST(FacetedCones, CostWhatTheirGeometrySays) {
  const double mu = 0.5;
  for (const char* method : {"lemke", "dantzig"}) {
    for (const Index facets : {4, 8, 16}) {
      const auto solver = make_solver(std::string(method) + ":facets=" + std::to_string(facets));
      for (const bool between : {false, true}) {
        const double turn = between ? M_PI / static_cast<double>(facets) : 0.0;
        ContactProblemBuilder builder;
        builder.add_tree(Mat3::Identity(), Vec3(2.0 * std::cos(turn), 2.0 * std::sin(turn), -1.0));
        builder.add_contact(mu, {{0, Mat3::Identity()}});
        Solution solution;
        const Report report = solver->solve(builder.build(), test::to(1e-9), solution);
        EXPECT_LT(report.faceted_error, 1e-8);
        EXPECT_NEAR(solution.impulse[2], 1.0, 1e-8);
        if (between) {
          // Two corners tie: the polygon's edge gives cos(pi / F) of the friction along the slip, at most all of it beside.
          const Vec2 along(std::cos(turn), std::sin(turn));
          EXPECT_NEAR(-solution.impulse.head<2>().dot(along),
                      mu * std::cos(M_PI / static_cast<double>(facets)), 1e-8);
          EXPECT_EQ(report.status, Status::stalled);
          EXPECT_GT(report.certificate.error.value, 1e-4);
        } else {
          EXPECT_EQ(report.status, Status::converged);
          EXPECT_NEAR(solution.impulse[0], -mu, 1e-8);
        }
      }
    }
  }
}

// Both solve the same problem; with more facets they come nearer to the round cone.
TEST(FacetedCones, ApproachTheRoundOne) {
  const ContactProblem problem = test::tower(2, 1.0, true);
  for (const char* method : {"lemke", "dantzig"}) {
    double last = 1.0;
    for (const char* facets : {"4", "16"}) {
      Solution solution;
      const auto solver = make_solver(std::string(method) + ":facets=" + facets);
      const Report report = solver->solve(problem, test::to(1e-9), solution);
      EXPECT_LT(report.faceted_error, 1e-7) << method << facets;
      EXPECT_LT(report.certificate.error.value, last) << method << facets;
      last = report.certificate.error.value;
    }
    EXPECT_LT(last, 0.1);
  }
}

// A constraint that nothing moves leaves no variable.
TEST(FacetedCones, NothingToPivotOn) {
  ContactProblemBuilder builder;
  builder.add_tree(Mat3::Identity(), Vec3(0.0, 0.0, -1.0));
  builder.add_contact(0.5, {{0, Mat3::Zero()}}, Vec3(0.0, 0.0, -1.0));
  const ContactProblem problem = builder.build();
  for (const char* name : {"lemke", "dantzig"}) {
    Solution solution;
    EXPECT_NE(make_solver(name)->solve(problem, {}, solution).status, Status::converged) << name;
    EXPECT_EQ(solution.impulse.norm(), 0.0) << name;
  }
}

// Scaled variables change the way, not the solution; here the problem is far from order one.
TEST(FacetedCones, ScalingChangesNoSolution) {
  ContactProblemBuilder builder;
  builder.add_tree(1e3 * Mat3::Identity(), Vec3(0.0, 0.4e3, -1e3));
  builder.add_contact(0.5, {{0, Mat3::Identity()}});
  const ContactProblem problem = builder.build();
  for (const std::string method : {"lemke", "dantzig"}) {
    for (const char* scaled : {"on", "off"}) {
      Solution solution;
      const auto solver = make_solver(method + ":scaled=" + scaled);
      EXPECT_EQ(solver->solve(problem, test::to(1e-9), solution).status, Status::converged)
          << method << scaled;
      EXPECT_LT((solution.impulse - Vec3(0.0, -0.4e3, 1e3)).norm(), 1e-5) << method << scaled;
    }
  }
}

// A sliding contact whose friction presses it down: the bounds of dantzig converge linearly while its basis stays, so that
// rounds without a pivot have to count, or neither iterations nor time would end them.
TEST(FacetedCones, RoundsWithoutPivotsAreIterations) {
  Mat3 w = Mat3::Identity();  // A^-1
  w(0, 2) = w(2, 0) = 0.8;
  const Mat3 mass = w.inverse();
  ContactProblemBuilder builder;
  builder.add_tree(0.5 * (mass + mass.transpose()), mass * Vec3(2.0, 0.0, -1.0));
  builder.add_contact(0.5, {{0, Mat3::Identity()}});
  const ContactProblem problem = builder.build();
  Solution solution;
  const auto solver = make_solver("dantzig:facets=4");
  const Report report = solver->solve(problem, test::to(1e-9), solution);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_NEAR(solution.impulse[2], 1.0 / (1.0 - 0.5 * 0.8), 1e-8);
  EXPECT_GT(report.iterations, 20);
  Settings few = test::to(1e-9);
  few.max_iterations = 10;
  const Report ended = solver->solve(problem, few, solution);
  EXPECT_EQ(ended.status, Status::iteration_limit);
  EXPECT_LE(ended.iterations, 10);
  EXPECT_GT(ended.faceted_error, 1e-6);
}

TEST(FacetedCones, RefuseLargeProblemsByStatus) {
  Solution solution;
  const auto solver = make_solver("lemke:most_variables=20");
  const Report report = solver->solve(test::tower(3, 1.0, false), {}, solution);
  EXPECT_EQ(report.status, Status::stalled);
  EXPECT_TRUE(std::isnan(report.faceted_error));
  EXPECT_TRUE(solution.impulse.allFinite());
}

}  // namespace
}  // namespace tribo
