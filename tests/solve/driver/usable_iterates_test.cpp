// What a solver returns when a budget ends it has to be usable: impulses in their cones, and no energy out of nothing.
#include <gtest/gtest.h>

#include <cmath>

#include "tribo/generate/generators.h"
#include "tribo/problem/passive_impulse.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

// How far contact impulses are out of their cones, over their size.
double cone_violation(const ContactProblem& problem, const Vector& impulse) {
  double worst = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.kind(i) != ConstraintKind::contact) continue;
    const Vec3 x = impulse.segment<3>(problem.row(i));
    const double outside = x.head<2>().norm() - problem.friction(i) * x.z();
    worst = std::max({worst, outside / (1e-300 + impulse.cwiseAbs().maxCoeff()),
                      -x.z() / (1e-300 + impulse.cwiseAbs().maxCoeff())});
  }
  return worst;
}

// Of the impulses on the free motion, from the masses alone: v . A v / 2 before and after, and the work against the bias, over
// the energy that is turned over.
double energy_gain(const ContactProblem& problem, const Vector& impulse) {
  Vector v(problem.dof_count()), free(problem.dof_count()), av(problem.dof_count()),
      afree(problem.dof_count());
  problem.generalized_velocity_of(impulse, v);
  problem.generalized_velocity_of(Vector::Zero(problem.row_count()), free);
  problem.mass().multiply(v, av);
  problem.mass().multiply(free, afree);
  const double gain = 0.5 * v.dot(av) - 0.5 * free.dot(afree) + impulse.dot(problem.bias());
  return gain / (0.5 * free.dot(afree) + 1e-300);
}

TEST(UsableIterates, StayInTheConeAndGainNoEnergy) {
  int raised = 0;  // iterates that would make bodies jump
  for (const char* kind : {"tower", "wall", "pile", "bolt", "dishes"}) {
    for (const std::uint64_t seed : {1u, 2u}) {
      GeneratorSettings scene;
      scene.bodies = 8;
      scene.mass_ratio = 1e3;
      scene.seed = seed;
      scene.slide = seed == 2;
      const ContactProblem problem = generate(kind, scene);
      for (const char* name : {"auto", "canal", "subadmm", "pgs", "nsgs", "admm", "alnewton", "ipm"}) {
        const auto solver = make_solver(name);
        for (const Index iterations : {1, 2, 4, 8, 16}) {
          Settings settings;
          settings.tolerance = 1e-12;
          settings.max_iterations = iterations;
          Solution solution;
          const Report report = solver->solve(problem, settings, solution);
          const std::string what = std::string(kind) + " " + name + " " + std::to_string(iterations);
          ASSERT_TRUE(solution.impulse.allFinite()) << what;
          EXPECT_LE(cone_violation(problem, solution.impulse), 1e-12) << what;
          const double gain = energy_gain(problem, solution.impulse);
          raised += gain > 1e-9 ? 1 : 0;
          const bool works = impulse_work(problem, solution) > 0.0;
          EXPECT_EQ(make_passive(problem, solution), works) << what;
          EXPECT_LE(energy_gain(problem, solution.impulse), 1e-10) << what << " " << to_string(report.status);
          EXPECT_LE(energy_gain(problem, solution.impulse), gain + 1e-10) << what;
          EXPECT_LE(cone_violation(problem, solution.impulse), 1e-12) << what;
          // What goes with the impulses is still theirs.
          Vector velocity(problem.row_count()), scratch(problem.dof_count());
          problem.velocity_of(solution.impulse, scratch, velocity);
          EXPECT_LE((velocity - solution.velocity).norm(), 1e-9 * (1.0 + velocity.norm())) << what;
          EXPECT_FALSE(make_passive(problem, solution) && impulse_work(problem, solution) > 1e-9) << what;
        }
      }
    }
  }
  EXPECT_GT(raised, 20);  // otherwise nothing was tested
}

}  // namespace
}  // namespace tribo
