// A serial arm of revolute joints on a fixed base: one tree with a dense mass matrix, and a problem that
// holds every kind of constraint.
//
// Joint i turns link i about its local y (even i) or z axis (odd i); the link is a rod along its local x,
// joint i + 1 at its end. With a_k the axis and p_k the place of joint k in the world, a point x of link i
// moves with J_x = [a_0 x (x - p_0), ..., a_i x (x - p_i), 0, ...].
//
// Mass matrix by composite bodies (Featherstone 2008, ch. 6), in world coordinates: with m, c, I the mass,
// centre and inertia of links j to the end, and P = m a_j x (c - p_j) their momentum for unit speed of joint
// j,
//   M_kj = a_k . (I a_j + (c - p_k) x P),  k <= j,  plus the armature (rotor inertia) on the diagonal.
// Cost: n^2.
#pragma once

#include <vector>

#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem.h"

namespace tribo::detail {

struct SerialArm {
  static constexpr double kLength = 0.3;     // m, of every link
  static constexpr double kRadius = 0.03;    // m
  static constexpr double kArmature = 0.01;  // kg m^2, of every joint

  std::vector<double> mass;  // kg, of link i
  Vector angle;              // rad
  Vector speed;              // rad/s

  Index size() const { return static_cast<Index>(mass.size()); }
};

// Where everything is, in the world.
struct ArmPose {
  std::vector<Mat3> rotation;  // of link i
  std::vector<Vec3> joint;     // p_i; one more: the tip
  std::vector<Vec3> axis;      // a_i
  std::vector<Vec3> centre;    // centre of mass of link i
};

ArmPose pose_of(const SerialArm& arm);
Mat3 link_inertia(const SerialArm& arm, const ArmPose& pose, Index link);   // world axes
Matrix point_jacobian(const ArmPose& pose, Index link, const Vec3& point);  // 3 x n
Matrix mass_matrix(const SerialArm& arm, const ArmPose& pose);
// Joint torques that keep all joint speeds constant: weight, Coriolis and centrifugal (Newton-Euler).
Vector bias_torque(const SerialArm& arm, const ArmPose& pose);

// Random posture; masses geometric from the base to the tip; moving if settings.slide.
SerialArm random_arm(const GeneratorSettings& settings);

// `settings` have their defaults filled in and are valid. The end effector stands with four points on a
// plate, every other link leans on a fixed obstacle (half of them just open), every third joint is at or near
// a limit (unilateral), every joint has dry friction (box).
ContactProblem make_arm(const GeneratorSettings& settings);

}  // namespace tribo::detail
