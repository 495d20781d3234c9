// The first bowl stands where the pile is to be. The second is spread from inside, its wall held by friction; the plate is taken
// at its rim, three fingers below and the thumb above; the pot hangs by its handle on three hooked fingers. The arm is a
// Cartesian impedance of the fingertips' frame, the fingers are a joint impedance.
#include "tribo/scenes/piling_scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <string>

#include "tribo/control/cartesian_impedance.h"
#include "tribo/control/joint_impedance.h"
#include "tribo/control/phases.h"
#include "tribo/multibody/rotation.h"
#include "tribo/scenes/dishware.h"
#include "tribo/scenes/manipulators.h"

namespace tribo::detail {

namespace {

// m: where the pile is and where the dishes stand at first; the arm's base is the origin.
const Vec3 kPile(0.62, 0.0, 0.0);
const std::array<Vec3, kDishCount> kPlaces{kPile, Vec3(0.56, 0.27, 0.0), Vec3(0.58, -0.28, 0.1),
                                           Vec3(0.38, 0.42, 0.0)};
constexpr double kBar = 0.15,
                 kBarRadius = 0.008;  // m: height of the pot's handle above its floor; of its wire

// Of the impedances: N/m, N m/rad; of the fingers N m/rad and N m s/rad.
constexpr double kStiffness = 4000.0, kTurnStiffness = 200.0, kFingerStiffness = 6.0, kFingerDamping = 0.1;
constexpr double kLoading = 100.0;   // N/s, at which the arm takes over a weight
constexpr double kClearance = 0.12;  // m, above the place where it is taken or set down, to carry a dish

constexpr Index kPotInHand = 4;    // of the parameter `first`
constexpr double kAlmost = 0.003;  // m: the pot above its place then

// How a dish is handled. `tool`: the fingertips' frame in that of the dish where it is held; `out`: the way from there, in the
// world, m, on which the hand comes and leaves, before it goes up.
struct Handling {
  std::size_t dish;
  Pose tool;
  Vec3 out = Vec3::Zero();
  Vec3 grip;  // the middle of what the fingers touch, in the palm's frame
  Vector open, closed;
  double sink = 0.0;  // m: how far the hand follows down what it has set down, so that a hook comes free
};

const Vec3 kTips(0.0, 0.0,
                 0.1778);  // m: of straight fingers in the palm's frame, Manipulator::end of the hand

// Four joints of each finger, the middle one between two that mirror each other.
Vector posture(const Eigen::Vector4d& side, const Eigen::Vector4d& middle, const Eigen::Vector4d& thumb) {
  Vector q(16);
  q << side, middle, side, thumb;
  q[8] = -q[8];
  return q;
}

Mat3 axes(const Vec3& x, const Vec3& z) {
  Mat3 turn;
  turn << x, z.cross(x), z;
  return turn;
}

Handling bowl_handling() {
  // Tips on the inner wall where its radius is 60 mm, at 41 mm above the floor, their middles 12 mm along the normal.
  return {.dish = 1,
          .tool = {Vec3(0.0, 0.0, 0.048), axes(-Vec3::UnitX(), -Vec3::UnitZ())},
          .grip = kTips,
          .open = posture({0.47, 0.3, 0.0, 0.0}, {0.0, 0.2, 0.0, 0.0}, {0.0, 0.2, 0.0, 0.0}),
          .closed = posture({0.47, 0.07, 0.0, 0.0}, {0.0, -0.07, 0.0, 0.0}, {0.0, -0.135, 0.0, 0.0})};
}

Handling plate_handling() {
  // Fingers below the rim at 91 mm from the axis, the thumb above at 109 mm: it carries the weight's moment.
  const double ahead = 0.9;  // rad, of the hand's direction in the plane
  const Vec3 inwards(std::cos(ahead), std::sin(ahead), 0.0);
  const Vec3 tips = -0.0925 * inwards + Vec3(0.0, 0.0, 0.0160);
  return {.dish = 2,
          .tool = {tips, axes(-Vec3::UnitZ(), inwards)},
          .out = -0.1 * inwards,
          .grip = kTips,
          .open = posture({0.0, 0.05, 0.0, 0.0}, {0.0, 0.05, 0.0, 0.0}, {0.0, -0.19, 0.1, 0.0}),
          .closed = posture({0.0, 0.27, 0.0, 0.0}, {0.0, 0.27, 0.0, 0.0}, {0.0, -0.05, 0.7, 0.25})};
}

Handling pot_handling() {
  // The bar lies 24 mm beside the middle of the palm, 90 mm from it, in the crook of the fingers; the thumb stays inside
  // the pot.
  const Mat3 down = axes(-Vec3::UnitX(), -Vec3::UnitZ());
  const Vec3 bar(0.024, 0.0, 0.090);
  return {.dish = 3,
          .tool = {Vec3(0.0, 0.0, kBar) - down * (bar - kTips), down},
          .grip = bar,
          .open = posture({0.0, -0.18, 0.0, 0.0}, {0.0, -0.18, 0.0, 0.0}, {0.0, 0.2, 0.0, 0.0}),
          .closed = posture({0.0, 0.0, 1.70, 0.9}, {0.0, 0.0, 1.70, 0.9}, {0.0, 0.2, 0.0, 0.0}),
          .sink = 0.015};
}

struct PilingParts {
  Manipulator arm, hand;
  std::array<Index, kDishCount> dishes{};
};

void add_handle(World& world, Index pot, const Material& material) {
  const double wide = 0.085, rim = 0.1;
  const auto wire = [&](const char* name, const Vec3& from, const Vec3& to) {
    const Vec3 way = to - from;
    world.add_geom({.name = name,
                    .shape = Shape::capsule(kBarRadius, 0.5 * way.norm()),
                    .body = pot,
                    .pose = {0.5 * (from + to), Quat::FromTwoVectors(Vec3::UnitZ(), way).toRotationMatrix()},
                    .material = material,
                    .color = dishes()[3].color});
  };
  wire("handle", Vec3(0.0, -wide, kBar), Vec3(0.0, wide, kBar));
  for (const double side : {1.0, -1.0})
    wire("handle_post", Vec3(0.0, side * wide, rim), Vec3(0.0, side * wide, kBar));
}

PilingParts add_parts(ModelBuilder& builder, World& world, Index first, double mu, double spacing) {
  const Material china{.friction = mu}, rubber{.friction = 1.0};
  world.add_geom({.name = "floor", .shape = Shape::plane(), .material = china});
  const double stand = kPlaces[2].z();
  world.add_geom({.name = "stand",
                  .shape = Shape::box(Vec3(0.035, 0.035, 0.5 * stand)),
                  .pose = {Vec3(kPlaces[2].x(), kPlaces[2].y(), 0.5 * stand), Mat3::Identity()},
                  .material = china,
                  .color = Color{0.62f, 0.55f, 0.46f, 1.0f}});
  PilingParts parts;
  parts.arm = add_arm7(builder, world, {.material = china});
  parts.hand =
      add_hand16(builder, world, {.parent = parts.arm.body, .pose = parts.arm.end, .material = rubber});
  for (std::size_t k = 0; k < kDishCount; ++k) {
    Vec3 place = kPlaces[k] + Vec3(0.0, 0.0, standing_height(k));
    if (static_cast<Index>(k) < first) place = kPile + Vec3(0.0, 0.0, stacked_heights()[k]);
    if (k == 3 && first == kPotInHand) place.z() += kAlmost;
    parts.dishes[k] = add_dish(builder, world, k, {place}, china, spacing);
  }
  // Its mass is part of the pot's.
  add_handle(world, parts.dishes[3], china);
  return parts;
}

class PilingTask {
 public:
  PilingTask(World world, PilingParts parts, const Vector& posture, Index first);

  void control(Simulator& s);
  void observe(const Simulator& s, const StepReport& report);
  std::vector<Observable> observables(const Simulator& s) const;

 private:
  // A leg of the hand's way: duration, s, and where it ends.
  using Leg = std::pair<double, Pose>;
  std::vector<Phase> phases(const Handling& handling);
  void restart(const Simulator& s);
  void move(const std::vector<Leg>& way);
  void take(const Handling& handling) {
    held_ = parts_.dishes[handling.dish];
    grip_ = handling.grip;
    taken_ = in_hand();
  }
  void bend(double duration, const Vector& fingers);
  Phase moving(std::string name, std::vector<Leg> way, std::function<void()> begin = {});
  double time() const { return now_->state().time; }
  Pose in_hand() const {
    return now_->kinematics().pose(parts_.hand.body).inverse() * now_->kinematics().pose(held_);
  }

  World world_;
  PilingParts parts_;
  CartesianImpedance arm_;
  JointImpedance fingers_;
  Index first_;
  std::unique_ptr<Phases> task_;

  const Simulator* now_ = nullptr;  // during control() and observe()
  std::unique_ptr<PoseTrajectory> path_;
  std::unique_ptr<Trajectory> bending_;
  Index held_ = -1;  // the dish in the hand
  Vec3 grip_;        // where it is held, in the palm's frame
  Pose taken_;       // it in the palm's frame when it was lifted
  double load_ = 0.0;
  // Measured.
  double slip_ = 0.0, deepest_ = 0.0;
};

PilingTask::PilingTask(World world, PilingParts parts, const Vector& posture, Index first)
    : world_(std::move(world)),
      parts_(std::move(parts)),
      arm_(world_,
           {.body = parts_.hand.body,
            .point = parts_.hand.end.position,
            .stiffness = (Vec6() << Vec3::Constant(kStiffness), Vec3::Constant(kTurnStiffness)).finished(),
            .posture_stiffness = 20.0,  // N m/rad and N m s/rad: the elbow comes back in half a second
            .posture_damping = 10.0,
            .posture_joints = joint_numbers(world_.model, parts_.arm.joints),
            .posture = posture,
            .efforts = effort_limits(world_.model, std::array{parts_.arm, parts_.hand})}),
      fingers_(world_, {.joints = joint_numbers(world_.model, parts_.hand.joints),
                        .stiffness = kFingerStiffness,
                        .damping = kFingerDamping,
                        .efforts = parts_.hand.efforts,
                        .compensate_weight = false,  // the arm's control does it for the tree
                        .compensate_coriolis = false}),
      first_(first) {}

void PilingTask::restart(const Simulator& s) {
  now_ = &s;
  const Pose tool = arm_.pose(s.kinematics());
  path_ = std::make_unique<PoseTrajectory>(std::vector<PoseTrajectory::Keyframe>{{s.state().time, tool}});
  bending_ = std::make_unique<Trajectory>(
      std::vector<Trajectory::Keyframe>{{s.state().time, fingers_.values(s.state())}});
  held_ = -1;
  load_ = slip_ = deepest_ = 0.0;
  std::vector<Phase> all;
  for (const Handling& handling : {bowl_handling(), plate_handling(), pot_handling()}) {
    if (static_cast<Index>(handling.dish) < std::min(first_, kPotInHand - 1)) continue;
    for (Phase& phase : phases(handling)) all.push_back(std::move(phase));
  }
  if (first_ == kPotInHand) {
    all.erase(all.begin(), std::find_if(all.begin(), all.end(),
                                        [](const Phase& phase) { return phase.name.starts_with("place"); }));
    take(pot_handling());
    load_ = dishes()[3].mass * kEarthGravity;
  }
  task_ = std::make_unique<Phases>(std::move(all));
}

void PilingTask::move(const std::vector<Leg>& way) {
  std::vector<PoseTrajectory::Keyframe> keyframes{{time(), path_->at(time()).pose}};
  for (const auto& [duration, pose] : way) keyframes.push_back({keyframes.back().time + duration, pose});
  path_ = std::make_unique<PoseTrajectory>(std::move(keyframes));
}

void PilingTask::bend(double duration, const Vector& fingers) {
  const Vector from = bending_->at(time()).value;
  bending_ = std::make_unique<Trajectory>(
      std::vector<Trajectory::Keyframe>{{time(), from}, {time() + duration, fingers}});
}

Phase PilingTask::moving(std::string name, std::vector<Leg> way, std::function<void()> begin) {
  return {.name = std::move(name),
          .begin =
              [this, way = std::move(way), begin = std::move(begin)] {
                move(way);
                if (begin) begin();
              },
          .done = [this](double) { return time() >= path_->end(); }};
}

std::vector<Phase> PilingTask::phases(const Handling& h) {
  const std::string name = std::string(" ") + dishes()[h.dish].name;
  const Index body = parts_.dishes[h.dish];
  const auto raised = [](Pose pose, const Vec3& by) {
    pose.position += by;
    return pose;
  };
  const Vec3 up(0.0, 0.0, kClearance);
  const Pose from = Pose{kPlaces[h.dish] + Vec3(0.0, 0.0, standing_height(h.dish))} * h.tool;
  const Pose to = Pose{kPile + Vec3(0.0, 0.0, stacked_heights()[h.dish])} * h.tool;
  const auto wait = [](double seconds) { return [seconds](double since) { return since >= seconds; }; };
  const auto opened = [this, h] { bend(0.5, h.open); };
  const auto lifted = [this, h] { take(h); };
  // As far as the dish, as it lies in the hand, is from a place above its own.
  const auto lower = [=, this](double seconds, double above) {
    const Vec3 place = kPile + Vec3(0.0, 0.0, stacked_heights()[h.dish] + above);
    move({{seconds, raised(path_->at(time()).pose, place - now_->kinematics().pose(body).position)}});
  };
  const auto set_down = [=, this] {
    held_ = -1;
    move({{0.3, raised(path_->at(time()).pose, Vec3(0.0, 0.0, -h.sink))}});
  };
  const auto leave = [=, this] {
    const Pose out = raised(path_->at(time()).pose, h.out);
    move({{0.5, out}, {0.7, raised(out, up)}});
  };
  const auto arrived = [this](double) { return time() >= path_->end(); };
  std::vector<Leg> near{{1.2, raised(from, h.out + up)}, {0.6, raised(from, h.out)}};
  if (!h.out.isZero(0.0)) near.emplace_back(0.5, from);
  return {moving("reach" + name, near, opened),
          {.name = "close" + name, .begin = [this, h] { bend(0.5, h.closed); }, .done = wait(0.6)},
          moving("lift" + name, {{0.9, raised(from, up)}}, lifted),
          moving("carry" + name, {{1.3, raised(to, up)}}),
          {.name = "lower" + name, .begin = [=] { lower(1.0, 0.015); }, .done = wait(1.4)},
          {.name = "place" + name, .begin = [=] { lower(0.5, 0.0); }, .done = wait(0.6)},
          {.name = "set down" + name, .begin = set_down, .done = arrived},
          {.name = "open" + name, .begin = opened, .done = wait(0.6)},
          {.name = "leave" + name, .begin = leave, .done = arrived}};
}

void PilingTask::control(Simulator& s) {
  now_ = &s;
  if (s.step_count() == 0) restart(s);
  task_->step(s.state().time);
  const double wanted = held_ >= 0 ? world_.model.inertia(held_).mass * kEarthGravity : 0.0;
  load_ += std::clamp(wanted - load_, -kLoading * s.time_step(), kLoading * s.time_step());
  s.force().setZero();
  arm_.add_force(s.kinematics(), s.state(), path_->at(time()), s.force(),
                 (Vec6() << 0.0, 0.0, load_, 0.0, 0.0, 0.0).finished());
  fingers_.add_force(s.kinematics(), s.state(), {.value = bending_->at(time()).value}, s.force());
}

void PilingTask::observe(const Simulator& s, const StepReport& report) {
  now_ = &s;
  deepest_ = std::max(deepest_, report.penetration);
  if (held_ >= 0) slip_ = std::max(slip_, (in_hand() * taken_.to_local(grip_) - grip_).norm());
}

std::vector<Observable> PilingTask::observables(const Simulator& s) const {
  // m: a dish stands in the one below, aside of it and in height by no more than this: less than a tenth of a plate's radius,
  // and than a wall's thickness.
  constexpr double kAside = 0.01, kInHeight = 0.002;
  std::vector<Observable> all{{"task_done", task_ && task_->finished() ? 1.0 : 0.0, ""},
                              {"task_done_exact", 1.0, ""}};
  double stacked = 0.0;
  for (std::size_t k = 0; k < kDishCount; ++k) {
    const Vec3 place = s.kinematics().pose(parts_.dishes[k]).position;
    const Vec3 below = k == 0 ? kPile : s.kinematics().pose(parts_.dishes[k - 1]).position;
    const double aside = (place - below).head<2>().norm(), height = place.z();
    if (aside < kAside && std::abs(height - stacked_heights()[k]) < kInHeight) stacked += 1.0;
    const std::string name = dishes()[k].name;
    all.push_back({name + "_height", height, "m"});
    all.push_back({name + "_height_exact", stacked_heights()[k], "m"});
    all.push_back({name + "_aside", aside, "m from the one below"});
  }
  all.push_back({"dishes_stacked", stacked, "of 4"});
  all.push_back({"dishes_stacked_exact", static_cast<double>(kDishCount), "of 4"});
  all.push_back({"slip_in_hand", slip_, "m"});
  all.push_back({"deepest_penetration", deepest_, "m"});
  return all;
}

Scene make_piling(const SceneValues& values, double dt) {
  Scene scene = empty_scene("piling", dt, 1.0 / 240.0);
  const Index first = whole(values, "first");
  ModelBuilder builder;
  scene.world.margin = 2e-4;  // m: contacts nearer than this take part
  const PilingParts parts =
      add_parts(builder, scene.world, first, number(values, "mu"), number(values, "spacing"));
  finish_scene(scene, builder);
  keep_apart(scene.world, {parts.arm, parts.hand});
  const Model& model = scene.world.model;
  const std::array all{bowl_handling(), plate_handling(), pot_handling()};
  const bool holds = first == kPotInHand;
  const Handling& begin = holds ? all.back() : all[static_cast<std::size_t>(first - 1)];
  Pose tool = Pose{kPlaces[begin.dish]} * begin.tool;
  tool.position += begin.out + Vec3(0.0, 0.0, kClearance + 0.03);
  if (holds) tool = Pose{kPile + Vec3(0.0, 0.0, stacked_heights()[begin.dish] + kAlmost)} * begin.tool;
  const std::vector<Index> arm = joint_numbers(model, parts.arm.joints),
                           hand = joint_numbers(model, parts.hand.joints);
  const double guess[7] = {std::atan2(tool.position.y(), tool.position.x()), 0.5, 0.0, -1.6, 0.0, 1.04, 0.0};
  Vector q = scene.start.q;
  for (std::size_t k = 0; k < arm.size(); ++k) q[model.joint_coordinate(arm[k])] = guess[k];
  for (std::size_t k = 0; k < hand.size(); ++k)
    q[model.joint_coordinate(hand[k])] = (holds ? begin.closed : begin.open)[static_cast<Eigen::Index>(k)];
  scene.start.q = reach(model, q, parts.arm, parts.hand.body, kTips, tool);
  const auto task = std::make_shared<PilingTask>(scene.world, parts, scene.start.q, first);
  scene.duration = holds ? 3.5 : 9.0 * static_cast<double>(4 - first);
  scene.control = [task](Simulator& s) { task->control(s); };
  scene.observe = [task](const Simulator& s, const StepReport& r) { task->observe(s, r); };
  scene.observables = [task](const Simulator& s) { return task->observables(s); };
  return scene;
}

}  // namespace

std::vector<SceneInfo> piling_scene_infos() {
  return {{"piling",
           "an arm with a hand stacks two bowls, a plate and a pot of 5 kg (Lee et al. 2024, sec. VII-B2)",
           {{"first", 1, 1, kPotInHand, true,
             "the first dish to be taken, those before it are stacked: 1 the second bowl, 2 the plate, 3 the "
             "pot; 4: the pot is in the hand above its place"},
            {"spacing", 0.02, 0.004, 0.04, false, "of the dishes' surfaces, m: the finer, the more contacts"},
            {"mu", 0.3, 0.0, 1.0, false, "friction of the dishes; of the hand 1"}},
           make_piling}};
}

}  // namespace tribo::detail
