#include "tribo/scenes/pouring_robot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>
#include <string>

#include "tribo/base/errors.h"
#include "tribo/scenes/containers.h"
#include "tribo/scenes/model_parts.h"
#include "tribo/scenes/upper_body.h"
#include "tribo/sim/attach.h"

namespace tribo::detail {

namespace {

constexpr double kDegree = std::numbers::pi / 180.0;

// ----- of primitives ----------------------------------------------------------------------------------------------------

GuidedArmSettings own_settings(const Manipulator& hand, double side) {
  GuidedArmSettings settings;
  settings.point = hand.end.position;
  settings.posture = Vector::Zero(7);
  settings.posture << 0.0, 0.05, 0.0, 1.38, side > 0.0 ? -75.0 * kDegree : 0.0, 0.14, 0.0;
  settings.stiffness = Vector(7);
  settings.stiffness << 400.0, 400.0, 300.0, 300.0, 150.0, 150.0, 150.0;
  // Close to critical for the links' inertia of about 0.6, 0.2 and 0.1 kg m^2.
  settings.damping = Vector(7);
  settings.damping << 28.0, 28.0, 16.0, 16.0, 8.0, 8.0, 8.0;
  settings.open = Vector(7);
  settings.open << -0.3, 0.0, -0.3, 0.0, 0.0, -0.3, 0.0;
  settings.closed = Vector(7);
  settings.closed << 0.5, 1.6, 0.5, 1.6, 0.0, 0.5, 1.6;
  // One thumb against two fingers.
  settings.finger_stiffness = Vector(7);
  settings.finger_stiffness << 1.0, 1.0, 1.0, 1.0, 3.0, 2.0, 2.0;
  return settings;
}

PouringArm add_side(ModelBuilder& builder, World& world, double side, double grip) {
  constexpr double kShoulder = 0.55, kHalfWidth = 0.2;  // m, height above the table and half the width
  constexpr double kSpread = 0.051;                     // m: open fingers stand 4 mm off the bottle's sides
  const Material material{.friction = grip};
  const std::string prefix = side > 0.0 ? "left_" : "right_";
  const Mat3 down = Eigen::AngleAxisd(180.0 * kDegree, Vec3::UnitX()).toRotationMatrix();
  const Manipulator arm = add_arm7s(
      builder, world,
      {.prefix = prefix, .pose = {Vec3(0.0, side * kHalfWidth, kShoulder), down}, .material = material});
  // So that the wrist's roll goes from -75 to 75 degrees while the left bottle is tilted by 150, and stays 0 on the right.
  const double roll = (side > 0.0 ? -15.0 : -90.0) * kDegree;
  const Pose mount{arm.end.position, Eigen::AngleAxisd(roll, Vec3::UnitZ()).toRotationMatrix()};
  const Manipulator hand = add_hand7(
      builder, world, {.prefix = prefix, .parent = arm.body, .pose = mount, .material = material}, kSpread);
  return {arm, hand, own_settings(hand, side), hand.bodies.back()};
}

// ----- a model ----------------------------------------------------------------------------------------------------------

// Of Tiago, found by a search over its joints' ranges: with its base 0.80 m behind the bottles and the table 0.35 m above its
// floor both arms take, lift and pour at least 0.12 rad from every limit; nearer or lower one of them ends at a limit.
const Vec3 kStand(-0.35, 0.0, -0.35);  // m, of its base in the scene
constexpr std::array<double, 7> kLeftPosture{1.28, 1.07, 0.79, 1.30, 0.52, 0.48, 1.38},
    kRightPosture{1.27, 1.05, 0.85, 1.26, 0.47, 0.50, -1.67};  // rad
// Its arms lose 40 N m s/rad to damping of 43 and 26 N m: a third of a radian per second is what is left beside the weight.
constexpr double kPace = 4.0;

struct ModelSide {
  Index palm = 0;                            // body that the slides hang on
  std::vector<Index> arm = {}, slides = {};  // joints
};

std::vector<ModelSide> sides_of(const Model& model) {
  std::vector<ModelSide> sides;
  for (Index j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(j);
    const Index palm = model.body_parent(joint.body);
    if (joint.kind != JointKind::slide || palm == 0) continue;
    if (sides.empty() || sides.back().palm != palm) sides.push_back({.palm = palm});
    sides.back().slides.push_back(j);
  }
  std::erase_if(sides, [](const ModelSide& side) { return side.slides.size() != 2; });
  for (ModelSide& side : sides) {
    for (Index body = side.palm; body > 0 && side.arm.size() < 7; body = model.body_parent(body)) {
      for (Index j = model.joint_end(body); j-- > model.joint_begin(body);) {
        if (model.joint(j).kind == JointKind::hinge && side.arm.size() < 7) side.arm.push_back(j);
      }
    }
    std::ranges::reverse(side.arm);
  }
  if (sides.size() != 2 || sides[0].arm.size() != 7 || sides[1].arm.size() != 7) {
    throw InvalidInput(
        fmt::format("the model of the two arms has {} grippers of two slides at the end of seven "
                    "hinges; the scene needs two",
                    sides.size()));
  }
  return sides;
}

Vector posture_of(bool left) {
  return Eigen::Map<const Eigen::Matrix<double, 7, 1>>((left ? kLeftPosture : kRightPosture).data());
}

// The frame that is led, in the palm's: x along the slides, z to the fingertips, y up in the posture.
Pose held_frame(const World& world, const ModelSide& side, bool left, double touch) {
  constexpr double kBeforeTip = 0.015;  // m, from the tips back to the axis of what is held
  const Model& model = world.model;
  Kinematics kinematics(model);
  Vector q = model.reference_coordinates();
  const Vector posture = posture_of(left);
  for (std::size_t k = 0; k < 7; ++k)
    q[model.joint_coordinate(side.arm[k])] = posture[static_cast<Eigen::Index>(k)];
  kinematics.set_positions(q);
  const Pose palm = kinematics.pose(side.palm);
  const Index one = model.joint(side.slides[0]).body, two = model.joint(side.slides[1]).body;
  const Vec3 root = 0.5 * (kinematics.pose(one).position + kinematics.pose(two).position);
  Mat3 axes;
  axes.col(0) = kinematics.pose(one).rotation * model.joint(side.slides[0]).axis;
  const Vec3 ahead = 0.5 * (kinematics.center(one) + kinematics.center(two)) - root;
  axes.col(2) = (ahead - ahead.dot(axes.col(0)) * axes.col(0)).normalized();
  axes.col(1) = axes.col(2).cross(axes.col(0));
  if (axes(2, 1) < 0.0) axes.leftCols<2>() *= -1.0;
  const Pose frame{root, axes};
  double tip = -std::numeric_limits<double>::infinity();
  for (const Geom& geom : world.geoms) {
    if (geom.body != one && geom.body != two) continue;
    const Pose place = frame.inverse() * (kinematics.pose(geom.body) * geom.pose);
    tip = std::max(tip, geom.shape.bounds(place).upper.z());
  }
  return palm.inverse() * (frame * Pose{Vec3(0.0, 0.0, tip - kBeforeTip - touch), Mat3::Identity()});
}

// Fingers of models touch as hulls, a bottle in one point each; a pad holds it along a line, which resists turning about the
// normal with mu F length / 4.
void make_pad(Geom& finger, double grip) {
  constexpr double kLine = 0.038;  // m, width of Tiago's pads
  finger.material.friction = grip;
  finger.material.torsional = 0.25 * grip * kLine;
  finger.friction_rows = 4;
}

GuidedArmSettings model_settings(const Model& model, const ModelSide& side, bool left, const Pose& frame) {
  GuidedArmSettings settings;
  settings.point = frame.position, settings.axes = frame.rotation, settings.posture = posture_of(left);
  // The joints' own damping is near critical for these, and implicit; dampers beside it would be too fast for wrists without
  // armature.
  settings.stiffness = Vector(7);
  settings.stiffness << 1500.0, 1500.0, 1000.0, 1000.0, 100.0, 100.0, 100.0;
  settings.damping = Vector::Zero(7);
  settings.open = Vector(2), settings.closed = Vector(2);
  for (Eigen::Index k = 0; k < 2; ++k) {
    const JointDescription& slide = model.joint(side.slides[static_cast<std::size_t>(k)]);
    settings.open[k] = slide.upper, settings.closed[k] = slide.lower;
  }
  settings.finger_stiffness = Vector::Constant(2, 500.0);  // N/m, as of the model's own drives
  settings.finger_damping = 14.0;                          // N s/m, critical for 0.1 kg
  return settings;
}

}  // namespace

PouringRobot add_pouring_robot(ModelBuilder& builder, World& world, double grip) {
  world.add_geom({.name = "torso",
                  .shape = Shape::box(Vec3(0.08, 0.14, 0.22)),
                  .pose = {Vec3(-0.04, 0.0, 0.42), Mat3::Identity()},
                  .color = Color{0.84f, 0.85f, 0.87f, 1.0f}});
  set_groups(world.geoms.back(), 0);  // drawn
  PouringArm left = add_side(builder, world, 1.0, grip);
  PouringArm right = add_side(builder, world, -1.0, grip);
  return {std::move(left), std::move(right)};
}

PouringRobot add_pouring_model(ModelBuilder& builder, World& world, const World& model, double grip,
                               double hull, double touch) {
  std::vector<ModelSide> sides = sides_of(model.model);
  Kinematics kinematics(model.model);
  kinematics.set_positions(model.model.reference_coordinates());
  if (kinematics.pose(sides[0].palm).position.y() < kinematics.pose(sides[1].palm).position.y())
    std::swap(sides[0], sides[1]);
  std::vector<std::string> moving;
  for (const ModelSide& side : sides) {
    for (const Index j : side.arm) moving.push_back(model.model.joint(j).name);
    for (const Index j : side.slides) moving.push_back(model.model.joint(j).name);
    const JointDescription& slide = model.model.joint(side.slides[0]);
    if (!(slide.upper > hull))
      throw InvalidInput(fmt::format("slide '{}' of the model opens {:.3g} m and the bottle needs {:.3g} m",
                                     slide.name, slide.upper, hull));
  }
  const std::size_t first = world.geoms.size();
  const Attached added = attach(
      builder, world, model,
      {.pose = {kStand, Mat3::Identity()}, .actuators = false, .moves = [&](const JointDescription& joint) {
         return std::ranges::find(moving, joint.name) != moving.end();
       }});
  for (std::size_t g = first; g < world.geoms.size(); ++g) set_groups(world.geoms[g], 0);
  PouringRobot robot{.left = {}, .right = {}, .pace = kPace};
  for (const bool left : {true, false}) {
    const ModelSide& side = sides[left ? 0 : 1];
    PouringArm& arm = left ? robot.left : robot.right;
    const auto add = [&](Manipulator& part, Index joint) {
      const JointDescription& description = model.model.joint(joint);
      part.joints.push_back(description.name);
      part.bodies.push_back(added.body + description.body - 1);
    };
    for (const Index j : side.arm) add(arm.arm, j);
    for (const Index j : side.slides) add(arm.hand, j);
    arm.arm.efforts = model_efforts(model.model, side.arm);
    arm.hand.efforts = model_efforts(model.model, side.slides);
    arm.arm.body = arm.hand.body = added.body + side.palm - 1;
    arm.finger = arm.hand.bodies.back();
    arm.settings = model_settings(model.model, side, left, held_frame(model, side, left, touch));
    for (std::size_t g = first; g < world.geoms.size(); ++g) {
      if (std::ranges::find(arm.hand.bodies, world.geoms[g].body) != arm.hand.bodies.end())
        make_pad(world.geoms[g], grip);
    }
  }
  return robot;
}

}  // namespace tribo::detail
