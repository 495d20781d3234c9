#include "tribo/scenes/assembly_task.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tribo/control/gripper.h"
#include "tribo/multibody/rotation.h"

namespace tribo::detail::assembly {

namespace {

// Of the tool: stiffness of the impedance along the axes, against tilting, about the vertical, N/m and N m/rad. The first turn
// rests on one side of the thread alone: a soft tool lets the nut tilt there, and the threads cross.
constexpr double kStiffness = 20000.0, kTiltStiffness = 400.0, kTurnStiffness = 100.0;
constexpr double kGripRate = 600.0;  // N/s: the pads touch before they press
constexpr double kGrip = 200.0;      // N, of each pad
constexpr double kSeated = 1.5;      // N m for kHold s: ten times what the thread alone takes
constexpr double kHold = 0.05;       // s
constexpr double kTurnTime = 3.0;    // s for a stroke

// Within half a turn of the middle.
double yaw_of(const Mat3& rotation) {
  const double yaw = std::atan2(rotation(1, 0), rotation(0, 0));
  return yaw < 0.0 ? yaw + kTurn : yaw;
}

std::vector<Index> elbow_joints(const Model& model, const Manipulator& arm) {
  std::vector<Index> joints = joint_numbers(model, arm.joints);
  joints.pop_back();
  return joints;
}

}  // namespace

Vector place_at(const Vec3& place, double height, double yaw) {
  return (Vector(4) << place.x(), place.y(), height, yaw).finished();
}

Pose tool_pose(const Vector& x) {
  Mat3 down;
  down << 1, 0, 0, 0, -1, 0, 0, 0, -1;
  return {x.head<3>(), Eigen::AngleAxisd(x[3], Vec3::UnitZ()) * down};
}
double pad_angle(double turn, double wish) {
  const double sixth = kTurn / 6.0, first = turn + 0.5 * sixth;
  return first + sixth * std::round((wish - first) / sixth);
}

// Five of the six pairs of flats are within the last joint's range.
double grasp_angle(const Layout& layout, double turn) {
  double best = 0.0, lowest = 1e9;
  for (int k = -2; k <= 2; ++k) {
    const double angle = pad_angle(turn, kMiddle + k * kTurn / 6.0);
    const double height = layout.above_thread(turn + kMiddle + 0.5 * kStroke - angle);
    if (height < lowest) best = angle, lowest = height;
  }
  return best;
}

AssemblyTask::AssemblyTask(World world, Parts parts, const Layout& layout, const Vector& posture, int start)
    : world_(std::move(world)),
      parts_(std::move(parts)),
      layout_(layout),
      impedance_(
          world_,
          {.body = parts_.gripper.body,
           .point = parts_.gripper.end.position,
           .stiffness =
               (Vec6() << kStiffness, kStiffness, kStiffness, kTiltStiffness, kTiltStiffness, kTurnStiffness)
                   .finished(),
           // N m/rad, N m s/rad: the elbow stays where it is, the last joint turns.
           .posture_stiffness = 100.0,
           .posture_damping = 20.0,
           .posture_joints = elbow_joints(world_.model, parts_.arm),
           .posture = posture,
           .efforts = effort_limits(world_.model, std::array{parts_.arm, parts_.gripper, parts_.passive})}),
      jaws_{joint_numbers(world_.model, parts_.gripper.joints)[0],
            joint_numbers(world_.model, parts_.gripper.joints)[1]},
      start_(start) {}

void AssemblyTask::restart(const Simulator& s) {
  const Pose tool = impedance_.pose(s.kinematics());
  command_ = {place_at(tool.position, tool.position.z(), yaw_of(tool.rotation)), Vector::Zero(4),
              Vector::Zero(4)};
  path_.reset();
  closed_ = carries_ = start_ > 0;
  aside_.setZero();
  grip_ = closed_ ? kGrip : 0.0;
  turns_ = counts_ = false;
  turned_ = slip_ = deepest_ = torque_ = 0.0;
  last_turn_ = yaw_of(nut().rotation);
  in_hand_ = nut_in_hand();
  task_ = std::make_unique<Phases>(phases());
}

// From where the tool is told to be.
void AssemblyTask::follow(const std::vector<Leg>& way) {
  turns_ = false;
  std::vector<Trajectory::Keyframe> keyframes{{time(), command_.value}};
  for (const auto& [duration, value] : way) keyframes.push_back({keyframes.back().time + duration, value});
  path_ = std::make_unique<Trajectory>(std::move(keyframes));
}

Phase AssemblyTask::move(const char* name, std::function<std::vector<Leg>()> way, const char* next) {
  return {.name = name,
          .begin = [this, way = std::move(way)] { follow(way()); },
          .done = [this](double) { return time() >= path_->end(); },
          .next = next};
}

Phase AssemblyTask::turning(const char* seated, const char* stroke_done) {
  const auto begin = [this] {
    in_hand_ = nut_in_hand();
    center();
    // Down the helix, from where the nut is.
    Vector to = command_.value;
    to[2] = impedance_.pose(now_->kinematics()).position.z();
    follow(
        {{0.01, to}, {kTurnTime, to - place_at(Vec3::Zero(), kStroke / kTurn * layout_.nut.pitch, kStroke)}});
    turns_ = true;
    seated_ = Threshold(kSeated, kHold);
  };
  const auto is_seated = [this](double) {
    const Mat3 turn = impedance_.pose(now_->kinematics()).rotation;
    const double lag = std::remainder(yaw_of(turn) - command_.value[3], kTurn);
    torque_ = std::max(torque_, kTurnStiffness * lag);
    return seated_.update(kTurnStiffness * lag, time());
  };
  return {.name = "turn",
          .begin = begin,
          .done = is_seated,
          .next = seated,
          .time_limit = kTurnTime,
          .otherwise = stroke_done};
}

std::vector<Phase> AssemblyTask::screwing_phases() {
  // To where the nut, as it lies in the hand, would be on the thread if that went on above the stud.
  const auto lower = [this] {
    Vector to = command_.value;
    center();
    to[2] += layout_.above_thread(yaw_of(nut().rotation)) - nut().position.z();
    return std::vector<Leg>{{1.0, to}};
  };
  const auto wait = [](double seconds) { return [seconds](double since) { return since >= seconds; }; };
  const auto open = [this] { closed_ = carries_ = false, follow({{0.1, command_.value}}); };
  // Up from the nut, back by a stroke, down on the next flats.
  const auto regrasp = [this] {
    const double height = nut().position.z() + kAbove,
                 yaw = pad_angle(yaw_of(nut().rotation), command_.value[3] + kStroke);
    return std::vector<Leg>{{0.5, place_at(kStudPlace, height + kLift, command_.value[3])},
                            {1.5, place_at(kStudPlace, height + kLift, yaw)},
                            {0.5, place_at(kStudPlace, height, yaw)}};
  };
  return {move("lower", lower),
          turning("release", "open"),
          {.name = "open", .begin = open, .done = wait(0.3)},
          move("regrasp", regrasp),
          {.name = "close again", .begin = [this] { closed_ = true; }, .done = wait(0.4), .next = "turn"},
          {.name = "release", .begin = open, .done = wait(0.3)},
          move("leave", [this] {
            return std::vector<Leg>{{0.7, command_.value + place_at(Vec3::Zero(), kLift, 0.0)}};
          })};
}

std::vector<Phase> AssemblyTask::phases() {
  const auto block = [this, yaw = grasp_angle(layout_, yaw_of(nut().rotation))](double height) {
    return place_at(kBlockPlace, kBlock + 0.5 * layout_.nut.nut_height + kAbove + height, yaw);
  };
  const double above = layout_.seat() + layout_.protrusion + kAbove + 0.02;
  const auto lift = [this, block] {
    carries_ = true;
    in_hand_ = nut_in_hand();
    return std::vector<Leg>{{0.7, block(kLift)}};
  };
  std::vector<Phase> all{
      move("approach",
           [block] {
             return std::vector<Leg>{{0.7, block(0.0)}};
           }),
      {.name = "close",
       .begin = [this] { closed_ = true; },
       .done = [](double since) { return since >= 0.4; }},
      move("lift", lift),
      move("carry", [above] {
        return std::vector<Leg>{{1.5, place_at(kStudPlace, above, kMiddle + 0.5 * kStroke)}};
      })};
  if (start_ > 0) all.clear();
  for (Phase& phase : screwing_phases()) all.push_back(std::move(phase));
  if (start_ > 1) all.erase(all.begin());
  return all;
}

void AssemblyTask::control(Simulator& s) {
  now_ = &s;
  if (s.step_count() == 0) restart(s);
  if (path_) command_ = path_->at(s.state().time);
  task_->step(s.state().time);
  PoseReference target{tool_pose(command_.value)};
  target.pose.position -= target.pose.rotation * aside_;
  target.velocity << command_.velocity.head<3>(), 0.0, 0.0, command_.velocity[3];
  target.acceleration << command_.acceleration.head<3>(), 0.0, 0.0, command_.acceleration[3];
  Vec6 force = Vec6::Zero();
  if (carries_) force.z() += world_.model.inertia(parts_.nut).mass * kEarthGravity;
  s.force().setZero();
  impedance_.add_force(s.kinematics(), s.state(), target, s.force(), force);
  const double most = kGripRate * s.time_step(), wanted = closed_ ? kGrip : -0.3 * kGrip;
  grip_ = closed_ ? std::min(wanted, std::max(grip_, 0.0) + most) : wanted;
  press(s);
}

// Slides press with the force itself; other drives turn a linkage, and the same share of their effort closes it.
void AssemblyTask::press(Simulator& s) {
  const Model& model = s.model();
  if (model.joint(jaws_[0]).kind == JointKind::slide) {
    add_grip(model, {.first = jaws_[0], .second = jaws_[1], .damping = 60.0}, s.state(),
             -parts_.closing * grip_, s.force());
    return;
  }
  for (std::size_t k = 0; k < 2; ++k)
    s.force()[model.joint_dof(jaws_[k])] +=
        parts_.closing * grip_ / kGrip * parts_.gripper.efforts[static_cast<Eigen::Index>(k)];
}

void AssemblyTask::observe(const Simulator& s, const StepReport& report) {
  now_ = &s;
  deepest_ = std::max(deepest_, report.penetration);
  const Pose nut = this->nut();
  const double turn = yaw_of(nut.rotation);
  // In the thread by half a pitch and more.
  const double on =
      kWorkpiece + layout_.protrusion + 0.5 * (layout_.nut.nut_height - 2.0 * layout_.nut.pitch);
  const bool over = (nut.position - kStudPlace).head<2>().norm() < 0.5 * layout_.nut.diameter;
  if (!counts_ && over && nut.position.z() < on) counted_from_ = nut.position.z(), counts_ = true;
  if (counts_) turned_ -= std::remainder(turn - last_turn_, kTurn);
  last_turn_ = turn;
  if (closed_ && (carries_ || turns_)) {
    const Pose change = in_hand_.inverse() * nut_in_hand();
    const double edge =
        change.position.norm() + 0.5 * layout_.nut.across_flats * rotation_log(Quat(change.rotation)).norm();
    slip_ = std::max(slip_, edge);
  }
}

std::vector<Observable> AssemblyTask::observables(const Simulator& s) const {
  const Pose& nut = s.kinematics().pose(parts_.nut);
  const double pitch = layout_.nut.pitch, height = nut.position.z(), on_stud = height - layout_.stud_height();
  const double lead = std::remainder(on_stud - pitch * yaw_of(nut.rotation) / kTurn, pitch);
  return {{"task_done", task_ && task_->finished() ? 1.0 : 0.0, ""},
          {"task_done_exact", 1.0, ""},
          {"nut_height", height - layout_.seat(), "m above its seat"},
          {"nut_height_exact", 0.0, "m above its seat"},
          {"turns", turned_ / kTurn, "on the thread"},
          {"turns_exact", counts_ ? (counted_from_ - height) / pitch : 0.0, "by the pitch"},
          {"lead_error", lead, "m, off the middle of the thread's play"},
          {"lead_error_bound", layout_.play(), "m, the play"},
          {"slip_in_hand", slip_, "m"},
          {"largest_torque", torque_, "N m"},
          {"deepest_penetration", deepest_, "m"}};
}

}  // namespace tribo::detail::assembly
