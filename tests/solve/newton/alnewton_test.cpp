#include "tribo/solve/newton/alnewton.h"

#include <gtest/gtest.h>

#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

Report solve(const ContactProblem& problem, Settings settings, Solution& solution,
             const char* name = "alnewton", const Vector* start = nullptr) {
  settings.islands = false;
  return make_solver(name)->solve(problem, settings, solution, start);
}

TEST(AlNewton, CubeOnSlope) {
  for (const double angle : {0.1, 0.3, 0.38, 0.42, 0.8}) {  // sticks up to atan(0.4) = 0.3805
    const ContactProblem problem = test::cube_on_slope(angle, 0.4, 3.0);
    Settings settings;
    settings.tolerance = 1e-11;
    Solution solution;
    EXPECT_EQ(solve(problem, settings, solution).status, Status::converged);
    test::expect_slope_impulses(solution.impulse, angle, 0.4, 3.0);
  }
}

// Compliant, so that the solution is unique, of every kind of constraint, under both laws.
TEST(AlNewton, AgreesWithADenseIteration) {
  for (const Law law : {Law::exact, Law::convex}) {
    for (const unsigned seed : {1u, 2u, 3u}) {
      const ContactProblem problem = test::all_kinds(seed, 1.0);
      Settings settings;
      settings.law = law;
      settings.tolerance = 1e-10;
      Solution solution;
      ASSERT_EQ(solve(problem, settings, solution).status, Status::converged);
      const Vector reference = test::dense_reference(problem, law);
      EXPECT_LE((solution.impulse - reference).lpNorm<Eigen::Infinity>(),
                1e-7 * reference.lpNorm<Eigen::Infinity>());
    }
  }
}

TEST(AlNewton, SolvesUnsymmetricDelassusMatrices) {
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    Settings settings;
    settings.tolerance = 1e-10;
    Solution solution;
    EXPECT_EQ(solve(test::lifted_problem(seed, 0.1), settings, solution).status, Status::converged);
  }
}

TEST(AlNewton, TowersOfLargeMassRatioAtRestAndSliding) {
  for (const double ratio : {1.0, 1e4}) {
    for (const bool slide : {false, true}) {
      GeneratorSettings scene;
      scene.bodies = 10;
      scene.mass_ratio = ratio;
      scene.slide = slide;
      Settings settings;
      settings.measure = Measure::siconos;
      settings.tolerance = 1e-8;
      Solution solution;
      const Report report = solve(generate("tower", scene), settings, solution);
      EXPECT_EQ(report.status, Status::converged) << ratio << slide;
      EXPECT_LE(report.certificate.error.value, 1e-6);
    }
  }
}

// Anisotropic compliance: the two tangents differ, the proximal term makes up for it.
TEST(AlNewton, TangentsOfDifferentCompliance) {
  ContactProblemBuilder builder;
  const Index body = builder.add_tree(2.0 * Mat3::Identity(), Vec3(0.3, 0.2, -2.0));
  builder.add_contact(0.9, {{body, Mat3::Identity()}}, Vec3::Zero(), Vec3(0.5, 0.1, 0.2));
  Settings settings;
  settings.tolerance = 1e-12;
  Solution solution;
  ASSERT_EQ(solve(builder.build(), settings, solution).status, Status::converged);
  // Sticking: (1/m + R) lambda = -q on every row.
  EXPECT_NEAR(solution.impulse[0], -0.15 / (0.5 + 0.5), 1e-10);
  EXPECT_NEAR(solution.impulse[1], -0.1 / (0.5 + 0.1), 1e-10);
  EXPECT_NEAR(solution.impulse[2], 1.0 / (0.5 + 0.2), 1e-10);
}

TEST(AlNewton, AWarmStartSavesFactorisations) {
  GeneratorSettings scene;
  scene.bodies = 10;
  scene.slide = true;
  const ContactProblem problem = generate("tower", scene);
  Settings settings;
  settings.tolerance = 1e-9;
  Solution solution, again;
  const Index cold = solve(problem, settings, solution).factorizations;
  scene.time_step = 1.02e-3;  // the next step of a simulation is much like this one
  const ContactProblem next = generate("tower", scene);
  const Report warm = solve(next, settings, again, "alnewton:beta=1000", &solution.impulse);
  EXPECT_EQ(warm.status, Status::converged);
  EXPECT_LT(warm.factorizations, cold);
}

TEST(AlNewton, AFirstStageOfAdmmIsPartOfTheSolve) {
  GeneratorSettings scene;
  scene.bodies = 10;
  scene.slide = true;
  Settings settings;
  settings.tolerance = 1e-9;
  Solution solution;
  EXPECT_EQ(solve(generate("tower", scene), settings, solution, "alnewton:first_stage=40").status,
            Status::converged);
}

TEST(AlNewton, RespectsItsLimits) {
  GeneratorSettings scene;
  scene.bodies = 10;
  scene.mass_ratio = 1e4;
  scene.slide = true;
  const ContactProblem problem = generate("tower", scene);
  Settings settings;
  settings.max_iterations = 3;
  Solution solution;
  const Report few = solve(problem, settings, solution);
  EXPECT_EQ(few.status, Status::iteration_limit);
  EXPECT_LE(few.iterations, 3);
  settings.max_iterations = 20000;
  settings.time_limit = 1e-9;
  EXPECT_EQ(solve(problem, settings, solution).status, Status::time_limit);
  EXPECT_TRUE(solution.impulse.allFinite());
}

TEST(AlNewton, PredictsStacksAtRestWhateverTheirHeight) {
  for (const char* kind : {"tower", "wall"}) {
    for (const Index bodies : {10, kind == std::string_view("tower") ? 100 : 20}) {
      GeneratorSettings scene;
      scene.bodies = bodies;
      const ContactProblem problem = generate(kind, scene);
      Settings settings;
      settings.islands = false;
      settings.tolerance = 1e-8;
      Index factorizations[2];
      for (const int predicts : {0, 1}) {
        const std::unique_ptr<Solver> solver = make_alnewton();
        solver->set_option("prediction", predicts == 1 ? "first" : "off");
        Solution solution;
        const Report report = solver->solve(problem, settings, solution);
        EXPECT_EQ(report.status, Status::converged) << kind << bodies;
        factorizations[predicts] = report.factorizations;
      }
      EXPECT_LE(factorizations[1], 4) << kind << bodies;
      EXPECT_LT(factorizations[1], factorizations[0]) << kind << bodies;
    }
  }
}

// Neither the load nor the border between sticking and sliding may travel contact by contact.
TEST(AlNewton, FollowsSlidingStacksWhateverTheirHeight) {
  for (const double ratio : {1.0, 1e4}) {
    for (const Index bodies : {20, 80, 160}) {
      GeneratorSettings scene;
      scene.bodies = bodies;
      scene.mass_ratio = ratio;
      scene.slide = true;
      Settings settings;
      settings.measure = Measure::siconos;
      settings.tolerance = 1e-8;
      Solution solution;
      const Report report = solve(generate("tower", scene), settings, solution);
      EXPECT_EQ(report.status, Status::converged) << bodies << " " << ratio;
      EXPECT_LE(report.factorizations, 60) << bodies << " " << ratio;
    }
  }
}

// Where the prediction is all that is allowed, a problem that is not at rest costs no factorisation, and a stack
// that cannot be predicted no more than the few that show it.
TEST(AlNewton, GivesUpAPredictionThatFails) {
  GeneratorSettings scene;
  scene.bodies = 4;
  Settings settings;
  settings.islands = false;
  const std::unique_ptr<Solver> solver = make_alnewton();
  solver->set_option("prediction", "only");
  Solution solution;
  Report report = solver->solve(generate("dishes", scene), settings, solution);
  EXPECT_EQ(report.status, Status::stalled);
  EXPECT_EQ(report.factorizations, 0);
  scene.bodies = 60;
  scene.slide = true;
  scene.mass_ratio = 1e4;
  report = solver->solve(generate("wall", scene), settings, solution);
  EXPECT_EQ(report.status, Status::stalled);
  EXPECT_LE(report.factorizations, 12);
}

}  // namespace
}  // namespace tribo
