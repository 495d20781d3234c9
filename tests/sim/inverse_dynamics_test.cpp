// An arm slides its hand along a wall (Carpentier et al. 2024, Fig. 8).
#include "tribo/sim/inverse_dynamics.h"

#include <gtest/gtest.h>

#include "tribo/base/errors.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

// A planar arm of three links whose round hand touches the wall x = distance.
struct WallArm {
  World world;
  State state;
  Index hand = 0;

  explicit WallArm(const Material& material) {
    ModelBuilder builder;
    Index parent = 0;
    for (Index link = 0; link < 3; ++link) {
      const Shape shape = Shape::capsule(0.03, 0.2);
      const Pose pose{Vec3(0.0, 0.0, 0.2), Mat3::Identity()};
      parent = builder.add_body({.name = "link" + std::to_string(link),
                                 .parent = parent,
                                 .position = link == 0 ? Vec3(0.0, 0.0, 0.3) : Vec3(0.0, 0.0, 0.4),
                                 .inertia = uniform_inertia(shape, 2.0).placed(pose)});
      builder.add_joint({.name = "joint" + std::to_string(link),
                         .body = parent,
                         .kind = JointKind::hinge,
                         .axis = link == 0 ? Vec3(Vec3::UnitY()) : Vec3(Vec3::UnitY())});
    }
    hand = builder.add_body({.name = "hand",
                             .parent = parent,
                             .position = Vec3(0.0, 0.0, 0.45),
                             .inertia = uniform_inertia(Shape::sphere(0.05), 0.2)});
    world.model = builder.build();
    world.add_geom({.name = "hand", .shape = Shape::sphere(0.05), .body = hand, .material = material});
    state = initial_state(world.model);
    state.q << 0.4, 0.9, 0.3;
    Kinematics kinematics(world.model);
    kinematics.set_positions(state.q);
    const double x = kinematics.pose(hand).position.x() + 0.05;
    const Mat3 facing = Quat::FromTwoVectors(Vec3::UnitZ(), -Vec3::UnitX()).toRotationMatrix();
    world.add_geom(
        {.name = "wall", .shape = Shape::plane(), .pose = {Vec3(x, 0.0, 0.0), facing}, .material = material});
  }

  // Joint velocities that move the contact point up the wall at `speed` and not into it, without turning the hand.
  Vector sliding(const Simulator& simulator, double speed) const {
    Eigen::Matrix<double, 3, Eigen::Dynamic> jacobian(3, 3), angular(3, 3);
    const Vec3 point = simulator.kinematics().pose(hand).position + Vec3(0.05, 0.0, 0.0);
    simulator.kinematics().point_jacobian(hand, point, jacobian);
    simulator.kinematics().angular_jacobian(hand, angular);
    Mat3 rows;
    rows << jacobian.row(0), jacobian.row(2), angular.row(1);
    return rows.inverse() * Vec3(0.0, speed, 0.0);
  }
};

Vector pressing(const ContactProblem& problem, double impulse) {
  Vector start = Vector::Zero(problem.row_count());
  start[2] = impulse;
  return start;
}

TEST(InverseDynamics, SlidesAlongARigidWallWithTheExactLaw) {
  const WallArm arm({.friction = 0.4});
  Simulator simulator(arm.world);
  simulator.set_state(arm.state);
  const ContactProblem& problem = simulator.next_problem();
  ASSERT_EQ(problem.contact_count(), 1);
  const Vector v = arm.sliding(simulator, 0.2);
  const Vector start = pressing(problem, 20.0 * 0.002);
  const InverseDynamics inverse = inverse_dynamics(problem, v, {.start = &start});
  EXPECT_TRUE(inverse.converged);
  EXPECT_LE(inverse.error, 1e-9);
  EXPECT_GT(inverse.impulse[2], 1e-3);
  EXPECT_NEAR(inverse.impulse.head<2>().norm(), 0.4 * inverse.impulse[2], 1e-9);  // on the cone: it slides

  // The forward step with these forces ends with the wanted velocity and the same contact impulse.
  simulator.force() = inverse.generalized_impulse / simulator.time_step();
  simulator.step();
  EXPECT_LE((simulator.state().v - v).norm(), 1e-5 * v.norm());
  EXPECT_NEAR(simulator.contact_impulses()[0].norm(), inverse.impulse.norm(), 1e-5 * inverse.impulse.norm());
}

TEST(InverseDynamics, DivergesThereWithTheConvexLaw) {
  const WallArm arm({.friction = 0.4});
  Simulator simulator(arm.world);
  simulator.set_state(arm.state);
  const ContactProblem& problem = simulator.next_problem();
  const Vector v = arm.sliding(simulator, 0.2), start = pressing(problem, 20.0 * 0.002);
  InverseDynamicsSettings settings{.law = Law::convex, .start = &start};
  settings.max_iterations = 100;
  const InverseDynamics some = inverse_dynamics(problem, v, settings);
  settings.max_iterations = 1000;
  const InverseDynamics many = inverse_dynamics(problem, v, settings);
  EXPECT_FALSE(some.converged);
  EXPECT_FALSE(many.converged);
  EXPECT_GT(many.generalized_impulse.norm(), 5.0 * some.generalized_impulse.norm());
}

TEST(InverseDynamics, CompliantWallsGiveTheirForceForThePenetration) {
  const WallArm arm({.friction = 0.4, .stiffness = 2e4, .dissipation_time = 0.01});
  Simulator simulator(arm.world);
  State state = arm.state;
  simulator.set_state(state);
  // One step into the wall, then slide: the normal impulse is h k (depth) to first order.
  Eigen::Matrix<double, 3, Eigen::Dynamic> jacobian(3, 3);
  simulator.kinematics().point_jacobian(arm.hand, simulator.kinematics().pose(arm.hand).position, jacobian);
  state.q += jacobian.row(0).transpose() * (1e-3 / jacobian.row(0).squaredNorm());
  simulator.set_state(state);
  const ContactProblem& problem = simulator.next_problem();
  ASSERT_EQ(problem.contact_count(), 1);
  const InverseDynamics inverse = inverse_dynamics(problem, arm.sliding(simulator, 0.2));
  EXPECT_TRUE(inverse.converged);
  const double depth = 1e-3;
  EXPECT_NEAR(inverse.impulse[2], 0.002 * 1e4 * depth, 0.05 * 0.002 * 1e4 * depth);
}

TEST(InverseDynamics, MotionIntoAWallHasNoAnswer) {
  const WallArm arm({.friction = 0.4});
  Simulator simulator(arm.world);
  simulator.set_state(arm.state);
  const ContactProblem& problem = simulator.next_problem();
  Eigen::Matrix<double, 3, Eigen::Dynamic> jacobian(3, 3);
  simulator.kinematics().point_jacobian(arm.hand, simulator.kinematics().pose(arm.hand).position, jacobian);
  const Vector v = jacobian.row(0).transpose();
  EXPECT_FALSE(inverse_dynamics(problem, v).converged);
}

TEST(InverseDynamics, BadInputIsRefused) {
  const WallArm arm({.friction = 0.4});
  Simulator simulator(arm.world);
  simulator.set_state(arm.state);
  const ContactProblem& problem = simulator.next_problem();
  EXPECT_THROW(inverse_dynamics(problem, Vector::Zero(2)), InvalidInput);
  EXPECT_THROW(inverse_dynamics(problem, Vector::Zero(3), {.rho = 0.0}), InvalidInput);
  const Vector start = Vector::Zero(1);
  EXPECT_THROW(inverse_dynamics(problem, Vector::Zero(3), {.start = &start}), InvalidInput);
}

}  // namespace
}  // namespace tribo
