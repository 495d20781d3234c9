#include "tribo/scenes/pouring_scene.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include "tribo/collide/shapes/ready_solids.h"
#include "tribo/scenes/containers.h"
#include "tribo/scenes/pouring_robot.h"
#include "tribo/scenes/two_arm_script.h"

namespace tribo::detail {

namespace {

// ----- what there is ----------------------------------------------------------------------------------------------------

constexpr double kDegree = std::numbers::pi / 180.0;
constexpr double kSphereRadius = 0.005, kSphereDensity = 10000.0;  // m, kg/m^3: Lee et al. (2024), sec. VII-C
constexpr double kBottleMass = 0.1;                                // kg
constexpr double kWall = 0.004;                                    // m, thickness
constexpr double kSurface =
    0.004;  // m, pieces of the bottles' surfaces: the chords' error is taken out of the gaps
const BottleShape kFirst{0.035, 0.15, 0.019, 0.025, 0.03, kWall};
const BottleShape kSecond{0.035, 0.12, 0.032, 0.02, 0.02, kWall};
constexpr double kHull = 0.035 + 0.5 * kWall;              // m, outer radius of both
constexpr double kGripFirst = 0.055, kGripSecond = 0.045;  // m, above their floors
constexpr double kForward = 0.45, kAside = 0.14;           // m, where they stand

Container bottle_of(const std::string& name, const BottleShape& shape, double y, double mu,
                    const Color& color) {
  return {.name = name,
          .wall = bottle(shape).shape(kSurface),
          .mass = kBottleMass,
          .radius = kHull,
          .bottom = -0.5 * kWall,
          .top = shape.height - shape.neck_height - shape.shoulder_height,
          .pose = {Vec3(kForward, y, 0.5 * kWall), Mat3::Identity()},
          .inside = {.friction = mu},
          .outside = {.friction = mu},
          .color = color};
}

// Places in the first bottle, layer by layer: the middle, six around it, twelve around those.
Vec3 place_in_layers(Index k) {
  const double step = 2.08 * kSphereRadius;  // m: 4 % of a diameter between neighbours
  const Index layer = k / 19, place = k % 19;
  const double turn = 0.3 * static_cast<double>(layer);  // rad: no sphere stands on top of another
  Vec3 at(0.0, 0.0, 0.5 * kWall + kSphereRadius + (0.0005 + step * static_cast<double>(layer)));
  if (place == 0) return at;
  const bool inner = place < 7;
  const double sixth = std::numbers::pi / 3.0;
  const auto number = static_cast<double>(inner ? place - 1 : (place - 7) / 2);
  const bool corner = inner || (place - 7) % 2 == 0;
  const double radius = inner ? step : corner ? 2.0 * step : std::sqrt(3.0) * step;
  const double angle = turn + sixth * (number + (corner ? 0.0 : 0.5));
  return at + radius * Vec3(std::cos(angle), std::sin(angle), 0.0);
}

// ----- what it does -----------------------------------------------------------------------------------------------------

// Pose of the palm's front that holds a bottle of this axis point, tilted to the right (-y) by `tilt` rad.
Pose palm_behind(const Vec3& axis_point, double tilt, double distance) {
  Mat3 upright;  // columns: the palm's x to the left, y up, z forward
  upright.col(0) = Vec3::UnitY(), upright.col(1) = Vec3::UnitZ(), upright.col(2) = Vec3::UnitX();
  const Mat3 turn = Eigen::AngleAxisd(tilt, Vec3::UnitX()).toRotationMatrix();
  return {axis_point - distance * Vec3::UnitX(), turn * upright};
}
constexpr double kTouch = kHull + 0.001;  // m, from palm to axis

// Mouth of the first bottle at `mouth`, tilted.
Pose pouring_palm(const Vec3& mouth, double tilt) {
  const Vec3 axis(0.0, -std::sin(tilt), std::cos(tilt));
  return palm_behind(mouth - (kFirst.height - kGripFirst) * axis, tilt, kTouch);
}

struct Pouring : TwoArms {
  Index first = 0, second = 0, spheres = 0, count = 0;  // bodies; number of spheres
  Index left_finger = 0, right_finger = 0;
  double pace = 1.0;         // of the robot: by which its motions take longer
  double poured_at = -1.0;   // s; < 0: not yet
  Vec3 held = Vec3::Zero();  // the first bottle in its palm when it was lifted, m
  double slip = 0.0;         // m, the farthest from there

  Index inside(const Simulator& s, bool of_second) const {
    const BottleShape& shape = of_second ? kSecond : kFirst;
    return count_inside(s.kinematics(), of_second ? second : first, shape.radius, shape.height, spheres,
                        count);
  }
  Vec3 in_palm() const {
    return left->pose(simulator->kinematics()).to_local(simulator->kinematics().pose(first).position);
  }
};

const Vec3 kFirstPlace(kForward, kAside, 0.5 * kWall), kSecondPlace(kForward, -kAside, 0.5 * kWall);
constexpr double kLift = 0.06, kSecondAside = -0.10;  // m: where the second bottle is held
const Vec3 kRim(kForward, kSecondAside, 0.5 * kWall + kLift + kSecond.height);
Pose first_palm() { return palm_behind(kFirstPlace + Vec3(0.0, 0.0, kGripFirst), 0.0, kTouch); }
Pose second_palm() { return palm_behind(kSecondPlace + Vec3(0.0, 0.0, kGripSecond), 0.0, kTouch); }

void add_lifting(Pouring* task, TwoArmScript& script, bool from_grasp) {
  constexpr double kHeld = 1.0;  // N, of each thumb or finger
  if (!from_grasp) {
    script.add("reach", [=] {
      task->left->go(task->time(), {{0.8 * task->pace, first_palm()}});
      task->right->go(task->time(), {{0.8 * task->pace, second_palm()}});
    });
  }
  script.add_until_force(
      "grasp", [=] { task->left->grip(true), task->right->grip(true); }, kHeld,
      [=] {
        return std::min(contact_force(*task->simulator, task->first, task->left_finger).norm(),
                        contact_force(*task->simulator, task->second, task->right_finger).norm());
      },
      1.0);
  script.add("lift", [=] {
    task->held = task->in_palm();
    task->left->go(task->time(), {{0.5 * task->pace, palm_behind({kForward, kAside, 0.20}, 0.0, kTouch)}});
    const Vec3 grip = kRim - Vec3(0.0, 0.0, kSecond.height - kGripSecond);
    task->right->go(task->time(), {{0.5 * task->pace, palm_behind(grip, 0.0, kTouch)}});
  });
}

void add_pouring(Pouring* task, TwoArmScript& script) {
  // Mouth over the rim, m; tilt, degrees. The bottle's shoulder lets go from about 117 degrees on.
  const auto at = [](double y, double z, double degrees) {
    return pouring_palm(kRim + Vec3(0.0, y, z), degrees * kDegree);
  };
  script.add(
      "pour",
      [=] {
        task->left->go(task->time(), {{0.7 * task->pace, at(0.025, 0.045, 85.0)},
                                      {1.2 * task->pace, at(0.012, 0.035, 120.0)},
                                      {1.6 * task->pace, at(0.006, 0.035, 150.0)}});
      },
      [=](double) { return task->poured_at >= 0.0; }, 4.0 * task->pace);
  script.add(
      "hold", [] {}, [](double) { return false; });
}

std::vector<Observable> observe(const Pouring& task, const Simulator& s) {
  const auto all = static_cast<double>(task.count);
  const auto first = static_cast<double>(task.inside(s, false)),
             second = static_cast<double>(task.inside(s, true));
  return {{"spheres_in_second", second, "spheres"}, {"spheres_in_second_exact", all, "spheres"},
          {"spheres_left", first, "spheres"},       {"spilled", all - first - second, "spheres"},
          {"spilled_exact", 0.0, "spheres"},        {"poured_at", task.poured_at, "s (-1: not yet)"},
          {"slip_in_hand", task.slip, "m"}};
}

// The bottles at their places, `count` spheres in the first.
void add_objects(ModelBuilder& builder, World& world, Pouring& task, Index count, double mu) {
  task.first =
      add_container(builder, world, bottle_of("first", kFirst, kAside, mu, {0.45f, 0.66f, 0.55f, 0.45f}));
  task.second =
      add_container(builder, world, bottle_of("second", kSecond, -kAside, mu, {0.62f, 0.66f, 0.75f, 0.45f}));
  task.count = count;
  const Shape sphere = Shape::sphere(kSphereRadius);
  const double mass = kSphereDensity * sphere.moments().volume;
  for (Index k = 0; k < task.count; ++k) {
    const Vec3 place = Vec3(kForward, kAside, 0.5 * kWall) + place_in_layers(k);
    const Index body = add_solid(builder, world, "sphere" + std::to_string(k), sphere, mass,
                                 {place, Mat3::Identity()}, {.friction = mu});
    set_groups(world.geoms.back(), kOrdinary | kInside);
    world.geoms.back().color = Color{0.90f, 0.52f, 0.18f, 1.0f};
    if (k == 0) task.spheres = body;
  }
}

// Everywhere, or under the bottles alone: elbows of models hang before its edge.
void add_table(World& world, bool bounded) {
  constexpr double kEdge = 0.30;     // m, ahead
  const Vec3 half(0.4, 0.8, 0.015);  // m
  const Vec3 middle(kEdge + half.x(), 0.0, -half.z());
  world.add_geom({.name = "table",
                  .shape = bounded ? Shape::box(half) : Shape::plane(),
                  .pose = {bounded ? middle : Vec3(Vec3::Zero()), Mat3::Identity()},
                  .material = {.friction = 0.5}});
  set_groups(world.geoms.back(), kOrdinary | kOutside);
}

Scene make_pouring(const SceneValues& values, double dt, const Robots& robots) {
  Scene scene = empty_scene("pouring", dt, 1.0 / 240.0);
  const double grip = number(values, "grip");
  const auto task = std::make_shared<Pouring>();
  ModelBuilder builder;
  const World* model = robots.find("two arms");
  add_table(scene.world, model != nullptr);
  const PouringRobot robot = model != nullptr
                                 ? add_pouring_model(builder, scene.world, *model, grip, kHull, kTouch)
                                 : add_pouring_robot(builder, scene.world, grip);
  const PouringArm &left = robot.left, &right = robot.right;
  for (const PouringArm* side : {&left, &right}) {
    set_groups(scene.world, side->arm, kOrdinary | kOutside);
    set_groups(scene.world, side->hand, kOrdinary | kOutside);
  }
  add_objects(builder, scene.world, *task, whole(values, "spheres"), number(values, "mu"));
  finish_scene(scene, builder);
  keep_apart(scene.world, {left.arm, left.hand});
  keep_apart(scene.world, {right.arm, right.hand});
  const auto world = std::make_shared<World>(scene.world);
  task->left_finger = left.finger, task->right_finger = right.finger, task->pace = robot.pace;
  task->left = std::make_unique<GuidedArm>(world, left.arm, left.hand, left.settings);
  task->right = std::make_unique<GuidedArm>(world, right.arm, right.hand, right.settings);
  const bool from_grasp = whole(values, "start") == 1;
  const double distance = kTouch + (from_grasp ? 0.0 : 0.12);
  task->left->place(scene.start, palm_behind({kForward, kAside, 0.5 * kWall + kGripFirst}, 0.0, distance));
  task->right->place(scene.start, palm_behind({kForward, -kAside, 0.5 * kWall + kGripSecond}, 0.0, distance));
  TwoArmScript script(*task);
  add_lifting(task.get(), script, from_grasp);
  add_pouring(task.get(), script);
  task->phases = script.take();
  scene.duration = (from_grasp ? 3.5 : 4.5) * robot.pace;
  scene.control = [task](Simulator& s) {
    if (s.step_count() == 0) task->poured_at = -1.0, task->slip = 0.0;
    task->control(s);
  };
  scene.observe = [task](const Simulator& s, const StepReport&) {
    if (task->poured_at < 0.0 && task->inside(s, true) == task->count) task->poured_at = s.state().time;
    if (task->phases->name() != "reach" && task->phases->name() != "grasp")
      task->slip = std::max(task->slip, (task->in_palm() - task->held).norm());
  };
  scene.observables = [task](const Simulator& s) { return observe(*task, s); };
  return scene;
}

}  // namespace

std::vector<SceneInfo> pouring_scene_infos() {
  return {{"pouring",
           "a torso with two arms and hands (28 joints) pours spheres from one bottle into another (Lee et "
           "al. 2024, "
           "sec. VII-C)",
           {{"spheres", 45, 1, 45, true, "of 5 mm and 10 g/cm^3 in the first bottle"},
            {"start", 0, 0, 1, true, "0: hands away from the bottles; 1: around them"},
            {"mu", 0.2, 0.0, 10.0, false, "friction coefficient of spheres and bottles"},
            {"grip", 1.0, 0.0, 10.0, false, "friction coefficient of the hands: of rubber"}},
           make_pouring,
           {{"two arms", "pal_tiago_dual", "tiago_dual_motor.xml"}}}};
}

}  // namespace tribo::detail
