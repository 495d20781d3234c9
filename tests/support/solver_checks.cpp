#include "tests/support/solver_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tribo/generate/generators.h"

namespace tribo::test {

Settings to(double tolerance, Law law) {
  Settings settings;
  settings.tolerance = tolerance;
  settings.law = law;
  return settings;
}

ContactProblem tower(Index cubes, double mass_ratio, bool slide) {
  GeneratorSettings settings;
  settings.bodies = cubes;
  settings.mass_ratio = mass_ratio;
  settings.slide = slide;
  return generate("tower", settings);
}

void expect_points_on_slopes(Solver& solver) {
  const double mu = 0.5;
  Solution solution;
  for (const double angle : {0.1, 0.4, 0.46, 0.47, 0.8, 1.2}) {
    const ContactProblem problem = point_on_slope(angle, mu);
    ASSERT_EQ(solver.solve(problem, to(1e-11), solution).status, Status::converged) << angle;
    const double normal = std::cos(angle);
    const double friction = std::min(mu * normal, std::sin(angle));
    EXPECT_NEAR(solution.impulse[2], normal, 1e-10);
    EXPECT_NEAR(solution.impulse[0], -friction, 1e-10);
    EXPECT_NEAR(solution.velocity[0], (std::sin(angle) - friction) / 2.0, 1e-10);
  }
}

void expect_cubes_on_slopes(Solver& solver) {
  Solution solution;
  for (const double angle : {0.2, 0.9}) {
    const double mu = 0.6, mass = 3.0;
    ASSERT_EQ(solver.solve(cube_on_slope(angle, mu, mass), to(1e-10), solution).status, Status::converged);
    expect_slope_impulses(solution.impulse, angle, mu, mass);
  }
}

void expect_all_kinds(Solver& solver, std::string_view other) {
  for (const unsigned seed : {31u, 32u, 33u}) {
    const ContactProblem problem = all_kinds(seed, 1.0);
    for (const Law law : {Law::exact, Law::convex}) {
      Solution solution, by_other;
      ASSERT_EQ(solver.solve(problem, to(1e-11, law), solution).status, Status::converged);
      ASSERT_EQ(make_solver(other)->solve(problem, to(1e-11, law), by_other).status, Status::converged);
      const Vector expected = dense_reference(problem, law);
      const double size = expected.lpNorm<Eigen::Infinity>();
      EXPECT_LT((solution.impulse - expected).lpNorm<Eigen::Infinity>(), 1e-8 * size);
      EXPECT_LT((solution.velocity - by_other.velocity).lpNorm<Eigen::Infinity>(), 1e-8);
    }
  }
}

}  // namespace tribo::test
