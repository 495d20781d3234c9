#include "tribo/scenes/guided_arm.h"

#include <gtest/gtest.h>

#include "tribo/base/errors.h"
#include "tribo/multibody/rotation.h"
#include "tribo/scenes/upper_body.h"

namespace tribo::detail {
namespace {

struct Side {
  std::shared_ptr<World> world = std::make_shared<World>();
  Manipulator arm, hand;
  GuidedArmSettings settings;
};

Side make_side() {
  Side side;
  ModelBuilder builder;
  side.arm = add_arm7s(builder, *side.world, {.prefix = "a_", .pose = {Vec3(0.0, 0.0, 0.2)}});
  side.hand =
      add_hand7(builder, *side.world, {.prefix = "a_", .parent = side.arm.body, .pose = side.arm.end}, 0.05);
  side.world->model = builder.build();
  keep_apart(*side.world, {side.arm, side.hand});
  side.settings.point = side.hand.end.position;
  side.settings.posture = Vector::Zero(7);
  side.settings.posture << 0.0, 0.4, 0.0, 1.0, 0.0, 0.3, 0.0;
  side.settings.stiffness = Vector::Constant(7, 300.0);
  side.settings.damping = Vector::Constant(7, 12.0);
  side.settings.open = Vector::Zero(7), side.settings.closed = Vector::Constant(7, 0.5);
  side.settings.finger_stiffness = Vector::Ones(7);
  return side;
}

double distance(const Pose& a, const Pose& b) {
  return std::max((a.position - b.position).norm(),
                  rotation_log(Quat(Mat3(a.rotation.transpose() * b.rotation))).norm());
}

TEST(UpperBody, HasSevenJointsEachAndTheMassesOfTiago) {
  const Side side = make_side();
  EXPECT_EQ(side.world->model.dof_count(), 14);
  double arm = 0.0;
  for (const Index body : side.arm.bodies) arm += side.world->model.inertia(body).mass;
  EXPECT_NEAR(arm, 9.76, 0.005);  // kg, sum of the seven links
  EXPECT_EQ(side.arm.efforts.size(), 7);
}

TEST(GuidedArm, PlacesItsFrameAndSaysWhatIsOutOfReach) {
  const Side side = make_side();
  GuidedArm guide(side.world, side.arm, side.hand, side.settings);
  State state = initial_state(side.world->model);
  const Pose wanted{Vec3(0.35, 0.1, 0.4),
                    Eigen::AngleAxisd(1.3, Vec3(0.2, 1.0, 0.1).normalized()).toRotationMatrix()};
  guide.place(state, wanted);
  Kinematics kinematics(side.world->model);
  kinematics.set_positions(state.q);
  EXPECT_LE(distance(guide.pose(kinematics), wanted), 1e-4);
  EXPECT_THROW(guide.place(state, {Vec3(2.0, 0.0, 0.0)}), InvalidInput);
}

// With the model exact the arm is where it was led, weight and speed notwithstanding.
TEST(GuidedArm, FollowsAPathAndCloses) {
  const Side side = make_side();
  GuidedArm guide(side.world, side.arm, side.hand, side.settings);
  State state = initial_state(side.world->model);
  const Mat3 forward = Eigen::AngleAxisd(1.5, Vec3::UnitY()).toRotationMatrix();
  guide.place(state, {Vec3(0.35, 0.1, 0.4), forward});
  const Pose target{Vec3(0.42, -0.1, 0.5),
                    Eigen::AngleAxisd(0.6, Vec3::UnitX()).toRotationMatrix() * forward};
  Simulator simulator(*side.world);
  simulator.set_state(state);
  guide.go(0.0, {{0.8, target}});
  guide.grip(true);
  double farthest = 0.0,
         off = 0.0;  // of the arm from its reference; of the joints' reference from the pose's
  while (simulator.state().time < 1.2) {
    simulator.force().setZero();
    guide.move(simulator.state().time);
    guide.add_force(simulator);
    off = std::max(off, guide.error());
    simulator.step();
    farthest = std::max(farthest, distance(guide.pose(simulator.kinematics()), guide.reference()));
  }
  EXPECT_TRUE(guide.arrived(simulator.state().time));
  EXPECT_LE(distance(guide.pose(simulator.kinematics()), target), 1e-3);
  EXPECT_LE(farthest, 0.05);
  EXPECT_LE(off, 1e-3);
  const std::vector<Index> fingers = joint_numbers(side.world->model, side.hand.joints);
  for (const Index joint : fingers)
    EXPECT_NEAR(simulator.state().q[side.world->model.joint_coordinate(joint)], 0.5, 0.05);
}

}  // namespace
}  // namespace tribo::detail
