#include "tribo/solve/splitting/subadmm.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <ostream>

#include "tests/support/allocation_counter.h"
#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/splitting/admm.h"

namespace tribo {
namespace {

struct Variant {
  const char* name;
  std::unique_ptr<Solver> (*make_with)(const SubAdmmOptions&);
  std::unique_ptr<Solver> make() const { return make_with({}); }
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

class Splittings : public testing::TestWithParam<Variant> {};

INSTANTIATE_TEST_SUITE_P(, Splittings,
                         testing::Values(Variant{"Body", make_subadmm}, Variant{"Tree", make_subadmm_nobody},
                                         Variant{"None", make_admm_full}),
                         [](const auto& variant) { return variant.param.name; });

ContactProblem compliant(const char* kind, Index bodies, bool slide) {
  return generate(kind, {.bodies = bodies, .slide = slide, .compliance = 1e-2, .seed = 1});
}

// Box with lower = upper, infinite bounds, a frictionless contact, compliance that differs between rows.
ContactProblem odd_sets() {
  test::Random random(8);
  const double infinity = std::numeric_limits<double>::infinity();
  ContactProblemBuilder builder;
  for (const Index size : {6, 4}) builder.add_tree(test::random_spd(random, size), 4.0 * random.vector(size));
  const auto pieces = [&](Index rows) {
    return std::vector<JacobianPiece>{{0, random.matrix(rows, 6)}, {1, random.matrix(rows, 4)}};
  };
  builder.add_box(0.3, 0.3, pieces(1));
  builder.add_box(-infinity, 0.1, pieces(1), 0.2, 0.1);
  builder.add_box(-infinity, infinity, pieces(1), 0.1, 0.05);
  builder.add_contact(0.0, pieces(3), random.vec3(), Vec3(0.1, 0.1, 0.05));
  builder.add_contact(0.6, pieces(3), random.vec3(), Vec3(0.1, 0.3, 0.02));
  return builder.build();
}

Solution solved(Solver& solver, const ContactProblem& problem, Law law, Index threads = 1) {
  Settings settings;
  settings.tolerance = 1e-10;
  settings.law = law;
  settings.threads = threads;
  settings.max_iterations = 50000;
  Solution solution;
  const Report report = solver.solve(problem, settings, solution);
  EXPECT_EQ(report.status, Status::converged) << report.certificate.error.value;
  return solution;
}

TEST_P(Splittings, ArriveWhereAdmmArrives) {
  const std::vector<ContactProblem> problems = {
      test::all_kinds(1, 0.1),      test::all_kinds(2, 1.0),      odd_sets(),
      compliant("tower", 3, true),  compliant("chain", 3, false), compliant("arm", 6, false),
      compliant("trees", 1, false), compliant("trees", 2, true),  compliant("pile", 15, false),
      test::cube_on_slope(0.3, 0.5)};
  for (std::size_t k = 0; k < problems.size(); ++k) {
    for (const Law law : {Law::exact, Law::convex}) {
      const Solution expected = solved(*make_admm(), problems[k], law);
      const Solution found = solved(*GetParam().make(), problems[k], law);
      const double scale = 1.0 + expected.velocity.lpNorm<Eigen::Infinity>();
      EXPECT_LT((found.velocity - expected.velocity).lpNorm<Eigen::Infinity>(), 1e-7 * scale)
          << "problem " << k << (law == Law::exact ? " exact" : " convex");
    }
  }
}

TEST_P(Splittings, UniformPenaltyAndPlainIterationArriveToo) {
  const ContactProblem problem = compliant("trees", 1, true);
  const Solution expected = solved(*make_admm(), problem, Law::exact);
  for (const char* scaling : {"contact", "uniform"}) {
    for (const char* memory : {"0", "5"}) {
      const auto solver = GetParam().make();
      solver->set_option("scaling", scaling);
      solver->set_option("anderson", memory);
      const Solution found = solved(*solver, problem, Law::exact);
      EXPECT_LT((found.velocity - expected.velocity).lpNorm<Eigen::Infinity>(), 1e-7) << scaling << memory;
    }
  }
}

TEST_P(Splittings, AnyNumberOfThreadsGivesTheSameBits) {
  for (const ContactProblem& problem :
       {compliant("trees", 5, true), generate("pile", {.bodies = 150, .seed = 2}), test::all_kinds(4, 0.1)}) {
    Settings settings;
    settings.tolerance = 1e-12;
    settings.max_iterations = 150;
    settings.islands = false;
    Solution one;
    const auto solver = GetParam().make();
    solver->solve(problem, settings, one);
    for (const Index threads : {2, 3, 5}) {
      settings.threads = threads;
      Solution many;
      solver->solve(problem, settings, many);
      EXPECT_TRUE((many.impulse.array() == one.impulse.array()).all()) << threads << " threads";
    }
  }
}

TEST_P(Splittings, AllocateNothingOnceWarmWithThreads) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  const ContactProblem problem = generate("trees", {.bodies = 4, .slide = true, .seed = 1});
  Settings settings;
  settings.threads = 2;
  settings.max_iterations = 60;
  settings.islands = false;
  Solution solution;
  const auto solver = GetParam().make();
  solver->solve(problem, settings, solution);
  const std::size_t before = test::allocation_count();
  solver->solve(problem, settings, solution);
  EXPECT_EQ(test::allocation_count(), before);
}

TEST_P(Splittings, UnsymmetricDelassusMatrixIsTheAuthority) {
  const auto solver = GetParam().make();
  for (const double skew : {0.0, 0.1}) {
    const ContactProblem problem = test::lifted_problem(2, skew);
    Settings settings;
    settings.tolerance = 1e-8;
    settings.max_iterations = 20000;
    Solution solution;
    EXPECT_EQ(solver->solve(problem, settings, solution).status, Status::converged) << skew;
  }
}

TEST_P(Splittings, WarmStartFromTheSolutionEndsAtOnce) {
  const ContactProblem problem = compliant("trees", 2, false);
  const auto solver = GetParam().make();
  const Solution solution = solved(*solver, problem, Law::exact);
  Settings settings;
  settings.tolerance = 1e-9;
  Solution again;
  const Vector near = 1.0001 * solution.impulse;
  const Report cold = solver->solve(problem, settings, again);
  const Report warm = solver->solve(problem, settings, again, &near);
  EXPECT_LT(warm.iterations, cold.iterations);
  EXPECT_EQ(solver->solve(problem, settings, again, &solution.impulse).iterations, 0);
}

}  // namespace
}  // namespace tribo
