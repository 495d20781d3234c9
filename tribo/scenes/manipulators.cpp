#include "tribo/scenes/manipulators.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <limits>

#include "tribo/base/errors.h"
#include "tribo/multibody/kinematics.h"
#include "tribo/multibody/rotation.h"

namespace tribo::detail {

namespace {

constexpr Color kLight{0.86f, 0.87f, 0.88f, 1.0f}, kAccent{0.91f, 0.49f, 0.16f, 1.0f},
    kDark{0.22f, 0.23f, 0.25f, 1.0f}, kRubber{0.45f, 0.46f, 0.48f, 1.0f};

// A body of a part; the first one hangs on the mount, others on the one given.
struct Piece {
  std::string name;
  Index parent;
  Pose pose;  // of its frame in the parent's
  Shape shape;
  Pose place;  // of the shape in its frame
  double mass;
  Color color;
};

Index add_piece(ModelBuilder& builder, World& world, Manipulator& part, const Piece& piece,
                const Material& material) {
  const Index body =
      builder.add_body({.name = piece.name,
                        .parent = piece.parent,
                        .position = piece.pose.position,
                        .rotation = Quat(piece.pose.rotation),
                        .inertia = uniform_inertia(piece.shape, piece.mass).placed(piece.place)});
  world.add_geom({.name = piece.name,
                  .shape = piece.shape,
                  .body = body,
                  .pose = piece.place,
                  .material = material,
                  .color = piece.color});
  part.bodies.push_back(body);
  return body;
}

struct Capsule {
  Shape shape;
  Pose place;
};
Capsule capsule_between(const Vec3& from, const Vec3& to, double radius) {
  const Mat3 turn = Quat::FromTwoVectors(Vec3::UnitZ(), to - from).toRotationMatrix();
  return {Shape::capsule(radius, 0.5 * (to - from).norm()), {0.5 * (from + to), turn}};
}

void add_limited(ModelBuilder& builder, Manipulator& part, const JointDescription& joint, double effort) {
  builder.add_joint(joint);
  part.joints.push_back(joint.name);
  part.efforts.conservativeResize(part.efforts.size() + 1);
  part.efforts[part.efforts.size() - 1] = effort;
}

}  // namespace

Vector arm7_efforts() { return (Vector(7) << 320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0).finished(); }

Manipulator add_arm7(ModelBuilder& builder, World& world, const Mount& mount) {
  struct Link {
    double rise;  // of its joint above the one before, m
    Vec3 axis;
    double mass, limit, effort;  // kg, rad, N m
    double radius;               // m
  };
  // Rises, masses, limits of the model of the iiwa 14; efforts of its data sheet; radii inside its hulls.
  const std::array<Link, 7> links{{{0.1575, Vec3::UnitZ(), 5.76, 2.967, 320.0, 0.075},
                                   {0.2025, Vec3::UnitY(), 6.35, 2.094, 320.0, 0.075},
                                   {0.2045, Vec3::UnitZ(), 3.5, 2.967, 176.0, 0.065},
                                   {0.2155, -Vec3::UnitY(), 3.5, 2.094, 176.0, 0.065},
                                   {0.1845, Vec3::UnitZ(), 3.5, 2.967, 110.0, 0.055},
                                   {0.2155, Vec3::UnitY(), 1.8, 2.094, 40.0, 0.055},
                                   {0.081, Vec3::UnitZ(), 1.2, 3.054, 40.0, 0.045}}};
  constexpr double kFlange = 0.045;  // m, above the last joint
  constexpr double kBaseMass = 5.0;  // kg
  // kg m^2: what motors add behind their gears. The data sheet is silent; a tenth is small beside the links at the shoulder
  // and keeps the wrist from being lighter than any real one.
  constexpr double kArmature = 0.1;
  Manipulator arm;
  Index parent = mount.parent;
  Pose pose = mount.pose;
  const Capsule foot = capsule_between(Vec3(0.0, 0.0, 0.1), Vec3(0.0, 0.0, links[0].rise - 0.04), 0.09);
  parent = add_piece(builder, world, arm,
                     {mount.prefix + "arm_base", parent, pose, foot.shape, foot.place, kBaseMass, kLight},
                     mount.material);
  pose = {};
  for (std::size_t k = 0; k < links.size(); ++k) {
    const Link& link = links[k];
    const double length = k + 1 < links.size() ? links[k + 1].rise : kFlange;
    // Its own half of the way to the next joint on either side, so that neighbours overlap about the joint and nowhere else.
    const Capsule body =
        capsule_between(Vec3::Zero(), Vec3(0.0, 0.0, std::max(0.02, length - 0.02)), link.radius);
    const std::string number = std::to_string(k + 1);
    const Pose place = pose * Pose{Vec3(0.0, 0.0, link.rise), Mat3::Identity()};
    parent = add_piece(builder, world, arm,
                       {mount.prefix + "arm_link" + number, parent, place, body.shape, body.place, link.mass,
                        k % 2 == 1 ? kAccent : kLight},
                       mount.material);
    pose = {};
    add_limited(builder, arm,
                {.name = mount.prefix + "arm_joint" + number,
                 .body = parent,
                 .kind = JointKind::hinge,
                 .axis = link.axis,
                 .armature = kArmature,
                 .limited = true,
                 .lower = -link.limit,
                 .upper = link.limit},
                link.effort);
  }
  arm.body = parent;
  arm.end = {Vec3(0.0, 0.0, kFlange), Mat3::Identity()};
  return arm;
}

Manipulator add_hand16(ModelBuilder& builder, World& world, const Mount& mount, double spread) {
  struct Bone {
    const char* name;
    double length, radius;    // m; the next joint is at its end
    double mass, thumb_mass;  // kg
    Vec3 axis;                // of a finger that bends towards -x
    double lower, upper;      // rad
  };
  // Lengths, masses and limits of the Allegro's fingers; its thumb has other ones, here it is a fourth finger with the thumb's
  // masses. The last length leads to the middle of the fingertip.
  const std::array<Bone, 4> bones{{{"0", 0.0164, 0.010, 0.0119, 0.0176, Vec3::UnitZ(), -0.47, 0.47},
                                   {"1", 0.054, 0.0098, 0.065, 0.0119, -Vec3::UnitY(), -0.196, 1.61},
                                   {"2", 0.0384, 0.0098, 0.0355, 0.038, -Vec3::UnitY(), -0.174, 1.709},
                                   {"3", 0.029, 0.012, 0.0264, 0.0556, -Vec3::UnitY(), -0.227, 1.618}}};
  constexpr double kEffort = 0.7;     // N m
  constexpr double kArmature = 1e-3;  // kg m^2: a rotor of 1e-8 behind the Allegro's gears of 369 : 1
  constexpr double kDamping = 0.02;   // N m s/rad, of the gears: a hundredth of the effort at 0.35 rad/s
  constexpr double kThick = 0.04, kPitch = 0.0435;  // m: of the palm; from finger to finger
  Manipulator hand;
  const Shape palm = Shape::box(Vec3(spread + 0.01, 0.0565, 0.5 * kThick));
  hand.body = add_piece(builder, world, hand,
                        {mount.prefix + "palm", mount.parent, mount.pose, palm,
                         Pose{Vec3(0.0, 0.0, 0.5 * kThick), Mat3::Identity()}, 0.4154, kDark},
                        mount.material);
  for (int finger = 0; finger < 4; ++finger) {
    const bool thumb = finger == 3;
    const double side = thumb ? -1.0 : 1.0;
    const std::string name = mount.prefix + (thumb ? "thumb" : "finger" + std::to_string(finger));
    Index parent = hand.body;
    Pose pose{Vec3(side * spread, thumb ? 0.0 : kPitch * (1.0 - finger), kThick), Mat3::Identity()};
    for (const Bone& bone : bones) {
      const Capsule body = capsule_between(Vec3::Zero(), Vec3(0.0, 0.0, bone.length), bone.radius);
      parent = add_piece(builder, world, hand,
                         {name + bone.name, parent, pose, body.shape, body.place,
                          thumb ? bone.thumb_mass : bone.mass, &bone == &bones.back() ? kRubber : kDark},
                         mount.material);
      add_limited(builder, hand,
                  {.name = name + bone.name,
                   .body = parent,
                   .kind = JointKind::hinge,
                   .axis = bone.axis.y() != 0.0 ? Vec3(side * bone.axis) : bone.axis,
                   .armature = kArmature,
                   .damping = kDamping,
                   .limited = true,
                   .lower = bone.lower,
                   .upper = bone.upper},
                  kEffort);
      pose = {Vec3(0.0, 0.0, bone.length), Mat3::Identity()};
    }
  }
  double reach = kThick;
  for (const Bone& bone : bones) reach += bone.length;
  hand.end = {Vec3(0.0, 0.0, reach), Mat3::Identity()};
  return hand;
}

Manipulator add_gripper2(ModelBuilder& builder, World& world, const Mount& mount) {
  // kg: 0.005 kg m^2 of the drive at its lever of 0.1 m, as in models of the 2F-85.
  constexpr double kArmature = 0.5;
  const Vec3 housing(0.05, 0.035, 0.045), pad(0.004, 0.011, 0.01875), finger(0.006, 0.011, 0.018);
  constexpr double kPinch = 0.145;  // m, from the flange to the middle of the pads
  Manipulator gripper;
  gripper.body = add_piece(builder, world, gripper,
                           {mount.prefix + "gripper", mount.parent, mount.pose, Shape::box(housing),
                            Pose{Vec3(0.0, 0.0, housing.z()), Mat3::Identity()}, 0.7774, kDark},
                           mount.material);
  for (const double way : {1.0, -1.0}) {
    const std::string name = mount.prefix + (way > 0.0 ? "jaw_right" : "jaw_left");
    // The pad touches at x = 0 when closed; above it a finger reaches back to the housing, a little further out.
    const Index body =
        add_piece(builder, world, gripper,
                  {name, gripper.body, Pose{Vec3(0.0, 0.0, kPinch), Mat3::Identity()}, Shape::box(pad),
                   Pose{Vec3(way * pad.x(), 0.0, 0.0), Mat3::Identity()}, 0.061, kRubber},
                  mount.material);
    world.add_geom({.name = name + "_finger",
                    .shape = Shape::box(finger),
                    .body = body,
                    .pose = {Vec3(way * (finger.x() + 0.004), 0.0, -pad.z() - finger.z()), Mat3::Identity()},
                    .material = mount.material,
                    .color = kDark});
    add_limited(builder, gripper,
                {.name = name,
                 .body = body,
                 .kind = JointKind::slide,
                 .axis = Vec3(way, 0.0, 0.0),
                 .armature = kArmature,
                 .limited = true,
                 .lower = 0.0,
                 .upper = kJawStroke},
                235.0);
  }
  gripper.end = {Vec3(0.0, 0.0, kPinch), Mat3::Identity()};
  return gripper;
}

void couple_jaws(World& world, const Manipulator& gripper) {
  const std::vector<Index> jaws = joint_numbers(world.model, gripper.joints);
  world.joint_couplings.push_back({.name = gripper.joints[0] + "_gear", .first = jaws[0], .second = jaws[1]});
}

void keep_apart(World& world, std::span<const Manipulator> parts) {
  std::vector<Index> bodies;
  for (const Manipulator& part : parts) bodies.insert(bodies.end(), part.bodies.begin(), part.bodies.end());
  for (std::size_t a = 0; a < bodies.size(); ++a) {
    for (std::size_t b = a + 1; b < bodies.size(); ++b)
      world.excluded_bodies.emplace_back(bodies[a], bodies[b]);
  }
}

std::vector<Index> joint_numbers(const Model& model, const std::vector<std::string>& names) {
  std::vector<Index> joints;
  for (const std::string& name : names) {
    joints.push_back(model.find_joint(name));
    if (joints.back() < 0) throw InvalidInput(fmt::format("the model has no joint '{}'", name));
  }
  return joints;
}

Vector effort_limits(const Model& model, std::span<const Manipulator> parts) {
  Vector efforts = Vector::Constant(model.dof_count(), std::numeric_limits<double>::infinity());
  for (const Manipulator& part : parts) {
    const std::vector<Index> joints = joint_numbers(model, part.joints);
    for (std::size_t k = 0; k < joints.size(); ++k)
      efforts[model.joint_dof(joints[k])] = part.efforts[static_cast<Eigen::Index>(k)];
  }
  return efforts;
}

Vector reach(const Model& model, Vector q, const Manipulator& arm, Index body, const Vec3& point,
             const Pose& target) {
  // rad: how far the last digits of a solution may be away; damping of the least squares, m and rad per rad.
  constexpr double kEnough = 1e-6, kDamping = 1e-3;
  constexpr int kSteps = 400;
  constexpr double kLongest = 0.2;  // rad, of a joint in one step
  const std::vector<Index> joints = joint_numbers(model, arm.joints);
  const auto count = static_cast<Eigen::Index>(joints.size());
  Kinematics kinematics(model);
  const Index tree = model.body_tree(body), dofs = model.tree_dof_count(tree);
  Eigen::Matrix<double, 3, Eigen::Dynamic> linear(3, dofs), angular(3, dofs);
  for (int step = 0; step < kSteps; ++step) {
    kinematics.set_positions(q);
    const Pose& pose = kinematics.pose(body);
    Vec6 error;
    error << target.position - pose * point,
        rotation_log(Quat(Mat3(target.rotation * pose.rotation.transpose())));
    if (error.cwiseAbs().maxCoeff() < kEnough) return q;
    kinematics.point_jacobian(body, pose * point, linear);
    kinematics.angular_jacobian(body, angular);
    Matrix j(6, count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const Index dof = model.joint_dof(joints[static_cast<std::size_t>(k)]) - model.tree_dof(tree);
      j.col(k) << linear.col(dof), angular.col(dof);
    }
    const Matrix normal = j * j.transpose() + kDamping * kDamping * Matrix::Identity(6, 6);
    Vector move = j.transpose() * normal.llt().solve(error);
    move *= std::min(1.0, kLongest / std::max(move.cwiseAbs().maxCoeff(), 1e-300));
    for (Eigen::Index k = 0; k < count; ++k) {
      const Index joint = joints[static_cast<std::size_t>(k)];
      double& value = q[model.joint_coordinate(joint)];
      value = std::clamp(value + move[k], model.joint(joint).lower, model.joint(joint).upper);
    }
  }
  throw InvalidInput(
      fmt::format("the arm with joint '{}' does not reach the pose asked for", arm.joints.front()));
}

}  // namespace tribo::detail
