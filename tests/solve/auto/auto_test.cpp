#include "tribo/solve/auto/auto.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "tests/support/dense_twin.h"
#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tests/support/sparse_samples.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/problem/natural_map.h"
#include "tribo/solve/auto/traits.h"
#include "tribo/solve/auto/tuning.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/systems/small_delassus.h"

namespace tribo {
namespace {

TEST(Auto, IsTheFirstOfTheCatalogue) { EXPECT_EQ(solver_catalogue().front().name, "auto"); }

TEST(Auto, EveryGeneratorUnderBothLaws) {
  for (const GeneratorInfo& kind : generator_catalogue()) {
    for (const Law law : {Law::exact, Law::convex}) {
      for (const bool slide : {false, true}) {
        GeneratorSettings scene;
        scene.bodies = 8;
        scene.slide = slide;
        scene.seed = 3;
        Settings settings;
        settings.law = law;
        settings.tolerance = 1e-8;
        Solution solution;
        const Report report = make_auto()->solve(generate(kind.name, scene), settings, solution);
        EXPECT_EQ(report.status, Status::converged) << kind.name << " " << static_cast<int>(law) << slide;
      }
    }
  }
}

// Whatever stage ends it: limits hold, velocities are those of the impulses, impulses lie in their sets.
TEST(Auto, WarmRobotsKeepTheirPromises) {
  int at_once = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const ContactProblem problem = test::robots_in_a_row({27, 27, 27, 27}, seed, 4, seed % 2 == 0 ? 6 : 0);
    test::Random random(seed);
    const auto solver = make_auto();
    Settings settings;
    settings.tolerance = 1e-10;
    Solution solution;
    ASSERT_EQ(solver->solve(problem, settings, solution).status, Status::converged);
    const double size = std::pow(10.0, random.uniform(-9.0, -1.0));
    const Vector start =
        solution.impulse + size * solution.impulse.norm() * random.vector(problem.row_count());
    settings.tolerance = 1e-6;
    settings.start_tolerance = 1e-9;
    for (const Index limit : {6, 20000}) {
      settings.max_iterations = limit;
      const Report report = solver->solve(problem, settings, solution, &start);
      EXPECT_LE(report.iterations, limit);
      if (limit > 6) {
        EXPECT_EQ(report.status, Status::converged);
      }
      EXPECT_GT(report.start_error, 0.0);
      at_once += report.factorizations == 1 ? 1 : 0;
      Vector v, u;
      problem.velocity_of(solution.impulse, v, u);
      EXPECT_LT((u - solution.velocity).norm(), 1e-12 * (1.0 + u.norm()));
      Vector inside = solution.impulse;
      project_impulse(problem, inside);
      const Vector outside = inside - solution.impulse;
      EXPECT_LT(impulse_sizes(problem, outside).largest, 1e-11 * problem.largest_demand());
    }
  }
  EXPECT_GT(at_once, 20);  // near a solution one step is enough
}

// A start that would do, made better by a stage that solves with a workspace of its own: the velocities go with it.
TEST(Auto, VelocitiesBelongToTheImpulses) {
  GeneratorSettings made;
  made.bodies = 8;
  const ContactProblem problem = generate("tower", made);
  const auto solver = make_solver("auto:large=1");
  Settings settings;
  settings.tolerance = 1e-9;
  Solution solution;
  ASSERT_EQ(make_solver("auto")->solve(problem, settings, solution).status, Status::converged);
  const Vector start = (1.0 + 1e-5) * solution.impulse;
  settings.tolerance = 1e-3;
  settings.start_tolerance = 1e-9;
  for (const bool full : {true, false}) {
    settings.full_certificate = full;
    const Report report = solver->solve(problem, settings, solution, &start);
    EXPECT_EQ(report.status, Status::converged);
    ASSERT_LT((solution.impulse - start).norm(), 1e-2 * start.norm());
    Vector v, u;
    problem.velocity_of(solution.impulse, v, u);
    EXPECT_LT((u - solution.velocity).norm(), 1e-12 * (1.0 + u.norm()));
    EXPECT_LT((v - solution.generalized_velocity).norm(), 1e-12 * (1.0 + v.norm()));
  }
}

TEST(Auto, TinyProblemsNeedNoFactorisation) {
  for (const double angle : {0.1, 0.8}) {
    Settings settings;
    settings.explain = true;
    Solution solution;
    const Report report = make_auto()->solve(test::point_on_slope(angle, 0.4), settings, solution);
    EXPECT_EQ(report.status, Status::converged);
    EXPECT_EQ(report.factorizations, 0);
    ASSERT_EQ(report.stages.size(), 1u);
    EXPECT_EQ(report.stages[0].name, "tiny sweeps");
  }
}

// A cube rotates about its edges slowly under Gauss-Seidel: the dense Newton takes over.
TEST(Auto, TinyIslandsEndExactly) {
  for (const double angle : {0.1, 0.3805, 0.6}) {
    Settings settings;
    settings.tolerance = 1e-11;
    Solution solution;
    const Report report = make_auto()->solve(test::cube_on_slope(angle, 0.4), settings, solution);
    EXPECT_EQ(report.status, Status::converged);
    test::expect_slope_impulses(solution.impulse, angle, 0.4, 3.0);
  }
}

TEST(Auto, ExplainsItsStages) {
  GeneratorSettings scene;
  scene.bodies = 10;
  scene.mass_ratio = 1e4;
  scene.slide = true;
  Settings settings;
  settings.explain = true;
  settings.history = true;
  Solution solution;
  // Without its row for stacks, which would solve it alone.
  const Report report = make_auto({.skip = 4})->solve(generate("tower", scene), settings, solution);
  ASSERT_EQ(report.status, Status::converged);
  ASSERT_GE(report.stages.size(), 2u);
  EXPECT_EQ(report.stages.front().name, "nsgs");
  Index iterations = 0, factorizations = 0;
  for (const Stage& stage : report.stages) {
    iterations += stage.iterations;
    factorizations += stage.factorizations;
    EXPECT_EQ(stage.islands, 1);
  }
  EXPECT_EQ(iterations, report.iterations);
  EXPECT_EQ(factorizations, report.factorizations);
  EXPECT_LE(report.stages.back().error, 1e-6);
  for (std::size_t k = 1; k < report.history.size(); ++k) {
    EXPECT_GE(report.history[k].iteration, report.history[k - 1].iteration);
    EXPECT_GE(report.history[k].seconds, report.history[k - 1].seconds);
  }
}

TEST(Auto, StopsAtTheIterationLimitOverAllStages) {
  GeneratorSettings scene;
  scene.bodies = 10;
  scene.slide = true;
  scene.mass_ratio = 1e4;
  Settings settings;
  settings.max_iterations = 5;
  settings.tolerance = 1e-12;
  Solution solution;
  const Report report = make_auto()->solve(generate("tower", scene), settings, solution);
  EXPECT_EQ(report.status, Status::iteration_limit);
  EXPECT_LE(report.iterations, 5);
}

TEST(SmallDelassus, IsTheDelassusMatrix) {
  const ContactProblem cube = test::cube_on_slope(0.2, 0.3);
  SmallDelassus small;
  ASSERT_TRUE(SmallDelassus::is_tiny(cube));
  EXPECT_LE((Matrix(small.assemble(cube)) - test::dense_delassus(cube)).cwiseAbs().maxCoeff(), 1e-14);
}

// Trees of several sizes, shared and not, and a scalar row between them.
TEST(SmallDelassus, CouplesThroughSharedTreesOnly) {
  test::Random random(3);
  ContactProblemBuilder builder;
  for (const Index size : {6, 9, 1}) builder.add_tree(test::random_spd(random, size), random.vector(size));
  builder.add_contact(0.3, {{0, random.matrix(3, 6)}, {1, random.matrix(3, 9)}});
  builder.add_bilateral(std::vector<JacobianPiece>{{1, random.matrix(1, 9)}, {2, random.matrix(1, 1)}});
  builder.add_contact(0.3, {{0, random.matrix(3, 6)}});
  const ContactProblem problem = builder.build();
  SmallDelassus small;
  const Matrix a = test::dense(problem.mass());
  const Matrix j = test::dense(problem.jacobian(), problem.dof_count());
  const Matrix w = j * a.llt().solve(j.transpose());
  EXPECT_LT((small.assemble(problem) - w).norm(), 1e-12 * w.norm());
  EXPECT_TRUE((small.matrix().block<1, 3>(3, 4).isZero(0.0)));
}

// Bodies that bend take sweeps only as far as these promise to be cheaper than an interior point, then that.
TEST(Auto, FlexibleBodiesTakeSweepsOrNewton) {
  for (const Index side : {4, 7}) {
    const ContactProblem problem = test::soft_block(41, 0.0, side).sparse;
    const ProblemTraits traits = classify(problem, Law::exact, true);
    ASSERT_TRUE(traits.flexible);
    const double worth = tuning::kFlexibleFactors * traits.factor_sweeps;
    Settings settings;
    settings.explain = true;
    Solution solution;
    const Vector far = Vector::Constant(problem.row_count(), 1e-2);
    for (const Vector* start : {static_cast<const Vector*>(nullptr), &far}) {
      const Report report = make_auto()->solve(problem, settings, solution, start);
      ASSERT_EQ(report.status, Status::converged) << side;
      EXPECT_LE(certify(problem, solution, settings.law).error.value, settings.tolerance);
      for (const Stage& stage : report.stages) {
        EXPECT_TRUE(stage.name != "admm" && stage.name != "canal") << stage.name;
        if (stage.name == "nsgs") {
          EXPECT_LE(stage.iterations, 1.2 * worth + 20.0);
        }
      }
    }
  }
}

// The height must not show in the number of factorisations.
TEST(Auto, StacksTakeAFewFactorisationsWhateverTheirHeight) {
  for (const double ratio : {1.0, 1e4}) {
    for (const bool slide : {false, true}) {
      for (const Index height : {10, 120}) {
        GeneratorSettings scene;
        scene.bodies = height;
        scene.mass_ratio = ratio;
        scene.slide = slide;
        Settings settings;
        settings.measure = Measure::siconos;
        settings.tolerance = 1e-8;
        Solution solution;
        const Report report = make_auto()->solve(generate("tower", scene), settings, solution);
        EXPECT_EQ(report.status, Status::converged) << height << " " << ratio << " " << slide;
        EXPECT_LE(report.factorizations, slide ? 60 : 6) << height << " " << ratio << " " << slide;
      }
    }
  }
}

}  // namespace
}  // namespace tribo
