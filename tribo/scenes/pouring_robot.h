// Who pours in the scene `pouring`: half of an upper body of primitives (upper_body.h) or a model of a robot with two arms.
//
// The frame that is led has x to the left, y up and z ahead while the hand points ahead, and is `touch` behind the axis of what
// the hand holds.
#pragma once

#include "tribo/scenes/guided_arm.h"

namespace tribo::detail {

struct PouringArm {
  Manipulator arm, hand;
  GuidedArmSettings settings;
  Index finger = 0;  // body whose force says that something is held
};

struct PouringRobot {
  PouringArm left, right;
  double pace = 1.0;  // by which its motions take longer than those of primitives
};

// Bottles stand at y = +-0.14 m, 0.45 m ahead. `grip`: friction coefficient of the hands.
PouringRobot add_pouring_robot(ModelBuilder& builder, World& world, double grip);
// Two arms of seven hinges or more, each with a gripper of two slides. Its base, torso and head stay where they are at the
// reference and touch nothing. InvalidInput when it has other arms or does not open 2 `hull`, m.
PouringRobot add_pouring_model(ModelBuilder& builder, World& world, const World& model, double grip,
                               double hull, double touch);

}  // namespace tribo::detail
