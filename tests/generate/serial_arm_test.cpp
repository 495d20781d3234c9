#include "tribo/generate/serial_arm.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "tribo/generate/generators.h"
#include "tribo/generate/rigid_scene.h"

namespace tribo {
namespace {

// Kinetic energy from finite differences of the links' positions and rotations.
double kinetic_energy(const detail::SerialArm& arm, const Vector& speed) {
  const double t = 1e-6;
  detail::SerialArm before = arm, after = arm;
  before.angle -= t * speed;
  after.angle += t * speed;
  const detail::ArmPose p = detail::pose_of(arm), p0 = detail::pose_of(before), p1 = detail::pose_of(after);
  double energy = 0.5 * detail::SerialArm::kArmature * speed.squaredNorm();
  for (Index i = 0; i < arm.size(); ++i) {
    const Vec3 velocity = (p1.centre[i] - p0.centre[i]) / (2.0 * t);
    const Mat3 spin = (p1.rotation[i] - p0.rotation[i]) / (2.0 * t) * p.rotation[i].transpose();
    const Vec3 w(spin(2, 1), spin(0, 2), spin(1, 0));
    energy += 0.5 * arm.mass[i] * velocity.squaredNorm() + 0.5 * w.dot(detail::link_inertia(arm, p, i) * w);
  }
  return energy;
}

double potential_energy(const detail::SerialArm& arm) {
  const detail::ArmPose pose = detail::pose_of(arm);
  double energy = 0.0;
  for (Index i = 0; i < arm.size(); ++i) energy += arm.mass[i] * detail::kGravity * pose.centre[i].z();
  return energy;
}

TEST(Arm, MassMatrixIsTheHessianOfTheKineticEnergy) {
  const Index n = 7;
  const GeneratorSettings settings{.bodies = n, .mass_ratio = 0.1, .seed = 11};
  const detail::SerialArm arm = detail::random_arm(settings);
  const Matrix mass = generate("arm", settings).mass().block(0);
  EXPECT_EQ(mass.llt().info(), Eigen::Success);
  // T is quadratic in the speeds, so the polarisation identity is exact.
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const Vector e = Vector::Unit(n, i), f = Vector::Unit(n, j);
      const double entry = 0.5 * (kinetic_energy(arm, e + f) - kinetic_energy(arm, e - f));
      EXPECT_NEAR(mass(i, j), entry, 1e-7) << i << ' ' << j;
    }
  }
}

// Lagrange: bias = dM/dt q' - dT/dq + dV/dq.
TEST(Arm, BiasTorqueIsLagranges) {
  const Index n = 6;
  const detail::SerialArm arm =
      detail::random_arm({.bodies = n, .mass_ratio = 3.0, .slide = true, .seed = 2});
  const auto at = [&](const Vector& angle) {
    detail::SerialArm moved = arm;
    moved.angle = angle;
    return moved;
  };
  const auto mass_at = [&](const Vector& angle) {
    return detail::mass_matrix(at(angle), detail::pose_of(at(angle)));
  };
  const double t = 1e-5;
  Vector expected =
      (mass_at(arm.angle + t * arm.speed) - mass_at(arm.angle - t * arm.speed)) / (2.0 * t) * arm.speed;
  for (Index i = 0; i < n; ++i) {
    const Vector step = t * Vector::Unit(n, i);
    const Matrix slope = (mass_at(arm.angle + step) - mass_at(arm.angle - step)) / (2.0 * t);
    expected[i] -= 0.5 * arm.speed.dot(slope * arm.speed);
    expected[i] +=
        (potential_energy(at(arm.angle + step)) - potential_energy(at(arm.angle - step))) / (2.0 * t);
  }
  EXPECT_TRUE(detail::bias_torque(arm, detail::pose_of(arm)).isApprox(expected, 1e-7));
}

TEST(Arm, HoldsEveryKindButBilateralAndItsContactsFollowThePoint) {
  const GeneratorSettings settings{.bodies = 6, .seed = 4};
  const ContactProblem problem = generate("arm", settings);
  Index count[4] = {0, 0, 0, 0};
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    ++count[static_cast<int>(problem.kind(i))];
    if (problem.kind(i) != ConstraintKind::box) continue;
    EXPECT_DOUBLE_EQ(problem.upper(i), 0.5e-3);
    EXPECT_DOUBLE_EQ(problem.lower(i), -0.5e-3);
  }
  EXPECT_EQ(count[static_cast<int>(ConstraintKind::contact)], 7);
  EXPECT_EQ(count[static_cast<int>(ConstraintKind::unilateral)], 2);
  EXPECT_EQ(count[static_cast<int>(ConstraintKind::box)], 6);

  const detail::SerialArm arm = detail::random_arm(settings);
  const detail::ArmPose pose = detail::pose_of(arm);
  const Vec3 local(0.1, 0.02, -0.03);
  const auto point = [&](const detail::ArmPose& p) -> Vec3 { return p.joint[4] + p.rotation[4] * local; };
  const Matrix jacobian = detail::point_jacobian(pose, 4, point(pose));
  for (Index j = 0; j < 6; ++j) {
    detail::SerialArm before = arm, after = arm;
    before.angle[j] -= 1e-6;
    after.angle[j] += 1e-6;
    const Vec3 slope = (point(detail::pose_of(after)) - point(detail::pose_of(before))) / 2e-6;
    EXPECT_LT((jacobian.col(j) - slope).norm(), 1e-8) << j;
  }
}

}  // namespace
}  // namespace tribo
