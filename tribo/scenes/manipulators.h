// Robots of primitives that the scenes with manipulation share: a 7-joint arm, a 16-joint hand, a two-finger gripper, each with
// the lengths, masses and limits of a real one, put anywhere: on the world or on the end of another.
//
// | part         | after            | joints                            | mass    | efforts                     |
// | add_arm7     | KUKA iiwa 14     | 7 hinges, axes z y z -y z y z     | 30.6 kg | 320 320 176 176 110 40 40 N m |
// | add_hand16   | Wonik Allegro    | 4 fingers of 4 hinges             | 1.0 kg  | 0.7 N m                     |
// | add_gripper2 | Robotiq 2F-85    | 2 slides, 0 (closed) to 0.0425 m  | 0.9 kg  | 235 N                       |
//
// Frames: z leads away from what a part is put on (the arm stands up along z with all joints at 0, fingers stretch along z). The
// gripper opens along x. Of the hand three fingers stand at x > 0 and bend towards -x, the fourth, the thumb, opposes them.
// Joints are found by name after the model is built; parts of one robot do not touch each other (keep_apart).
//
// Example
//   Manipulator arm = add_arm7(builder, world, {.prefix = "left_"});
//   Manipulator hand = add_hand16(builder, world, {.prefix = "left_", .parent = arm.body, .pose = arm.end});
//   ... other bodies, builder.build()
//   keep_apart(world, {arm, hand});
//   JointImpedance fingers(world, {.joints = joint_numbers(world.model, hand.joints), .stiffness = 3.0, .damping = 0.1});
//   Vector q = reach(world.model, initial_state(world.model).q, arm, hand.body, hand.end.position, target);
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

struct Mount {
  std::string prefix = "";  // of all names
  Index parent = 0;         // the body it is put on
  Pose pose = {};           // of its frame in the parent's
  Material material = {};
};

struct Manipulator {
  Index body = 0;  // the one that carries what comes next or holds
  Pose end = {};   // in the frame of `body`: where the next part is put, or the middle of what is held
  std::vector<std::string> joints = {};  // their names, from the base on
  Vector efforts = {};                   // largest |force| of each, N m or N
  std::vector<Index> bodies = {};
};

// N m, of the data sheet of the iiwa 14.
Vector arm7_efforts();
// m, of each pad from closed to open.
inline constexpr double kJawStroke = 0.0425;

// `body` is the flange.
Manipulator add_arm7(ModelBuilder& builder, World& world, const Mount& mount);
// `body` is the palm. Joints finger by finger (at y = 0.0435, 0, -0.0435 m, then the thumb): roll about z, then three that bend
// inwards where positive. `end`: between the fingertips. `spread`: distance of the fingers from the palm's middle, m.
Manipulator add_hand16(ModelBuilder& builder, World& world, const Mount& mount, double spread = 0.045);
// `body` is the housing, `end` the middle between the pads; both coordinates grow as it opens.
Manipulator add_gripper2(ModelBuilder& builder, World& world, const Mount& mount);

// After the model was built: both pads are always equally far from the middle, as the gears of the 2F-85 hold them.
void couple_jaws(World& world, const Manipulator& gripper);

// Bodies of one robot never touch each other.
void keep_apart(World& world, std::span<const Manipulator> parts);
inline void keep_apart(World& world, std::initializer_list<Manipulator> parts) {
  keep_apart(world, std::span(parts.begin(), parts.size()));
}

// InvalidInput naming the joint that the model does not have.
std::vector<Index> joint_numbers(const Model& model, const std::vector<std::string>& names);
// Of all dofs, for CartesianImpedanceSettings::efforts; those of no part have no limit.
Vector effort_limits(const Model& model, std::span<const Manipulator> parts);

// Coordinates at which `body`, moved by the arm's joints alone, has `point` (in its frame) and its axes where `target` says:
// damped least squares from q on, within the joints' limits. InvalidInput if the arm does not get there to 1e-6 m and rad.
Vector reach(const Model& model, Vector q, const Manipulator& arm, Index body, const Vec3& point,
             const Pose& target);

}  // namespace tribo::detail
