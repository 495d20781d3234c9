#include "tribo/problem/islands.h"

#include <gtest/gtest.h>

#include "tests/support/dense_twin.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo {
namespace {

// Trees 0-5; constraints: {0,2}, {1}, {2,4}, {3}, {1}, none at all; tree 5 is free.
ContactProblem scattered() {
  test::Random random(7);
  ContactProblemBuilder builder;
  for (int t = 0; t < 6; ++t) builder.add_tree(test::random_spd(random, 6), random.vector(6));
  const auto piece = [&](Index tree) { return JacobianPiece{tree, random.matrix(3, 6)}; };
  builder.add_contact(0.3, {piece(0), piece(2)}, random.vec3());
  builder.add_contact(0.5, {piece(1)}, random.vec3());
  builder.add_contact(0.0, {piece(2), piece(4)}, random.vec3(), Vec3(0.1, 0.1, 0.2));
  builder.add_box(-1.0, 2.0, std::vector<JacobianPiece>{{3, random.matrix(1, 6)}}, 0.5);
  builder.add_contact(0.7, {piece(1)}, random.vec3());
  builder.add_contact(0.7, std::span<const JacobianPiece>(), random.vec3());
  return builder.build();
}

TEST(Islands, NumbersThemByTheirFirstConstraint) {
  const ContactProblem problem = scattered();
  Islands islands;
  islands.find(problem);
  ASSERT_EQ(islands.count(), 4);
  const auto list = [](std::span<const Index> s) { return std::vector<Index>(s.begin(), s.end()); };
  EXPECT_EQ(list(islands.constraints(0)), (std::vector<Index>{0, 2}));
  EXPECT_EQ(list(islands.constraints(1)), (std::vector<Index>{1, 4}));
  EXPECT_EQ(list(islands.constraints(2)), (std::vector<Index>{3}));
  EXPECT_EQ(list(islands.constraints(3)), (std::vector<Index>{5}));
  EXPECT_EQ(list(islands.trees(0)), (std::vector<Index>{0, 2, 4}));
  EXPECT_EQ(list(islands.trees(1)), (std::vector<Index>{1}));
  EXPECT_TRUE(islands.trees(3).empty());
}

TEST(Islands, PutsSmallOnesTogether) {
  const ContactProblem problem = scattered();
  Islands islands;
  islands.find(problem, 1);
  ASSERT_EQ(islands.count(), 3);
  const auto list = [](std::span<const Index> s) { return std::vector<Index>(s.begin(), s.end()); };
  EXPECT_EQ(list(islands.constraints(0)), (std::vector<Index>{0, 2}));
  EXPECT_EQ(list(islands.constraints(1)), (std::vector<Index>{1, 4}));
  EXPECT_EQ(list(islands.constraints(2)), (std::vector<Index>{3, 5}));
  islands.find(problem, 2);
  EXPECT_EQ(islands.count(), 1);
}

// W and q of the parts, put together, are W and q of the whole.
void expect_same_physics(const ContactProblem& problem) {
  Islands islands;
  islands.find(problem);
  ASSERT_GT(islands.count(), 1);
  test::Random random(3);
  const Vector impulse = random.vector(problem.row_count());
  Vector scratch, whole, together(problem.row_count()), part_impulse, part_velocity;
  problem.velocity_of(impulse, scratch, whole);
  double energy = 0.0;
  ContactProblem part;
  for (Index k = 0; k < islands.count(); ++k) {
    islands.extract(problem, k, part);
    islands.gather(problem, k, impulse, part_impulse);
    ASSERT_EQ(part.row_count(), part_impulse.size());
    part.velocity_of(part_impulse, scratch, part_velocity);
    islands.scatter(problem, k, part_velocity, together);
    energy += part.free_energy();
    for (Index i = 0; i < part.constraint_count(); ++i) {
      const Index original = islands.constraints(k)[i];
      EXPECT_EQ(part.kind(i), problem.kind(original));
      EXPECT_EQ(part.scale(i), problem.scale(original));
      EXPECT_EQ(part.friction(i), problem.friction(original));
      EXPECT_EQ(part.key(i), problem.key(original));
      EXPECT_EQ(part.delassus_diagonal(i), problem.delassus_diagonal(original));
    }
  }
  EXPECT_LE((together - whole).lpNorm<Eigen::Infinity>(), 1e-13 * whole.lpNorm<Eigen::Infinity>());
  EXPECT_LE(energy, problem.free_energy() * (1.0 + 1e-12));
}

TEST(Islands, PartsAddUpToTheWhole) { expect_same_physics(scattered()); }

TEST(Islands, PartsOfAnExplicitDelassusMatrixAddUp) { expect_same_physics(test::lifted_problem(1, 0.1)); }

TEST(Islands, ATowerIsOne) {
  Islands islands;
  islands.find(generate("tower", {}));
  EXPECT_EQ(islands.count(), 1);
  islands.find(ContactProblem());
  EXPECT_EQ(islands.count(), 0);
}

// Robots that do not touch: their articulation goes with them.
TEST(Islands, KeepTheArticulation) {
  GeneratorSettings settings;
  settings.bodies = 1;
  const ContactProblem problem = generate("trees", settings);
  Islands islands;
  islands.find(problem);
  ASSERT_EQ(islands.count(), 1);
  ContactProblem part;
  islands.extract(problem, 0, part);
  ASSERT_NE(part.structure().articulation(0), nullptr);
  EXPECT_EQ(part.structure().articulation(0)->parent, problem.structure().articulation(0)->parent);
  for (Index p = 0; p < problem.jacobian().piece_count(); ++p) {
    ASSERT_EQ(part.structure().term_begin(p), problem.structure().term_begin(p));
    ASSERT_EQ(part.structure().term_end(p), problem.structure().term_end(p));
  }
  EXPECT_TRUE(part == problem);
}

// A constraint judged where it stands and as the problem that it is.
TEST(Islands, AnIslandOfOneConstraintIsJudgedInPlace) {
  const ContactProblem problem = scattered();
  Islands islands;
  islands.find(problem);
  test::Random random(11);
  const Vector impulse = random.vector(problem.row_count());
  Vector v, u;
  problem.velocity_of(impulse, v, u);
  for (const Index island : {2, 3}) {
    ASSERT_EQ(islands.constraints(island).size(), 1u);
    ContactProblem part;
    islands.extract(problem, island, part);
    Solution alone;
    islands.gather(problem, island, impulse, alone.impulse);
    const Certificate certificate = certify(part, alone);
    for (const Measure measure : {Measure::scaled, Measure::fclib, Measure::siconos}) {
      const double error = Certifier::error_alone(problem, islands.constraints(island).front(), impulse, u,
                                                  Law::exact, measure);
      EXPECT_NEAR(error, value_of(certificate, measure), 1e-12 * error) << island << to_string(measure);
    }
  }
}

}  // namespace
}  // namespace tribo
