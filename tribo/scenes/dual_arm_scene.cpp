#include "tribo/scenes/dual_arm_scene.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include "tribo/scenes/containers.h"
#include "tribo/scenes/dual_arm_objects.h"
#include "tribo/scenes/two_arm_script.h"

namespace tribo::detail {

namespace {

// ----- what there is ----------------------------------------------------------------------------------------------------

constexpr double kDegree = std::numbers::pi / 180.0;

struct Robot {
  Manipulator arm, hand;
};

Robot add_side(ModelBuilder& builder, World& world, double side, double grip) {
  constexpr double kAside = 0.25;    // m, of the bases
  constexpr double kSpread = 0.058;  // m: open fingers stand 5 mm off the jar's sides
  const Material material{.friction = grip};
  const std::string prefix = side > 0.0 ? "left_" : "right_";
  const Manipulator arm = add_arm7(
      builder, world,
      {.prefix = prefix, .pose = {Vec3(0.0, side * kAside, 0.0), Mat3::Identity()}, .material = material});
  const Manipulator hand = add_hand16(
      builder, world, {.prefix = prefix, .parent = arm.body, .pose = arm.end, .material = material}, kSpread);
  return {arm, hand};
}

constexpr double kPalm = 0.04;  // m, from the hand's mount to the front of its palm

GuidedArmSettings arm_settings(const Manipulator& hand, bool left) {
  GuidedArmSettings settings;
  // What leads: the front of the left palm, which lies against the jar; the middle between the right fingertips.
  settings.point = left ? Vec3(0.0, 0.0, kPalm) : hand.end.position;
  settings.posture = Vector(7);
  if (left) settings.posture << -0.5, 1.15, 0.0, -1.75, 0.5, -1.35, -1.57;
  if (!left) settings.posture << 0.36, 0.90, 0.0, -1.0, 0.0, 1.23, 0.36;
  settings.stiffness = Vector(7);
  settings.stiffness << 1500.0, 1500.0, 1000.0, 1000.0, 400.0, 400.0, 400.0;
  // Close to critical for the links' inertia of about 2, 0.6 and 0.1 kg m^2.
  settings.damping = Vector(7);
  settings.damping << 90.0, 90.0, 45.0, 45.0, 10.0, 10.0, 10.0;
  // Of a finger: roll, then three that bend. Around the jar it wraps, on the handle it presses with its tip. The thumb holds
  // against three fingers.
  const Eigen::Vector4d open(0.0, -0.15, 0.0, 0.0), wrap(0.0, 0.6, 1.6, 1.4), pinch(0.0, 0.36, 0.06, 0.03),
      thumb_pinch(0.0, 0.33, 0.04, 0.02), soft(3.0, 1.0, 1.0, 1.0), firm(3.0, 2.0, 2.0, 2.0),
      pinching(3.0, 3.0, 3.0, 3.0), thumb_pinching(9.0, 9.0, 9.0, 9.0);
  settings.finger_damping = 0.04;
  settings.open = Vector(16), settings.closed = Vector(16), settings.finger_stiffness = Vector(16);
  for (Eigen::Index f = 0; f < 4; ++f) {
    const bool thumb = f == 3;
    settings.open.segment<4>(4 * f) = open;
    settings.closed.segment<4>(4 * f) = left ? wrap : thumb ? thumb_pinch : pinch;
    settings.finger_stiffness.segment<4>(4 * f) = left    ? (thumb ? firm : soft)
                                                  : thumb ? thumb_pinching
                                                          : pinching;
  }
  return settings;
}

// ----- what it does -----------------------------------------------------------------------------------------------------

// The left palm's front where it holds a jar with this point of its axis, tilted to the right (-y) by `tilt` rad.
Pose palm_behind(const Vec3& axis_point, double tilt) {
  constexpr double kTouch = kJarHull + 0.001;  // m, from palm to axis
  Mat3 upright;  // columns: the palm's x (its fingers) to the right, y down, z forward
  upright.col(0) = -Vec3::UnitY(), upright.col(1) = -Vec3::UnitZ(), upright.col(2) = Vec3::UnitX();
  const Mat3 turn = Eigen::AngleAxisd(tilt, Vec3::UnitX()).toRotationMatrix();
  return {axis_point - kTouch * Vec3::UnitX(), turn * upright};
}
Pose pouring_palm(const Vec3& mouth, double tilt) {
  const Vec3 axis(0.0, -std::sin(tilt), std::cos(tilt));
  return palm_behind(mouth - (kJarHeight - kJarGrip) * axis, tilt);
}
// The right fingertips about the handle of a lid.
Pose tips_at(const Vec3& lid, double handle_height) {
  Mat3 down;  // columns: the palm's x to the back, y to the left, z down
  down.col(0) = -Vec3::UnitX(), down.col(1) = Vec3::UnitY(), down.col(2) = -Vec3::UnitZ();
  return {lid + Vec3(0.0, 0.0, handle_height), down};
}

struct DualArm : TwoArms {
  DualArmObjects objects;
  Index left_thumb = 0, right_thumb = 0;
  double finished_at = -1.0;  // s; < 0: not yet

  Index in_jar(const Simulator& s) const {
    return count_inside(s.kinematics(), objects.jar, kJarRadius, kJarHeight, objects.marbles, objects.count);
  }
  Index in_bowl(const Simulator& s) const {
    return count_inside(s.kinematics(), objects.bowl, kBowl.b.x(), kBowl.b.y(), objects.marbles,
                        objects.count);
  }
  // Reference that brings the lid, held as it is, to `height` above its seat on the jar as it stands: what arms and fingers
  // give way is seen and taken out.
  Pose lid_above_seat(double height) const {
    const Pose wanted = pose(objects.jar) * Pose{Vec3(0.0, 0.0, kLidSeat + height), Mat3::Identity()};
    const Pose tips = right->pose(simulator->kinematics());
    return wanted * (pose(objects.lid).inverse() * tips) * (tips.inverse() * right->reference());
  }
};

const Vec3 kUp(0.0, 0.0,
               0.30 - kJarGrip);  // m, by which the jar is lifted, less what its origin is above the table

void add_opening(DualArm* task, TwoArmScript& script) {
  constexpr double kHeld = 1.5;  // N, of each thumb
  const double handle = LidShape().handle_height();
  const Vec3 seat = kJarPlace + Vec3(0.0, 0.0, kLidSeat);
  script.add("reach", [=] {
    task->left->go(task->time(), {{0.8, palm_behind(kJarPlace + Vec3(0.0, 0.0, kJarGrip), 0.0)}});
    task->right->go(task->time(), {{0.8, tips_at(seat, handle)}});
  });
  script.add_until_force(
      "grasp", [=] { task->left->grip(true), task->right->grip(true); }, kHeld,
      [=] {
        const Simulator& s = *task->simulator;
        return std::min(contact_force(s, task->objects.jar, task->left_thumb).norm(),
                        contact_force(s, task->objects.lid, task->right_thumb).norm());
      },
      1.5);
  script.add("open", [=] {
    task->right->go(task->time(), {{0.5, tips_at(seat + Vec3(0.0, 0.0, 0.10), handle)},
                                   {1.3, tips_at(Vec3(0.50, -0.45, 0.28), handle)}});
  });
  script.add("lift", [=] {
    task->left->go(task->time(), {{0.6, palm_behind(kJarPlace + kUp + Vec3(0.0, 0.0, kJarGrip), 0.0)}});
  });
}

void add_pouring(DualArm* task, TwoArmScript& script) {
  // Mouth beside and above the bowl's middle, m; tilt, degrees.
  const auto at = [](double y, double z, double degrees) {
    return pouring_palm(kBowlPlace + Vec3(0.0, y, z), degrees * kDegree);
  };
  const auto empty_for = std::make_shared<Threshold>(1.0, 0.2);
  script.add(
      "pour",
      [=] {
        task->left->go(
            task->time(),
            {{0.9, at(0.06, 0.22, 70.0)}, {1.5, at(0.04, 0.19, 110.0)}, {2.0, at(0.03, 0.17, 145.0)}});
      },
      [=](double) {
        return empty_for->update(task->in_jar(*task->simulator) == 0 ? 1.0 : 0.0, task->time()) &&
               task->left->arrived(task->time());
      },
      4.0);
  script.add("upright", [=] {
    task->left->go(task->time(), {{0.5, at(0.06, 0.22, 70.0)},
                                  {1.3, palm_behind(kJarPlace + kUp + Vec3(0.0, 0.0, kJarGrip), 0.0)}});
  });
}

void add_closing(DualArm* task, TwoArmScript& script) {
  script.add("bring lid", [=] { task->right->go(task->time(), {{1.0, task->lid_above_seat(0.05)}}); });
  script.add(
      "settle", [] {}, [](double since) { return since > 0.2; });
  script.add("close", [=] {
    task->right->go(task->time(), {{0.3, task->lid_above_seat(0.027)}, {0.9, task->lid_above_seat(0.0)}});
  });
  script.add(
      "let go", [=] { task->right->grip(false); }, [](double since) { return since > 0.5; });
  script.add_until_force(
      "put back",
      [=] {
        Pose above = task->right->reference();
        above.position.z() += 0.12;
        task->right->go(task->time(), {{0.5, above}});
        // A little deeper than it stood, so that it is felt.
        task->left->go(task->time(), {{0.9, palm_behind(kJarPlace + Vec3(0.0, 0.0, kJarGrip - 0.006), 0.0)}});
      },
      2.0, [=] { return contact_force(*task->simulator, task->objects.jar, 0).norm(); }, 1.5);
  script.add(
      "release", [=] { task->left->grip(false); }, [](double since) { return since > 0.5; });
  script.add("retreat", [=] {
    Pose behind = task->left->reference();
    behind.position.x() -= 0.12;
    task->left->go(task->time(), {{0.6, behind}});
  });
}

double tilt_of(const Pose& pose) { return std::acos(std::clamp(pose.rotation(2, 2), -1.0, 1.0)); }

std::vector<Observable> observe(const DualArm& task, const Simulator& s) {
  constexpr double kNear = 0.002, kStraight = 2.0 * kDegree;  // m, rad: seated
  constexpr double kBack = 0.01;                              // m: back in place
  const Pose &jar = s.kinematics().pose(task.objects.jar), &lid = s.kinematics().pose(task.objects.lid);
  const Pose on_jar = jar.inverse() * lid;
  const double lid_off = (on_jar.position - Vec3(0.0, 0.0, kLidSeat)).norm();
  const double jar_off = (jar.position - kJarPlace).norm();
  const auto all = static_cast<double>(task.objects.count);
  const auto bowl = static_cast<double>(task.in_bowl(s)), left = static_cast<double>(task.in_jar(s));
  return {
      {"marbles_in_bowl", bowl, "marbles"},
      {"marbles_in_bowl_exact", all, "marbles"},
      {"marbles_in_jar", left, "marbles"},
      {"spilled", all - bowl - left, "marbles"},
      {"spilled_exact", 0.0, "marbles"},
      {"lid_seated", lid_off < kNear && tilt_of(on_jar) < kStraight ? 1.0 : 0.0,
       "(1: within 2 mm, 2 degrees)"},
      {"lid_seated_exact", 1.0, ""},
      {"lid_off_seat", lid_off, "m"},
      {"jar_back", jar_off < kBack && tilt_of(jar) < kStraight ? 1.0 : 0.0, "(1: within 1 cm, 2 degrees)"},
      {"jar_back_exact", 1.0, ""},
      {"jar_off_place", jar_off, "m"},
      {"finished_at", task.finished_at, "s (-1: not yet)"}};
}

Scene make_dual_arm(const SceneValues& values, double dt) {
  Scene scene = empty_scene("dual-arm", dt, 0.005);
  const auto task = std::make_shared<DualArm>();
  ModelBuilder builder;
  scene.world.add_geom({.name = "table", .shape = Shape::plane(), .material = {.friction = 0.5}});
  set_groups(scene.world.geoms.back(), kOrdinary | kOutside);
  const double grip = number(values, "grip");
  const bool sealed = whole(values, "lid-field") == 1;
  const Robot left = add_side(builder, scene.world, 1.0, grip),
              right = add_side(builder, scene.world, -1.0, grip);
  for (const Robot* robot : {&left, &right}) {
    set_groups(scene.world, robot->arm, kOrdinary | kOutside);
    set_groups(scene.world, robot->hand, kOrdinary | kOutside);
  }
  task->objects =
      add_dual_arm_objects(builder, scene.world, whole(values, "marbles"), number(values, "mu"), sealed);
  finish_scene(scene, builder);
  keep_apart(scene.world, {left.arm, left.hand});
  keep_apart(scene.world, {right.arm, right.hand});
  const auto world = std::make_shared<World>(scene.world);
  task->left_thumb = left.hand.bodies.back(), task->right_thumb = right.hand.bodies.back();
  task->left = std::make_unique<GuidedArm>(world, left.arm, left.hand, arm_settings(left.hand, true));
  task->right = std::make_unique<GuidedArm>(world, right.arm, right.hand, arm_settings(right.hand, false));
  Pose left_home = palm_behind(kJarPlace + Vec3(0.0, 0.0, kJarGrip), 0.0);
  left_home.position.x() -= 0.12;
  Pose right_home = tips_at(kJarPlace + Vec3(0.0, 0.0, kLidSeat), LidShape().handle_height());
  right_home.position.z() += 0.10;
  task->left->place(scene.start, left_home);
  task->right->place(scene.start, right_home);
  TwoArmScript script(*task);
  add_opening(task.get(), script);
  add_pouring(task.get(), script);
  add_closing(task.get(), script);
  task->phases = script.take();
  scene.duration = 14.0;
  scene.control = [task](Simulator& s) {
    if (s.step_count() == 0) task->finished_at = -1.0;
    task->control(s);
    if (task->phases->finished() && task->finished_at < 0.0) task->finished_at = s.state().time;
  };
  scene.observables = [task](const Simulator& s) { return observe(*task, s); };
  return scene;
}

}  // namespace

std::vector<SceneInfo> dual_arm_scene_infos() {
  return {{"dual-arm",
           "two arms with hands open a jar, pour its marbles into a bowl, close it and put it back (Castro "
           "et al. 2022, "
           "sec. VI-E); 160 dofs with 16 marbles",
           {{"marbles", 16, 0, 16, true, "of 50 g in the jar"},
            {"mu", 0.3, 0.0, 10.0, false, "friction coefficient of marbles, jar, lid and bowl"},
            {"grip", 1.0, 0.0, 10.0, false, "friction coefficient of the hands: of rubber"},
            {"lid-field", 0, 0, 1, true, "1: the lid has a ring of rubber with a pressure field"}},
           make_dual_arm}};
}

}  // namespace tribo::detail
