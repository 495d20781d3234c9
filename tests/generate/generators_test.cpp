#include "tribo/generate/generators.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <algorithm>
#include <limits>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "tribo/base/errors.h"
#include "tribo/problem/certificate.h"

namespace tribo {
namespace {

struct Counts {
  std::string kind;
  Index bodies;
  Index trees, dofs, contacts, rows;
};

void PrintTo(const Counts& counts, std::ostream* out) { *out << counts.kind << counts.bodies; }

class GeneratorCounts : public testing::TestWithParam<Counts> {};

TEST_P(GeneratorCounts, MatchTheGeometry) {
  const Counts& expected = GetParam();
  const ContactProblem problem = generate(expected.kind, {.bodies = expected.bodies});
  EXPECT_EQ(problem.tree_count(), expected.trees);
  EXPECT_EQ(problem.dof_count(), expected.dofs);
  EXPECT_EQ(problem.contact_count(), expected.contacts);
  EXPECT_EQ(problem.row_count(), expected.rows);
}

// Wall of 10: columns 2, courses of 2, 3, 2, 3; 2 bricks on the ground, interfaces of 4, 4 and 4 pairs, 1 + 2
// + 1 + 2 head joints. Pyramid of 7: base 4, 4 + 2 (3 + 2 + 1) faces. Arm of 5: contacts of links 1, 3 and 4
// at the tip, limits of joints 0 and 3, friction of 5.
INSTANTIATE_TEST_SUITE_P(
    Kinds, GeneratorCounts,
    testing::Values(Counts{"tower", 1, 1, 6, 4, 12}, Counts{"tower", 10, 10, 60, 40, 120},
                    Counts{"wall", 10, 10, 60, 80, 240}, Counts{"wall", 1, 1, 6, 4, 12},
                    Counts{"pyramid", 10, 10, 60, 64, 192}, Counts{"pyramid", 7, 10, 60, 64, 192},
                    Counts{"chain", 10, 10, 60, 40, 150}, Counts{"pile", 1, 1, 6, 1, 3},
                    Counts{"bolt", 10, 1, 6, 120, 360}, Counts{"dishes", 10, 4, 24, 120, 360},
                    Counts{"arm", 5, 1, 5, 6, 25}, Counts{"arm", 1, 1, 1, 4, 14}));

class EveryGenerator : public testing::TestWithParam<std::string> {};

TEST_P(EveryGenerator, RepeatsItselfForTheSameSeedOnly) {
  GeneratorSettings settings{.bodies = 12, .slide = true, .seed = 3};
  const ContactProblem first = generate(GetParam(), settings);
  EXPECT_TRUE(first == generate(GetParam(), settings));
  settings.seed = 4;
  EXPECT_FALSE(first == generate(GetParam(), settings));
}

TEST_P(EveryGenerator, PutsTheComplianceOnContactRowsOnly) {
  EXPECT_TRUE(generate(GetParam(), {}).is_rigid());
  const ContactProblem problem = generate(GetParam(), {.compliance = 1e-4});
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double expected = problem.kind(i) == ConstraintKind::contact ? 1e-4 : 0.0;
    for (Index r = 0; r < problem.rows(i); ++r) EXPECT_EQ(problem.compliance()[problem.row(i) + r], expected);
  }
}

TEST_P(EveryGenerator, TakesFrictionAndTimeStep) {
  const ContactProblem own = generate(GetParam(), {});
  const ContactProblem given = generate(GetParam(), {.friction = 0.123, .time_step = 0.01});
  for (Index i = 0; i < own.constraint_count(); ++i) {
    if (own.kind(i) != ConstraintKind::contact) continue;
    EXPECT_GT(own.friction(i), 0.0);
    EXPECT_EQ(given.friction(i), 0.123);
  }
  // All these scenes start at rest: the momentum is h times the forces.
  const bool coarse = GetParam() == "bolt" || GetParam() == "dishes" || GetParam() == "trees";
  const double own_step = coarse ? 1.0 / 240.0 : 1e-3;
  EXPECT_TRUE(given.momentum().isApprox(own.momentum() * (0.01 / own_step), 1e-12));
}

TEST_P(EveryGenerator, GivesEveryConstraintItsOwnKey) {
  const ContactProblem problem = generate(GetParam(), {.bodies = 30});
  std::set<std::uint64_t> keys;
  for (Index i = 0; i < problem.constraint_count(); ++i) keys.insert(problem.key(i));
  EXPECT_EQ(static_cast<Index>(keys.size()), problem.constraint_count());
}

TEST_P(EveryGenerator, IsFiniteForOneBodyAndForExtremeMasses) {
  for (const GeneratorSettings& settings :
       {GeneratorSettings{.bodies = 1}, GeneratorSettings{.bodies = 2, .mass_ratio = 1e-8, .slide = true},
        GeneratorSettings{.bodies = 17, .mass_ratio = 1e8, .slide = true, .compliance = 1e-3, .seed = 9}}) {
    const ContactProblem problem = generate(GetParam(), settings);
    EXPECT_TRUE(problem.free_velocity().allFinite());
    EXPECT_GT(problem.contact_count(), 0);
  }
}

TEST_P(EveryGenerator, RefusesWrongSettingsByName) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<std::string, GeneratorSettings>> wrong{{"bodies", {.bodies = 0}},
                                                                     {"bodies", {.bodies = -5}},
                                                                     {"bodies", {.bodies = 2'000'001}},
                                                                     {"mass_ratio", {.mass_ratio = 0.0}},
                                                                     {"mass_ratio", {.mass_ratio = -1}},
                                                                     {"mass_ratio", {.mass_ratio = nan}},
                                                                     {"friction", {.friction = nan}},
                                                                     {"friction", {.friction = infinity}},
                                                                     {"compliance", {.compliance = -1}},
                                                                     {"compliance", {.compliance = nan}},
                                                                     {"time_step", {.time_step = 0.0}},
                                                                     {"time_step", {.time_step = nan}},
                                                                     {"time_step", {.time_step = infinity}}};
  for (const auto& [field, settings] : wrong) {
    try {
      generate(GetParam(), settings);
      ADD_FAILURE() << field << " accepted";
    } catch (const InvalidInput& error) {
      EXPECT_EQ(std::string(error.what()).rfind(field, 0), 0u) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryGenerator,
                         testing::Values("tower", "wall", "pyramid", "chain", "pile", "bolt", "dishes", "arm",
                                         "trees"),
                         [](const auto& kind) { return kind.param; });

TEST(Generators, UnknownKindListsTheKinds) {
  try {
    generate("castle", {});
    FAIL();
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("castle"), std::string::npos);
    for (const GeneratorInfo& info : generator_catalogue()) {
      EXPECT_NE(message.find(info.name), std::string::npos) << info.name;
    }
  }
}

TEST(Tower, MassesAreGeometricAndCubesHaveTheInertiaOfCubes) {
  const ContactProblem problem = generate("tower", {.bodies = 5, .mass_ratio = 1e4});
  for (Index i = 0; i < 5; ++i) {
    const double mass = std::pow(10.0, i);
    Vector diagonal(6);
    diagonal << Vec3::Constant(mass), Vec3::Constant(mass / 6.0);
    EXPECT_TRUE(problem.mass().block(i).isApprox(Matrix(diagonal.asDiagonal()), 1e-14)) << i;
  }
  EXPECT_EQ(problem.friction(0), 0.4);
}

TEST(Tower, SlidesAlternately) {
  const ContactProblem problem = generate("tower", {.bodies = 3, .slide = true});
  for (Index i = 0; i < 3; ++i) {
    const double sign = i % 2 == 0 ? 1.0 : -1.0;
    EXPECT_DOUBLE_EQ(problem.momentum()[6 * i], 0.5 * sign);
    EXPECT_DOUBLE_EQ(problem.momentum()[6 * i + 2], -9.81e-3);
    EXPECT_DOUBLE_EQ(problem.momentum()[6 * i + 5], 0.2 * sign / 6.0);
  }
}

// Each corner carries a quarter of the weight above: an exact solution at rest.
TEST(Tower, WeightInTheCornersSolvesIt) {
  const Index n = 10;
  const double h = 1e-3, ratio = 100.0;
  const ContactProblem problem = generate("tower", {.bodies = n, .mass_ratio = ratio});
  Solution solution;
  solution.impulse = Vector::Zero(problem.row_count());
  double above = 0.0;
  for (Index i = n - 1; i >= 0; --i) {
    above += std::pow(ratio, i / (n - 1.0));
    for (Index corner = 0; corner < 4; ++corner)
      solution.impulse[12 * i + 3 * corner + 2] = above * 9.81 * h / 4.0;
  }
  const Certificate certificate = certify(problem, solution);
  EXPECT_LT(certificate.error.value, 1e-9);
  EXPECT_LT(certificate.penetration_velocity.value, 1e-12);
  solution.impulse[2] *= 1.01;
  EXPECT_GT(certify(problem, solution).error.value, 1e-4);
}

TEST(Stacks, EveryBoxIsCarried) {
  for (const std::string kind : {"wall", "pyramid"}) {
    const ContactProblem problem = generate(kind, {.bodies = 40, .seed = 5});
    std::vector<Index> carried(problem.tree_count(), 0);
    const BlockJacobian& jacobian = problem.jacobian();
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const Index p = jacobian.piece_begin(i);
      const bool from_below = jacobian.piece(i, p)(2, 2) == 1.0;
      EXPECT_EQ(problem.bias()[problem.row(i) + 2] > 0.0, !from_below)
          << kind << ": bed touches, head is open";
      if (from_below) ++carried[jacobian.piece_tree(p)];
    }
    for (Index count : carried) EXPECT_GE(count, 4) << kind;
  }
}

TEST(Chain, SlidingRespectsTheJointsAndHeavyEndIsLast) {
  const ContactProblem problem = generate("chain", {.bodies = 6, .mass_ratio = 1e3, .slide = true});
  EXPECT_NEAR(problem.mass().block(5)(0, 0), 1e3, 1e-9);
  // The velocities before forces act: momentum minus the same scene's at rest.
  Vector v = problem.momentum() - generate("chain", {.bodies = 6, .mass_ratio = 1e3}).momentum();
  problem.mass_factor().solve_in_place(v);
  Vector u(problem.row_count());
  problem.jacobian().multiply(v, u);
  Index joints = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.kind(i) != ConstraintKind::bilateral) continue;
    ++joints;
    EXPECT_NEAR(u[problem.row(i)], 0.0, 1e-12);
  }
  EXPECT_EQ(joints, 18);
  EXPECT_GT(v.cwiseAbs().maxCoeff(), 0.4);
}

TEST(Bolt, NormalsPushOutwardsAlongBothFlanks) {
  const ContactProblem problem = generate("bolt", {.seed = 1});
  Index up = 0, open = 0;
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const auto block = problem.jacobian().piece(i, problem.jacobian().piece_begin(i));
    EXPECT_GT(std::abs(block(2, 2)), 0.7);
    if (block(2, 2) > 0.0) ++up;
    if (problem.bias()[problem.row(i) + 2] > 0.0) ++open;
  }
  EXPECT_EQ(up, 60);
  EXPECT_GT(open, 30);
  EXPECT_LT(open, 90);
}

TEST(Dishes, MassesAreThoseOfTheScene) {
  const ContactProblem problem = generate("dishes", {});
  const double masses[4] = {0.1, 0.1, 0.1, 5.0};
  for (Index i = 0; i < 4; ++i) EXPECT_EQ(problem.mass().block(i)(0, 0), masses[i]);
}

}  // namespace
}  // namespace tribo
