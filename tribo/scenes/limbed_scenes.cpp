#include "tribo/scenes/limbed_scenes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include "tribo/control/joint_impedance.h"
#include "tribo/control/phases.h"
#include "tribo/scenes/limbs.h"
#include "tribo/sim/attach.h"
#include "tribo/sim/inverse_dynamics.h"

namespace tribo::detail {

namespace {

// ----- hand-cubes -----------------------------------------------------------------------------------------------------

// Four fingers of four hinges each around a palm that looks up, as the Allegro hand: masses of its links, 1.1 kg in all.
struct Hand {
  std::vector<Index> joints = {};
  Vec3 palm = Vec3::Zero();  // middle of its upper side, m
  Vector open, closed;       // [joints], rad
};

Hand add_hand(ModelBuilder& builder, World& world, double height, double close, const Material& material) {
  Hand hand{.palm = Vec3(0.0, 0.0, height + 0.015), .open = Vector::Zero(16), .closed = Vector(16)};
  for (Eigen::Index f = 0; f < 4; ++f) hand.closed.segment<4>(4 * f) << 0.0, close, 0.5, 0.3;
  const Shape palm = Shape::box(Vec3(0.055, 0.055, 0.015));
  world.add_geom({.name = "palm", .shape = palm, .pose = {Vec3(0.0, 0.0, height)}, .material = material});
  for (Index finger = 0; finger < 4; ++finger) {
    // Three on one side, the thumb on the other; each bends about an axis so that its tip comes over the palm.
    const bool thumb = finger == 3;
    const double side = thumb ? -1.0 : 1.0, y = thumb ? 0.0 : 0.04 * (finger - 1.0);
    const std::string name = thumb ? "thumb" : "finger" + std::to_string(finger);
    const Vec3 bend(0.0, -side, 0.0);
    Index body = add_limb(
        builder, world,
        {name + "0", 0, Vec3(side * 0.075, y, height), Vec3(side * 0.001, 0.0, 0.0), 0.011, 0.02}, material);
    hand.joints.push_back(add_limb_hinge(builder, body, name + "0", {Vec3::UnitX(), -0.5, 0.5, 2e-4, 0.01}));
    body = add_limb(builder, world, {name + "1", body, Vec3::Zero(), Vec3(0.0, 0.0, 0.054), 0.010, 0.065},
                    material);
    hand.joints.push_back(add_limb_hinge(builder, body, name + "1", {bend, -0.5, 1.6, 2e-4, 0.01}));
    body = add_limb(builder, world,
                    {name + "2", body, Vec3(0.0, 0.0, 0.054), Vec3(0.0, 0.0, 0.038), 0.010, 0.035}, material);
    hand.joints.push_back(add_limb_hinge(builder, body, name + "2", {bend, -0.2, 1.7, 2e-4, 0.01}));
    body = add_limb(builder, world,
                    {name + "3", body, Vec3(0.0, 0.0, 0.038), Vec3(0.0, 0.0, 0.027), 0.010, 0.03}, material);
    hand.joints.push_back(add_limb_hinge(builder, body, name + "3", {bend, -0.2, 1.6, 2e-4, 0.01}));
  }
  return hand;
}

// A model whose palm looks up while its hinges are at 0, as the Allegro hand's; positive angles close it.
Hand attach_hand(ModelBuilder& builder, World& world, const World& model, double height, double close) {
  Aabb palm{Vec3::Constant(1e300), Vec3::Constant(-1e300)};
  Kinematics kinematics(model.model);
  kinematics.set_positions(model.model.reference_coordinates());
  for (const Geom& geom : model.geoms) {  // the palm is what does not move
    if (model.model.body_dof(geom.body) >= 0) continue;
    const Aabb box = geom.shape.bounds(kinematics.pose(geom.body) * geom.pose);
    palm = {palm.lower.cwiseMin(box.lower), palm.upper.cwiseMax(box.upper)};
  }
  const Vec3 middle(0.5 * (palm.lower + palm.upper));
  const Vec3 shift(-middle.x(), -middle.y(), height - palm.upper.z());
  const Attached added = attach(builder, world, model, {.pose = {shift}, .actuators = false});
  Hand hand{
      .palm = Vec3(0.0, 0.0, height), .open = Vector(added.joint_count), .closed = Vector(added.joint_count)};
  for (Index k = 0; k < added.joint_count; ++k) {
    const JointDescription& joint = model.model.joint(k);
    hand.joints.push_back(added.joint + k);
    hand.open[k] = std::clamp(0.0, joint.lower, joint.upper);
    // What turns both ways alike spreads the fingers, and stays.
    const bool spreads = joint.lower < -0.5 * joint.upper;
    hand.closed[k] = spreads ? hand.open[k] : std::clamp(close, joint.lower, joint.upper);
  }
  return hand;
}

// A stack of cubes on the palm, the fingers around it under joint impedance; each cube twice as heavy as the one below.
Scene make_hand_cubes(const SceneValues& values, double dt, const Robots& robots) {
  Scene scene = empty_scene("hand-cubes", dt, 0.001);
  const Index count = whole(values, "cubes");
  const double height = 0.3, half = 0.02, mass = number(values, "mass");
  const Material material{.friction = number(values, "mu")};
  ModelBuilder builder;
  const World* model = robots.find("hand");
  const Hand hand = model != nullptr
                        ? attach_hand(builder, scene.world, *model, height, number(values, "close"))
                        : add_hand(builder, scene.world, height, number(values, "close"), material);
  double total = 0.0;
  Index first = 0;
  for (Index k = 0; k < count; ++k) {
    const double own = mass * std::pow(number(values, "ratio"), k);
    const Vec3 place = hand.palm + Vec3(0.0, 0.0, (2.0 * k + 1.0) * half);
    const Index cube = add_solid(builder, scene.world, "cube" + std::to_string(k),
                                 Shape::box(Vec3::Constant(half)), own, {place}, material);
    if (k == 0) first = cube;
    total += own;
  }
  finish_scene(scene, builder);
  // The links of a finger are close to the palm's edge and to each other by design.
  for (Index b = 1; b < first; ++b) scene.world.excluded_bodies.emplace_back(0, b);
  for (Index a = 1; a < first; ++a) {
    for (Index b = a + 1; b < first; ++b) scene.world.excluded_bodies.emplace_back(a, b);
  }
  const auto world = std::make_shared<World>(scene.world);
  const auto fingers = std::make_shared<JointImpedance>(
      *world, JointImpedanceSettings{.joints = hand.joints,
                                     .stiffness = 1.0,
                                     .damping = 0.03,
                                     .efforts = Vector::Constant(hand.open.size(), 0.7)});
  for (Eigen::Index k = 0; k < hand.open.size(); ++k) {
    const Index joint = hand.joints[static_cast<std::size_t>(k)];
    scene.start.q[scene.world.model.joint_coordinate(joint)] = hand.open[k];
  }
  // From open to closing on the stack in half a second.
  const Trajectory path({{0.0, hand.open}, {0.5, hand.closed}});
  scene.control = [world, fingers, path](Simulator& s) {
    s.force().setZero();
    fingers->add_force(s.kinematics(), s.state(), JointTarget::of(path.at(s.state().time)), s.force());
  };
  scene.duration = 2.0;
  const Vector begin = scene.start.q;
  scene.observables = [=](const Simulator& s) {
    Vec3 support = Vec3::Zero();
    Index held = 0;
    double moved = 0.0;
    for (Index k = 0; k < count; ++k) {
      const Index q = s.model().joint_coordinate(s.model().joint_begin(first + k));
      support += contact_force(s, first + k);  // what cubes do to each other cancels
      if (s.state().q[q + 2] > height) ++held;
      moved = std::max(moved, (s.state().q.segment<3>(q) - begin.segment<3>(q)).norm());
    }
    return std::vector<Observable>{{"cubes_held", static_cast<double>(held), "cubes"},
                                   {"cubes_held_exact", static_cast<double>(count), "cubes"},
                                   {"support_force", support.z(), "N"},
                                   {"support_force_exact", total * kEarthGravity, "N (at rest)"},
                                   {"cube_moved", moved, "m"},
                                   {"fastest", s.state().v.cwiseAbs().maxCoeff(), "m/s, rad/s"}};
  };
  return scene;
}

// ----- arm-wall -------------------------------------------------------------------------------------------------------

// Six hinges with the lengths and masses of a UR5, a ball of 4 cm at its end.
Index add_arm6(ModelBuilder& builder, World& world, const Material& material) {
  const Hinge about_z{.axis = Vec3::UnitZ(), .lower = -6.28, .upper = 6.28, .armature = 0.1, .damping = 0.0};
  Hinge about_y = about_z;
  about_y.axis = Vec3::UnitY();
  Index body = add_limb(builder, world,
                        {"shoulder", 0, Vec3(0.0, 0.0, 0.089), Vec3(0.0, 0.05, 0.0), 0.06, 3.7}, material);
  add_limb_hinge(builder, body, "shoulder_pan", about_z);
  body = add_limb(builder, world,
                  {"upper_arm", body, Vec3(0.0, 0.136, 0.0), Vec3(0.0, 0.0, 0.425), 0.05, 8.393}, material);
  add_limb_hinge(builder, body, "shoulder_lift", about_y);
  body = add_limb(builder, world,
                  {"forearm", body, Vec3(0.0, -0.12, 0.425), Vec3(0.0, 0.0, 0.392), 0.04, 2.275}, material);
  add_limb_hinge(builder, body, "elbow", about_y);
  body = add_limb(builder, world,
                  {"wrist1", body, Vec3(0.0, 0.093, 0.392), Vec3(0.0, 0.0, 0.03), 0.035, 1.219}, material);
  add_limb_hinge(builder, body, "wrist1", about_y);
  body = add_limb(builder, world, {"wrist2", body, Vec3(0.0, 0.0, 0.06), Vec3(0.0, 0.0, 0.035), 0.035, 1.219},
                  material);
  add_limb_hinge(builder, body, "wrist2", about_z);
  body = add_limb(builder, world, {"tool", body, Vec3(0.0, 0.0, 0.095), Vec3::Zero(), 0.04, 0.188}, material);
  add_limb_hinge(builder, body, "wrist3", about_y);
  return body;
}

struct WallState {
  Index steps = 0, converged = 0;
  double torque = 0.0, path_error = 0.0, force_error = 0.0, slip_error = 0.0, iterations = 0.0;
};

// The joint velocity that moves the tip with `speed` and keeps the hand from turning (about two axes that a ball does not
// feel it may turn: damped least squares).
Vector resolved(const Simulator& s, Index hand, const Vec3& point, const Vec3& speed) {
  const Index n = s.model().dof_count();
  Eigen::Matrix<double, 3, Eigen::Dynamic> linear(3, n), angular(3, n);
  s.kinematics().point_jacobian(hand, point, linear);
  s.kinematics().angular_jacobian(hand, angular);
  Matrix all(6, n);
  all << linear, angular;
  Vector wanted(6);
  wanted << speed, Vec3::Zero();
  return all.transpose() * (all * all.transpose() + 1e-12 * Matrix::Identity(6, 6)).ldlt().solve(wanted);
}

// Impulses that press with `press` N s and oppose the slide of the reference, which the inverse dynamics only has to confirm.
Vector sliding_start(const ContactProblem& problem, const Vector& reference, double press, double mu) {
  Vector start = Vector::Zero(problem.row_count());
  if (problem.row_count() < 3) return start;
  Vector velocity(problem.row_count());
  problem.jacobian().multiply(reference, velocity);
  const double slip = velocity.head<2>().norm();
  if (slip > 0.0) start.head<2>() = -mu * press / slip * velocity.head<2>();
  start[2] = press;
  return start;
}

// The tip draws a circle on a wall x = const at a constant force: torques by inverse dynamics with contact, every step.
Scene make_arm_wall(const SceneValues& values, double dt) {
  Scene scene = empty_scene("arm-wall", dt, 0.001);
  const double press = number(values, "force"), mu = number(values, "mu"), radius = number(values, "radius");
  const Law law = number(values, "convex") != 0.0 ? Law::convex : Law::exact;
  const Material material{.friction = mu};
  ModelBuilder builder;
  World& world = scene.world;
  const Index hand = add_arm6(builder, world, material);
  finish_scene(scene, builder);
  scene.start.q << 0.15, 0.35, 1.25, -0.2, 0.3, 0.25;
  for (Index a = 0; a <= hand; ++a) {
    for (Index b = a + 1; b <= hand; ++b) {
      if (a != 0 || b != hand) world.excluded_bodies.emplace_back(a, b);
    }
  }
  Kinematics kinematics(world.model);
  kinematics.set_positions(scene.start.q);
  const Vec3 center = kinematics.pose(hand).position;
  const Mat3 facing = Quat::FromTwoVectors(Vec3::UnitZ(), -Vec3::UnitX()).toRotationMatrix();
  world.add_geom({.name = "wall",
                  .shape = Shape::plane(),
                  .pose = {Vec3(center.x() + 0.04, 0.0, 0.0), facing},
                  .material = material});
  const double period = 2.0;
  // Once around from the place of the start, beginning and ending at rest: center + radius (0, sin, 1 - cos).
  const auto on_path = [=](double t) {
    const Motion1 turn = quintic({}, {.value = 2.0 * std::numbers::pi}, period, std::clamp(t, 0.0, period));
    return Vec3(center + radius * Vec3(0.0, std::sin(turn.value), 1.0 - std::cos(turn.value)));
  };
  const auto record = std::make_shared<WallState>();
  scene.control = [=](Simulator& s) {
    const double h = s.time_step(), t = s.state().time;
    if (s.step_count() == 0) *record = {};
    s.force().setZero();
    const Vec3 tip = s.kinematics().pose(hand).position;
    Vec3 speed = (on_path(t + h) - tip) / h;
    // Along the wall: the normal row of the problem, bias - speed.x, is to be zero. Without contact back to the wall.
    const ContactProblem& problem = s.next_problem();
    speed.x() = problem.row_count() >= 3 ? problem.bias()[2] : std::max(0.0, speed.x());
    const Vector reference = resolved(s, hand, tip + Vec3(0.04, 0.0, 0.0), speed);
    const Vector start = sliding_start(problem, reference, press * h, mu);
    const InverseDynamics inverse = inverse_dynamics(problem, reference, {.law = law, .start = &start});
    s.force() = inverse.generalized_impulse / h;
    ++record->steps;
    record->iterations += inverse.iterations;
    if (inverse.converged) ++record->converged;
    record->torque = std::max(record->torque, s.force().cwiseAbs().maxCoeff());
  };
  scene.observe = [=](const Simulator& s, const StepReport&) {
    const Vec3 error = s.kinematics().pose(hand).position - on_path(s.state().time);
    record->path_error = std::max(record->path_error, error.norm());
    const Vec3 force = contact_force(s, hand);
    record->force_error = std::max(record->force_error, std::abs(-force.x() - press) / press);
    record->slip_error =
        std::max(record->slip_error, std::abs(force.tail<2>().norm() + mu * force.x()) / press);
  };
  scene.duration = period;
  scene.observables = [=](const Simulator&) {
    const double steps = std::max<double>(1.0, static_cast<double>(record->steps));
    return std::vector<Observable>{
        {"inverse_converged", static_cast<double>(record->converged) / steps, "of the steps"},
        {"inverse_converged_exact", law == Law::exact ? 1.0 : 0.0, "of the steps"},
        {"inverse_iterations", record->iterations / steps, "per step"},
        {"largest_torque", record->torque, "N m"},
        {"path_error", record->path_error, "m"},
        {"path_error_exact", 0.0, "m"},
        {"press_force_error", record->force_error, "of the force asked for"},
        {"friction_error", record->slip_error, "of the force asked for"}};
  };
  return scene;
}

}  // namespace

std::vector<SceneInfo> limbed_scene_infos() {
  const auto friction = [](double own) {
    return SceneParameter{"mu", own, 0.0, 10.0, false, "friction coefficient"};
  };
  return {{"hand-cubes",
           "a hand of 16 joints holds a stack of cubes, each heavier than the one below (Carpentier et al. "
           "2024, Fig. 3)",
           {{"cubes", 3, 1, 8, true, "number of cubes"},
            {"mass", 0.05, 1e-3, 1.0, false, "of the lowest, kg"},
            {"ratio", 2.0, 0.1, 100.0, false, "mass of a cube over that of the one below"},
            {"close", 0.55, 0.0, 1.5, false, "angle to which the fingers are to close, rad"},
            friction(0.8)},
           make_hand_cubes,
           {{"hand", "wonik_allegro", "right_hand.xml"}}},
          {"arm-wall",
           "a six-joint arm draws a circle on a wall, torques by inverse dynamics with contact (Carpentier "
           "et al. 2024, Fig. 8)",
           {{"force", 30.0, 0.1, 1000.0, false, "on the wall, N"},
            {"radius", 0.08, 0.0, 0.15, false, "of the circle, m"},
            {"convex", 0, 0, 1, true, "1: inverse dynamics under the convex law, which has no answer"},
            friction(0.5)},
           make_arm_wall}};
}

}  // namespace tribo::detail
