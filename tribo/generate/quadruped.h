// Four-legged robots on uneven ground: trees of 18 degrees of freedom with branches, whose articulation the
// problem knows (problem/tree_structure.h). Modelled on the scene of Table III of Lee et al. (2024).
//
// Degrees of freedom 0..5: velocity of the trunk's centre and its angular velocity, world axes; then for each
// leg hip abduction, hip pitch and knee. The reference point of the spatial velocities is the trunk's centre
// c, so that the contact row along a unit vector t at the point p of a body is (t, (p - c) x t).
//
// Momentum: b = A v + h (weight + drive torques). Terms quadratic in v are left out; they would only change
// the numbers of b.
#pragma once

#include <array>
#include <vector>

#include "tribo/base/random.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem.h"

namespace tribo::detail {

struct Quadruped {
  static constexpr Index kDofs = 18;
  static constexpr Index kTrunk = 5;    // the dofs that name bodies
  static constexpr Index kPoints = 12;  // where it may touch: feet 0..3, knees 4..7, belly corners 8..11

  Vec3 centre;  // of the trunk
  Articulation articulation;
  Matrix mass;
  Vector weight;                    // generalised force, N and N m
  std::array<Vec3, kPoints> point;  // world, m
  std::array<Index, kPoints> body;  // the dof that names the body of each point

  // J_{i,b} of a frame with the given rows at p: rows x 6.
  Eigen::Matrix<double, 3, 6> body_rows(const Mat3& frame, const Vec3& p) const;
  // The block of rows on all dofs that a body's rows give.
  Matrix path_rows(const Eigen::Ref<const Matrix>& rows, Index dof) const;
};

// Random posture, crouching, with the trunk's centre at `centre`; `scale` multiplies the masses (16.6 kg).
Quadruped random_quadruped(Random& random, const Vec3& centre, double scale);

// `settings` have their defaults filled in and are valid; settings.bodies counts the robots. They stand in a
// square grid, close to one another. Contacts: all feet and half of the knees and bellies with the ground
// (small plates of random inclination), one between two legs of each robot, two between neighbours. Three in
// ten hinges are at or near a limit (unilateral).
ContactProblem make_trees(const GeneratorSettings& settings);

}  // namespace tribo::detail
