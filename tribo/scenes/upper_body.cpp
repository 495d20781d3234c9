#include "tribo/scenes/upper_body.h"

#include <array>

namespace tribo::detail {

namespace {

constexpr Color kShell{0.84f, 0.85f, 0.87f, 1.0f}, kJointColor{0.24f, 0.40f, 0.58f, 1.0f},
    kHandColor{0.25f, 0.26f, 0.28f, 1.0f};

struct Link {
  std::string name;
  Index parent;
  Pose pose;              // of its frame in the parent's
  double length, radius;  // m, of a capsule along z
  double mass;            // kg
  Color color;
};

Index add_link(ModelBuilder& builder, World& world, Manipulator& part, const Link& link,
               const Material& material) {
  const Shape shape = Shape::capsule(link.radius, 0.5 * link.length);
  const Pose place{Vec3(0.0, 0.0, 0.5 * link.length), Mat3::Identity()};
  const Index body = builder.add_body({.name = link.name,
                                       .parent = link.parent,
                                       .position = link.pose.position,
                                       .rotation = Quat(link.pose.rotation),
                                       .inertia = uniform_inertia(shape, link.mass).placed(place)});
  world.add_geom({.name = link.name,
                  .shape = shape,
                  .body = body,
                  .pose = place,
                  .material = material,
                  .color = link.color});
  part.bodies.push_back(body);
  return body;
}

void add_hinge(ModelBuilder& builder, Manipulator& part, const JointDescription& joint, double effort) {
  builder.add_joint(joint);
  part.joints.push_back(joint.name);
  part.efforts.conservativeResize(part.efforts.size() + 1);
  part.efforts[part.efforts.size() - 1] = effort;
}

}  // namespace

Manipulator add_arm7s(ModelBuilder& builder, World& world, const Mount& mount) {
  struct Joint {
    double rise;  // above the joint before, m
    Vec3 axis;
    double mass, limit, effort;  // kg, rad, N m
    double radius;               // m
  };
  // The offsets of Tiago's shoulder are left out, so that the axes of three joints meet in it; its ranges are wider than
  // Tiago's where a ball joint of three hinges needs it. A wrist that rolls, pitches and yaws turns freely where the hand is
  // in line with the forearm; one that rolls twice is singular there.
  const std::array<Joint, 7> joints{{{0.0, Vec3::UnitZ(), 1.56, 2.9, 43.0, 0.055},
                                     {0.125, Vec3::UnitY(), 1.80, 2.1, 43.0, 0.055},
                                     {0.0895, Vec3::UnitZ(), 1.80, 2.9, 26.0, 0.050},
                                     {0.222, Vec3::UnitY(), 1.43, 2.36, 26.0, 0.045},
                                     {0.162, Vec3::UnitZ(), 1.66, 2.09, 6.6, 0.040},
                                     {0.150, Vec3::UnitY(), 0.37, 1.41, 6.6, 0.036},
                                     {0.0, Vec3::UnitX(), 1.14, 1.41, 6.6, 0.033}}};
  constexpr double kFlange = 0.06;   // m, above the last joint
  constexpr double kArmature = 0.1;  // kg m^2, as of add_arm7
  Manipulator arm;
  Index parent = mount.parent;
  Pose pose = mount.pose;
  for (std::size_t k = 0; k < joints.size(); ++k) {
    const Joint& joint = joints[k];
    const double length = k + 1 < joints.size() ? joints[k + 1].rise : kFlange;
    const std::string number = std::to_string(k + 1);
    const Pose place = pose * Pose{Vec3(0.0, 0.0, joint.rise), Mat3::Identity()};
    parent = add_link(builder, world, arm,
                      {mount.prefix + "arm_link" + number, parent, place, std::max(0.02, length - 0.02),
                       joint.radius, joint.mass, k % 2 == 1 ? kJointColor : kShell},
                      mount.material);
    pose = {};
    add_hinge(builder, arm,
              {.name = mount.prefix + "arm_joint" + number,
               .body = parent,
               .kind = JointKind::hinge,
               .axis = joint.axis,
               .armature = kArmature,
               .limited = true,
               .lower = -joint.limit,
               .upper = joint.limit},
              joint.effort);
  }
  arm.body = parent;
  arm.end = {Vec3(0.0, 0.0, kFlange), Mat3::Identity()};
  return arm;
}

Manipulator add_hand7(ModelBuilder& builder, World& world, const Mount& mount, double spread) {
  constexpr double kLengths[2] = {0.054, 0.055};  // m: the Allegro's first link; its other two in one
  constexpr double kMasses[2] = {0.065, 0.062}, kThumbBase = 0.03;  // kg
  constexpr double kRadius = 0.0098;                                // m
  constexpr double kEffort = 0.7;                                   // N m
  constexpr double kArmature = 1e-3, kDamping = 0.02;               // kg m^2, N m s/rad, as of add_hand16
  constexpr double kThick = 0.03, kPitch = 0.05;                    // m: of the palm; between the fingers
  Manipulator hand;
  const Shape palm = Shape::box(Vec3(spread + 0.01, 0.04, 0.5 * kThick));
  const Pose place{Vec3(0.0, 0.0, 0.5 * kThick), Mat3::Identity()};
  hand.body = builder.add_body({.name = mount.prefix + "palm",
                                .parent = mount.parent,
                                .position = mount.pose.position,
                                .rotation = Quat(mount.pose.rotation),
                                .inertia = uniform_inertia(palm, 0.3).placed(place)});
  hand.bodies.push_back(hand.body);
  world.add_geom({.name = mount.prefix + "palm",
                  .shape = palm,
                  .body = hand.body,
                  .pose = place,
                  .material = mount.material,
                  .color = kHandColor});
  const auto hinge = [&](Index body, const std::string& name, const Vec3& axis, double lower, double upper) {
    add_hinge(builder, hand,
              {.name = name,
               .body = body,
               .kind = JointKind::hinge,
               .axis = axis,
               .armature = kArmature,
               .damping = kDamping,
               .limited = true,
               .lower = lower,
               .upper = upper},
              kEffort);
  };
  for (int finger = 0; finger < 3; ++finger) {
    const bool thumb = finger == 2;
    const double side = thumb ? -1.0 : 1.0;
    const std::string name = mount.prefix + (thumb ? "thumb" : "finger" + std::to_string(finger));
    Pose pose{Vec3(side * spread, thumb ? 0.0 : kPitch * (0.5 - finger), kThick), Mat3::Identity()};
    Index parent = hand.body;
    if (thumb) {
      parent = add_link(builder, world, hand,
                        {name + "0", parent, pose, 0.01, kRadius, kThumbBase, kHandColor}, mount.material);
      hinge(parent, name + "0", Vec3::UnitX(), -0.5, 0.5);
      pose = {};
    }
    for (int k = 0; k < 2; ++k) {
      const std::string link = name + std::to_string(k + 1);
      parent = add_link(builder, world, hand,
                        {link, parent, pose, kLengths[k], kRadius, kMasses[k], kHandColor}, mount.material);
      hinge(parent, link, Vec3(0.0, -side, 0.0), -0.6, 1.7);
      pose = {Vec3(0.0, 0.0, kLengths[k]), Mat3::Identity()};
    }
  }
  hand.end = {Vec3(0.0, 0.0, kThick), Mat3::Identity()};
  return hand;
}

}  // namespace tribo::detail
