// A solver object that has solved a problem allocates nothing when it solves one of the same structure.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "tests/support/allocation_counter.h"
#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

struct Scene {
  const char* name;
  std::function<ContactProblem(bool)> make;  // false, true: the same structure with other values
};

ContactProblem generated(const char* kind, Index bodies, bool other) {
  GeneratorSettings settings;
  settings.bodies = bodies;
  settings.slide = true;
  settings.friction = other ? 0.35 : 0.25;
  return generate(kind, settings);
}

// Five bodies in a chain of contacts: 13 rows, 30 degrees of freedom.
ContactProblem few_rows(bool other) {
  test::Random random(other ? 2 : 1);
  ContactProblemBuilder builder;
  for (int t = 0; t < 5; ++t) builder.add_tree(test::random_spd(random, 6), random.vector(6));
  for (Index k = 0; k < 4; ++k) {
    builder.add_contact(0.5, {{k, random.matrix(3, 6)}, {k + 1, random.matrix(3, 6)}}, random.vec3());
  }
  builder.add_unilateral(std::vector<JacobianPiece>{{0, random.matrix(1, 6)}}, random.uniform());
  return builder.build();
}

// Three cubes with eight contacts each, two with one: five islands, two of them tiny.
ContactProblem islands(bool other) {
  test::Random random(other ? 4 : 3);
  ContactProblemBuilder builder;
  for (Index body = 0; body < 5; ++body) {
    builder.add_tree(test::random_spd(random, 6), random.vector(6));
    for (int k = 0; k < (body < 3 ? 8 : 1); ++k) {
      builder.add_contact(0.4, {{body, random.matrix(3, 6)}}, random.vec3(), Vec3::Constant(0.01));
    }
  }
  return builder.build();
}

ContactProblem frictionless_balls(bool other) {
  GeneratorSettings settings;
  settings.bodies = 200;
  settings.friction = 0.0;
  settings.mass_ratio = other ? 2.0 : 1.0;
  return generate("pile", settings);
}

std::vector<Scene> scenes() {
  return {
      {"Tower", [](bool other) { return generated("tower", 5, other); }},
      {"Bolt", [](bool other) { return generated("bolt", 1, other); }},
      {"Arm", [](bool other) { return generated("arm", 12, other); }},
      {"Chain", [](bool other) { return generated("chain", 6, other); }},
      {"Pile", [](bool other) { return generated("pile", 50, other); }},
      {"Lifted", [](bool other) { return test::lifted_problem(other ? 1 : 2, 0.0); }},
      {"LiftedUnsymmetric", [](bool other) { return test::lifted_problem(other ? 1 : 2, 0.1); }},
      {"AllKinds", [](bool other) { return test::mixed_problem(other ? 1 : 2); }},
      {"FewRows", few_rows},
      {"Islands", islands},
      {"Robots",
       [](bool other) {
         return test::robots_in_a_row({20, 24, 20, 12}, other ? 1 : 2, 3, 5);
       }},
  };
}

class Allocation : public testing::TestWithParam<std::tuple<const char*, Scene>> {};

TEST_P(Allocation, NoneOnceTheStructureIsKnown) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  const Scene& scene = std::get<1>(GetParam());
  const ContactProblem problem = scene.make(false), other = scene.make(true);
  const auto solver = make_solver(std::get<0>(GetParam()));
  Settings settings;
  settings.tolerance = 1e-9;
  settings.max_iterations = 300;
  for (const Law law : {Law::exact, Law::convex}) {
    if (!solver->supports(law)) continue;
    settings.law = law;
    Solution solution;
    // A stage of `auto`, or the search for a proof that there is no solution, is set up when a problem first needs it:
    // other values may need another one than these.
    solver->solve(other, settings, solution);
    solver->solve(problem, settings, solution);
    const Vector start = solution.impulse;

    std::size_t before = test::allocation_count();
    solver->solve(problem, settings, solution);
    EXPECT_EQ(test::allocation_count() - before, 0u) << "the same problem";
    before = test::allocation_count();
    solver->solve(other, settings, solution);
    EXPECT_EQ(test::allocation_count() - before, 0u) << "other values";
    before = test::allocation_count();
    solver->solve(problem, settings, solution, &start);
    EXPECT_EQ(test::allocation_count() - before, 0u) << "warm start";
  }
}

INSTANTIATE_TEST_SUITE_P(All, Allocation,
                         testing::Combine(testing::Values("auto", "admm", "alnewton", "ipm", "nsgs", "pgs"),
                                          testing::ValuesIn(scenes())),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)) + std::get<1>(test.param).name;
                         });
INSTANTIATE_TEST_SUITE_P(
    Options, Allocation,
    testing::Combine(testing::Values("admm:penalty=spectral", "admm:penalty=linear,operator=cone",
                                     "nsgs:local=newton", "nsgs:local=quartic,shuffle=every",
                                     "pgs:order=shuffled"),
                     testing::Values(scenes().front())));

// Ways of the impulses are kept, on their own and by auto.
INSTANTIATE_TEST_SUITE_P(Frictionless, Allocation,
                         testing::Combine(testing::Values("nsgs:accelerate=cg", "auto"),
                                          testing::Values(Scene{"Balls", frictionless_balls})));

INSTANTIATE_TEST_SUITE_P(Cascades, Allocation,
                         testing::Combine(testing::Values("sap", "canal"), testing::ValuesIn(scenes())));
INSTANTIATE_TEST_SUITE_P(CascadeVariants, Allocation,
                         testing::Combine(testing::Values("sap:near_rigid=off", "canal:corrector=off",
                                                          "canal:variant=printed", "canal:growth=2",
                                                          "al-dogleg", "al-damped"),
                                          testing::Values(scenes()[0], scenes()[6], scenes()[7])));

TEST(AllocationCounter, Counts) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  const std::size_t before = test::allocation_count();
  void* volatile memory = std::malloc(10);
  memory = std::realloc(memory, 100000);
  std::free(memory);
  double* volatile number = new double(1.0);
  delete number;
  Vector vector = Vector::Zero(100);
  Vector* volatile kept = &vector;
  kept->resize(200);
  EXPECT_EQ(test::allocation_count() - before, 5u);
}

}  // namespace
}  // namespace tribo
