#include "tribo/generate/rigid_scene.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>

#include "tribo/base/random.h"
#include "tribo/math/contact_frame.h"

namespace tribo {
namespace {

TEST(RigidScene, JacobianIsTheRateOfTheDistanceBetweenTheBodiesPoints) {
  detail::Random random(7);
  for (int trial = 0; trial < 20; ++trial) {
    detail::RigidScene scene({.friction = 0.5, .time_step = 0.1});
    detail::RigidBody a, b;
    a.position = random.normal_vector();
    b.position = random.normal_vector();
    scene.add_body(a);
    scene.add_body(b);
    const Vec3 point = random.normal_vector(), normal = random.unit_vector();
    scene.add_contact(0, 1, point, normal, 0.02, 0);
    scene.add_ball_joint(0, 1, point, 1);
    const ContactProblem problem = scene.build();
    EXPECT_DOUBLE_EQ(problem.bias()[2], 0.2);

    Vector v(12);
    for (double& entry : v) entry = random.normal();
    const auto moved = [&](const Vec3& centre, const Vector& twist, double t) -> Vec3 {
      const Vec3 turn = t * twist.tail<3>();
      const Mat3 rotation = Eigen::AngleAxisd(turn.norm(), turn.normalized()).toRotationMatrix();
      return centre + t * twist.head<3>() + rotation * (point - centre);
    };
    const double t = 1e-6;
    const auto difference = [&](double time) -> Vec3 {
      return moved(a.position, v.head(6), time) - moved(b.position, v.tail(6), time);
    };
    const Vec3 rate = (difference(t) - difference(-t)) / (2.0 * t);
    Vector u(6);
    problem.jacobian().multiply(v, u);
    EXPECT_TRUE(u.head<3>().isApprox(contact_frame(normal) * rate, 1e-7));
    EXPECT_TRUE(u.tail<3>().isApprox(rate, 1e-7));
  }
}

TEST(RigidScene, MomentumHoldsWeightWrenchAndGyroscopicTorque) {
  detail::RigidScene scene({.friction = 0.5, .time_step = 0.1});
  detail::RigidBody body{.mass = 2.0, .inertia = Vec3(1.0, 2.0, 3.0).asDiagonal()};
  body.velocity = Vec3(1.0, 2.0, 3.0);
  body.spin = Vec3(1.0, 1.0, 1.0);
  body.force = Vec3(10.0, 0.0, 0.0);
  body.torque = Vec3(0.0, 10.0, 0.0);
  scene.add_body(body);
  scene.add_contact(0, detail::kGround, Vec3::Zero(), Vec3::UnitZ(), -1e-3, 0);
  const ContactProblem problem = scene.build();
  // w x I w = (1,1,1) x (1,2,3) = (1,-2,1).
  Vector expected(6);
  expected << 3.0, 4.0, 6.0 - 0.1 * 2.0 * 9.81, 1.0 - 0.1, 2.0 + 1.0 + 0.2, 3.0 - 0.1;
  EXPECT_TRUE(problem.momentum().isApprox(expected, 1e-14));
  EXPECT_EQ(problem.bias(), Vector::Zero(3)) << "an overlap counts as touching";
}

}  // namespace
}  // namespace tribo
