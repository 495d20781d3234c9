#include "tribo/generate/quadruped.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tribo/generate/rigid_scene.h"

namespace tribo {
namespace {

using detail::Quadruped;

Quadruped sample(std::uint64_t seed = 5) {
  detail::Random random(seed);
  return detail::random_quadruped(random, Vec3(0.4, -0.3, 0.2), 1.0);
}

TEST(Quadruped, MovesAsAWholeWithItsWholeMass) {
  const Quadruped robot = sample();
  const double mass = 5.0 + 4.0 * (1.1 + 1.5 + 0.3);
  EXPECT_TRUE((robot.mass.topLeftCorner<3, 3>()).isApprox(mass * Mat3::Identity(), 1e-12));
  EXPECT_TRUE((robot.weight.head<3>()).isApprox(Vec3(0.0, 0.0, -detail::kGravity * mass), 1e-12));
  EXPECT_GT(robot.mass.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff(), 0.0);
}

// A rigid rotation of everything about the trunk's centre moves every point p with w x (p - c).
TEST(Quadruped, RotatingTheTrunkCarriesThePoints) {
  const Quadruped robot = sample();
  const Vec3 spin(0.3, -0.7, 0.2);
  Vector v = Vector::Zero(Quadruped::kDofs);
  v.segment<3>(3) = spin;
  for (Index p = 0; p < Quadruped::kPoints; ++p) {
    const Matrix rows = robot.body_rows(Mat3::Identity(), robot.point[p]);
    const Vec3 moved = robot.path_rows(rows, robot.body[p]) * v;
    EXPECT_TRUE(moved.isApprox(spin.cross(robot.point[p] - robot.centre), 1e-12)) << p;
  }
}

// A knee hinge moves the foot across the shank and leaves the knee where it is.
TEST(Quadruped, KneesTurnTheShanks) {
  const Quadruped robot = sample();
  for (Index leg = 0; leg < 4; ++leg) {
    const Index knee = 8 + 3 * leg;
    EXPECT_EQ(robot.body[leg], knee);
    EXPECT_EQ(robot.body[4 + leg], knee - 1);
    const Matrix rows = robot.body_rows(Mat3::Identity(), robot.point[leg]);
    const Vec3 foot = robot.path_rows(rows, knee).col(knee);
    EXPECT_NEAR(foot.norm(), 0.25, 1e-12);
    EXPECT_NEAR(foot.dot(robot.point[leg] - robot.point[4 + leg]), 0.0, 1e-12);
    const Matrix still = robot.body_rows(Mat3::Identity(), robot.point[4 + leg]);
    EXPECT_NEAR((still * robot.articulation.motion.col(knee)).norm(), 0.0, 1e-12);
  }
}

TEST(Trees, HaveTheContactsOfTableThree) {
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const ContactProblem problem = generate("trees", {.bodies = 8, .slide = true, .seed = seed});
    EXPECT_EQ(problem.tree_count(), 8);
    EXPECT_EQ(problem.dof_count(), 144);
    EXPECT_GE(problem.contact_count(), 78);
    EXPECT_LE(problem.contact_count(), 104);
    EXPECT_GT(problem.constraint_count(), problem.contact_count()) << "joint limits";
  }
}

TEST(Trees, KnowTheBodiesOfEveryContact) {
  const ContactProblem problem = generate("trees", {.bodies = 4, .seed = 2});
  const TreeStructure& structure = problem.structure();
  const BlockJacobian& jacobian = problem.jacobian();
  Index inside = 0, between = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const Index bodies = structure.term_end(p) - structure.term_begin(p);
      ASSERT_NE(structure.articulation(jacobian.piece_tree(p)), nullptr);
      if (problem.kind(i) != ConstraintKind::contact) continue;
      EXPECT_GE(bodies, 1);
      inside += bodies == 2 ? 1 : 0;
    }
    between += jacobian.piece_end(i) - jacobian.piece_begin(i) == 2 ? 1 : 0;
  }
  EXPECT_EQ(inside, 4) << "one contact between two legs each";
  EXPECT_EQ(between, 8) << "two contacts for each of the four sides of the square";
}

}  // namespace
}  // namespace tribo
