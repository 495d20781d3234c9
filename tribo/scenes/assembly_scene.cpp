// The nut touches the stud with its thread (formula against formula) and everything else with its hexagon. The gripper holds
// it by friction and its flats; the arm is a Cartesian impedance of the frame between the pads, which follows the thread's helix
// (as Lee's arm follows a trajectory of the assembly) and yields to what the threads find.
#include "tribo/scenes/assembly_scene.h"

#include <cmath>
#include <memory>
#include <string>

#include "tribo/base/errors.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/ready_solids.h"
#include "tribo/scenes/assembly_task.h"
#include "tribo/scenes/model_parts.h"

namespace tribo::detail {

namespace {

using namespace assembly;

constexpr double kSteel = 7850.0;  // kg/m^3
// m, edges of the threads' triangles: chords of 4 mm on a radius of 24 mm are off by 0.08 mm, of which the gap takes out all but
// some hundredths; finer ones cost with their number.
constexpr double kThreadSpacing = 0.004;
constexpr std::uint32_t kThreads = 2, kOutsides = 1;  // what a geom touches

Layout layout_of(double protrusion) {
  Layout layout{.protrusion = protrusion, .stud = {}, .nut = {}};
  layout.stud.length = protrusion + 0.02;  // as much again is in the workpiece
  layout.stud.head_height = 0.0;
  return layout;
}

Shape hexagon_shape(const ThreadShape& s) {
  std::vector<Vec3> corners;
  for (int k = 0; k < 12; ++k) {
    const double angle = kTurn / 6.0 * k, radius = s.across_flats / std::sqrt(3.0);
    corners.emplace_back(radius * std::cos(angle), radius * std::sin(angle),
                         (k < 6 ? -0.5 : 0.5) * s.nut_height);
  }
  return Shape::hull(ConvexHull::around(corners));
}

// Four blocks around a square hole, in place of a plate with a bore.
void add_workpiece(World& world, const Material& material) {
  constexpr double kHole = 0.026, kHalf = 0.06, kWide = 0.5 * (kHalf - kHole);
  for (int side = 0; side < 4; ++side) {
    const double sign = side % 2 == 0 ? 1.0 : -1.0;
    const double along = side < 2 ? kHalf : kHole;
    Vec3 half(along, kWide, 0.5 * kWorkpiece), place(0.0, sign * (kHole + kWide), 0.5 * kWorkpiece);
    if (side >= 2) std::swap(half.x(), half.y()), std::swap(place.x(), place.y());
    world.add_geom({.name = "workpiece" + std::to_string(side),
                    .shape = Shape::box(half),
                    .pose = {kStudPlace + place, Mat3::Identity()},
                    .material = material,
                    .color = Color{0.42f, 0.50f, 0.60f, 1.0f}});
  }
}

void add_fixed_parts(World& world, const Layout& layout, double mu) {
  const Material steel{.friction = mu};
  world.add_geom({.name = "floor", .shape = Shape::plane(), .material = steel});
  world.add_geom({.name = "block",
                  .shape = Shape::box(Vec3(0.025, 0.025, 0.5 * kBlock)),
                  .pose = {kBlockPlace + Vec3(0.0, 0.0, 0.5 * kBlock), Mat3::Identity()},
                  .material = steel,
                  .color = Color{0.42f, 0.50f, 0.60f, 1.0f}});
  add_workpiece(world, steel);
  world.add_geom({.name = "stud",
                  .shape = threaded_bolt(layout.stud).shape(kThreadSpacing),
                  .pose = {kStudPlace + Vec3(0.0, 0.0, layout.stud_height()), Mat3::Identity()},
                  .material = steel,
                  .contact_type = kThreads,
                  .contact_affinity = kThreads,
                  .color = Color{0.55f, 0.57f, 0.6f, 1.0f}});
}

struct Jaws {
  std::vector<std::string> joints;
  Vector open, around;  // wide open; on the nut's flats
};

Jaws add_robot(ModelBuilder& builder, World& world, const Layout& layout, Parts& parts, double mu,
               const Robots& robots) {
  const Material steel{.friction = mu}, rubber{.friction = 0.8};
  const double half = 0.5 * layout.nut.across_flats;
  const World *arm = robots.find("arm"), *gripper = robots.find("gripper");
  if (arm != nullptr && gripper != nullptr) {
    parts.arm = add_arm_model(builder, world, *arm, "arm", {}, arm7_efforts());
    if (!parts.arm.end.rotation.isIdentity(1e-6))
      throw InvalidInput("the site at the end of the arm's model must have the axes of its last body");
    const ModelGripper model = add_gripper_model(builder, world, *gripper, "gripper",
                                                 {.parent = parts.arm.body, .pose = parts.arm.end}, half);
    parts.gripper = model.part, parts.passive = model.passive;
    parts.pad = model.pad, parts.closing = model.closing;
    return {model.joints, model.open, model.around};
  }
  parts.arm = add_arm7(builder, world, {.material = steel});
  parts.gripper =
      add_gripper2(builder, world, {.parent = parts.arm.body, .pose = parts.arm.end, .material = rubber});
  parts.pad = parts.gripper.bodies[1];
  return {parts.gripper.joints, Vector::Constant(2, kJawStroke), Vector::Constant(2, half)};
}

Index add_nut(ModelBuilder& builder, World& world, const Layout& layout, double mu) {
  const Material steel{.friction = mu};
  const Shape thread = threaded_nut(layout.nut).shape(kThreadSpacing);
  const Index nut = add_solid(builder, world, "nut", thread, kSteel * thread.moments().volume, {}, steel);
  world.geoms.back().contact_type = world.geoms.back().contact_affinity = kThreads;
  world.geoms.back().color = Color{0.80f, 0.66f, 0.36f, 1.0f};
  world.add_geom({.name = "hexagon",
                  .shape = hexagon_shape(layout.nut),
                  .body = nut,
                  .material = steel,
                  .contact_type = kOutsides,
                  .contact_affinity = kOutsides,
                  .visual = false});
  return nut;
}

// The nut's turn where its flanks rest on the stud's at this height.
double turn_at(const Layout& layout, double height) {
  return std::remainder(kTurn * (height - layout.stud_height() + layout.play()) / layout.nut.pitch, kTurn);
}

Scene make_assembly(const SceneValues& values, double dt, const Robots& robots) {
  // s: wrists of models have no armature, and dampers of the impedance about 0.002 kg m^2 want shorter steps.
  const bool modelled = robots.find("arm") != nullptr;
  Scene scene = empty_scene("assembly", dt, modelled ? 1.0 / 480.0 : 1.0 / 240.0);
  const Layout layout = layout_of(number(values, "protrusion"));
  const int start = static_cast<int>(whole(values, "start"));
  ModelBuilder builder;
  scene.world.margin = 2e-4;  // m: contacts nearer than this take part
  const double mu = number(values, "mu");
  add_fixed_parts(scene.world, layout, mu);
  Parts parts;
  const Jaws jaws = add_robot(builder, scene.world, layout, parts, mu, robots);
  parts.nut = add_nut(builder, scene.world, layout, mu);
  finish_scene(scene, builder);
  keep_apart(scene.world, {parts.arm, parts.gripper});
  const Model& model = scene.world.model;
  if (!modelled) couple_jaws(scene.world, parts.gripper);
  // Where the nut is, and the tool above or about it.
  constexpr double kSome = 0.3, kLeft = 0.05;  // rad: any; turns before it sits
  Vec3 place = kStudPlace + Vec3(0.0, 0.0, layout.seat() + layout.protrusion + kAbove + 0.02);
  double yaw = kMiddle + 0.5 * kStroke, turn = yaw - grasp_angle(layout, 0.0);
  if (start == 0) {
    place = kBlockPlace + Vec3(0.0, 0.0, kBlock + 0.5 * layout.nut.nut_height);
    turn = kSome, yaw = grasp_angle(layout, turn);
  } else if (start == 2) {
    place.z() = layout.seat() + kLeft * layout.nut.pitch;
    turn = turn_at(layout, place.z()), yaw = pad_angle(turn, kMiddle);
  }
  Vector& q = scene.start.q;
  const Index nut = model.joint_coordinate(model.joint_begin(parts.nut));
  q.segment<3>(nut) = place;
  q.segment<4>(nut + 3) << std::cos(0.5 * turn), 0.0, 0.0, std::sin(0.5 * turn);
  for (std::size_t k = 0; k < jaws.joints.size(); ++k)
    q[model.joint_coordinate(joint_numbers(model, {jaws.joints[k]})[0])] =
        (start == 0 ? jaws.open : jaws.around)[static_cast<Eigen::Index>(k)];
  const std::vector<Index> joints = joint_numbers(model, parts.arm.joints);
  // rad: the elbow up, the tool down.
  const double ahead = std::atan2(place.y(), place.x());
  const double guess[7] = {ahead, 0.5, 0.0, -1.6, 0.0, 1.04, ahead + kMiddle - yaw};
  for (std::size_t k = 0; k < joints.size(); ++k) q[model.joint_coordinate(joints[k])] = guess[k];
  const double height = place.z() + kAbove + (start == 0 ? kLift : 0.0);
  q = reach(model, q, parts.arm, parts.gripper.body, parts.gripper.end.position,
            tool_pose(place_at(place, height, yaw)));
  const auto task = std::make_shared<AssemblyTask>(scene.world, parts, layout, q, start);
  const double strokes = std::ceil(layout.protrusion / (kStroke / kTurn * layout.nut.pitch));
  scene.duration = start == 2 ? 2.0 : 5.0 + 5.5 * strokes;
  scene.control = [task](Simulator& s) { task->control(s); };
  scene.observe = [task](const Simulator& s, const StepReport& r) { task->observe(s, r); };
  scene.observables = [task](const Simulator& s) { return task->observables(s); };
  return scene;
}

}  // namespace

std::vector<SceneInfo> assembly_scene_infos() {
  return {{"assembly",
           "an arm with a gripper takes an M48 nut, sets it on a stud and screws it down (Lee et al. 2024, "
           "sec. VII-A2)",
           {{"start", 0, 0, 2, true,
             "0: the nut on its block, 1: in the gripper, 2: a twentieth of a turn before it sits"},
            {"protrusion", 0.012, 0.008, 0.045, false, "of the stud above the workpiece, m"},
            {"mu", 0.2, 0.0, 1.0, false, "friction of steel on steel; of the pads 0.8"}},
           make_assembly,
           {{"arm", "kuka_iiwa_14", "iiwa14.xml"}, {"gripper", "robotiq_2f85", "2f85.xml"}}}};
}

}  // namespace tribo::detail
