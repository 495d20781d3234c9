#include "tribo/control/trot.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/control/force_distribution.h"
#include "tribo/multibody/rotation.h"

namespace tribo {

namespace {

constexpr double kPressed = 0.04;      // of the weight: a foot that is pressed more stands
constexpr double kLanding = 0.4;       // share of a swing before which a touch is not its end
constexpr double kLostAfter = 0.03;    // s without force after which a standing foot seeks the ground
constexpr double kSeekSpeed = 0.5;     // m/s, downwards
constexpr double kSeekDepth = 0.12;    // m below the plane of the last footholds, at most
constexpr double kLongestWait = 0.15;  // s that the clock waits for feet that seek
constexpr double kFootReach = 0.16;    // m from below the hip, at most
constexpr double kSunk = 0.01;  // m: swings end this far below where the ground should be, so that feet press
constexpr double kLargestSlope = 0.4;  // of that plane
constexpr double kLead = 0.15;         // m: the reference place is never further away than this
// Of the wrench: torque counts as force at this lever, m; forces of feet cost this share of their squares.
constexpr double kLever = 0.15, kReluctance = 3e-3;
constexpr double kPlacePart = 0.02;  // s^2: feet help the acceleration to the place by this much of it
constexpr double kSingular = 1e-4;   // m^2, added to J J^T: about (1 cm)^2, against legs stretched out
constexpr double kDrySpeed = 0.2;    // rad/s at which dry friction of a joint is mostly made up for

double fraction(double x) { return x - std::floor(x); }

void require(bool fine, const char* name, double value) {
  if (!fine) throw InvalidInput(fmt::format("trot: {} is {}", name, value));
}

void check(const TrotSettings& s) {
  require(s.period > 0.0, "period", s.period);
  require(s.stance_share >= 0.5 && s.stance_share < 0.95, "stance_share", s.stance_share);
  require(s.height > 0.0, "height", s.height);
  require(s.clearance >= 0.0, "clearance", s.clearance);
  require(s.friction >= 0.0, "friction", s.friction);
  require(s.effort > 0.0, "effort", s.effort);
  require(s.settle >= 0.0, "settle", s.settle);
}

double yaw_of(const Mat3& rotation) { return std::atan2(rotation(1, 0), rotation(0, 0)); }

Vec2 turned(const Vec2& x, double angle) { return Eigen::Rotation2Dd(angle) * x; }

}  // namespace

Trot::Trot(const World& world, const Quadruped& robot, TrotSettings settings)
    : world_(&world), robot_(robot), settings_(settings), dynamics_(world.model) {
  check(settings_);
  const Model& model = world.model;
  const Index tree = model.body_tree(robot.trunk);
  for (Index b = model.tree_body(tree); b < model.tree_body_end(tree); ++b) mass_ += model.inertia(b).mass;
  Kinematics kinematics(model);
  Vector straight = model.reference_coordinates();
  for (const QuadrupedLeg& leg : robot.legs) {
    for (const Index joint : leg.joints) straight[model.joint_coordinate(joint)] = 0.0;
  }
  kinematics.set_positions(straight);
  for (std::size_t k = 0; k < 4; ++k)
    neutral_[k] = kinematics.pose(robot.trunk).to_local(foot_center(k, kinematics)).head<2>();
}

void Trot::restart() { begun_ = false; }

Vec3 Trot::foot_center(std::size_t leg, const Kinematics& kinematics) const {
  return kinematics.pose(robot_.legs[leg].foot) * robot_.legs[leg].foot_center;
}

void Trot::begin(const Kinematics& kinematics, double time) {
  begun_ = true;
  last_time_ = time;
  waited_ = still_ = clock_ = 0.0;
  swings_ = 0;
  const Pose& trunk = kinematics.pose(robot_.trunk);
  yaw_ = yaw_of(trunk.rotation);
  place_ = body_now(kinematics).center.head<2>();
  for (std::size_t k = 0; k < 4; ++k) {
    legs_[k] = {};
    legs_[k].target = legs_[k].lifted = foot_center(k, kinematics);
    legs_[k].support = legs_[k].target - Vec3(0.0, 0.0, robot_.legs[k].foot_radius);
    force_[k].setZero();
  }
  ground_.setZero();
  for (const Leg& leg : legs_) ground_[0] += 0.25 * leg.support.z();
}

Trot::Body Trot::body_now(const Kinematics& kinematics) const {
  const Model& model = world_->model;
  const Index tree = model.body_tree(robot_.trunk);
  Body body{Vec3::Zero(), Vec3::Zero(), Mat3::Zero(), yaw_of(kinematics.pose(robot_.trunk).rotation)};
  for (Index b = model.tree_body(tree); b < model.tree_body_end(tree); ++b) {
    const double share = model.inertia(b).mass / mass_;
    body.center += share * kinematics.center(b);
    body.velocity += share * kinematics.point_velocity(b, kinematics.center(b));
  }
  for (Index b = model.tree_body(tree); b < model.tree_body_end(tree); ++b) {
    const Mat3& turn = kinematics.pose(b).rotation;
    const Mat3 arm = cross_matrix(kinematics.center(b) - body.center);
    body.inertia += turn * model.inertia(b).rotational * turn.transpose() - model.inertia(b).mass * arm * arm;
  }
  return body;
}

// Diagonal pairs, half a period apart.
double Trot::phase_of(std::size_t leg) const { return fraction(clock_ + (leg == 0 || leg == 3 ? 0.0 : 0.5)); }

// The clock, which lifts no foot while another one that should stand has not met the ground.
void Trot::advance(double dt) {
  still_ += dt;
  if (still_ < settings_.settle) return;
  const double step = dt / settings_.period;
  bool lifts = false, seeks = false;
  for (std::size_t k = 0; k < 4; ++k) {
    const double phase = phase_of(k);
    lifts = lifts || (phase < settings_.stance_share && phase + step >= settings_.stance_share);
    seeks = seeks || legs_[k].foot == Foot::seeks;
  }
  if (lifts && seeks && waited_ < kLongestWait) {
    waited_ += dt;
    return;
  }
  if (lifts) waited_ = 0.0;
  clock_ = fraction(clock_ + step);
}

void Trot::update_leg(std::size_t leg, double pressed, double dt, const Vec3& center) {
  Leg& own = legs_[leg];
  const double phase = phase_of(leg);
  const bool scheduled = phase < settings_.stance_share;
  const double swung = (phase - settings_.stance_share) / (1.0 - settings_.stance_share);
  const bool touches = pressed > kPressed * mass_ * world_->gravity.norm();
  own.away = touches ? 0.0 : own.away + dt;
  if (own.foot == Foot::swings) {
    if (touches && (scheduled || swung > kLanding)) {
      own.foot = Foot::stands;
    } else if (scheduled) {
      own.foot = Foot::seeks;
    }
  } else if (!scheduled && swung < kLanding) {
    own.foot = Foot::swings;
    own.lifted = own.target = center;
    ++swings_;
  } else if (touches) {
    own.foot = Foot::stands;
  } else if (own.foot == Foot::stands && own.away > kLostAfter && still_ >= settings_.settle) {
    own.foot = Foot::seeks;
    own.target = center;
  }
  if (own.foot == Foot::stands) own.support = center - Vec3(0.0, 0.0, robot_.legs[leg].foot_radius);
}

// The plane through the last footholds, in the least squares.
void Trot::update_ground() {
  Matrix rows(4, 3);
  Vector heights(4);
  for (Eigen::Index k = 0; k < 4; ++k) {
    const Vec3& support = legs_[static_cast<std::size_t>(k)].support;
    rows.row(k) << 1.0, support.x(), support.y();
    heights[k] = support.z();
  }
  const Mat3 normal = rows.transpose() * rows;
  const Eigen::LDLT<Mat3> factor(normal);
  if (factor.info() != Eigen::Success || factor.vectorD().minCoeff() < 1e-9) return;
  Vec3 plane = factor.solve(Vec3(rows.transpose() * heights));
  const double slope = plane.tail<2>().norm();
  if (!plane.allFinite()) return;
  if (slope > kLargestSlope) plane.tail<2>() *= kLargestSlope / slope;
  ground_ = plane;
}

double Trot::ground_at(const Vec2& place) const { return ground_[0] + ground_.tail<2>().dot(place); }

// Where the commands lead the reference.
void Trot::follow(const Body& body, const TrotCommand& command, double dt) {
  yaw_ += dt * command.turn_rate;
  place_ += dt * turned(command.velocity, yaw_);
  Vec2 lead = place_ - body.center.head<2>();
  if (lead.norm() > kLead) lead *= kLead / lead.norm();
  place_ = body.center.head<2>() + lead;
}

Vec3 Trot::foothold(std::size_t leg, const Kinematics& kinematics, const Body& body, double left) const {
  const Vec2 velocity = body.velocity.head<2>();
  const Vec2 hip = kinematics.pose(robot_.trunk).position.head<2>() + turned(neutral_[leg], body.yaw);
  const Vec2 wanted = (place_ - body.center.head<2>()) * settings_.place_stiffness * kPlacePart;
  Vec2 reach = 0.5 * settings_.period * settings_.stance_share * velocity +
               settings_.placement * (velocity - turned(last_command_.velocity, yaw_)) - wanted;
  if (reach.norm() > kFootReach) reach *= kFootReach / reach.norm();
  const Vec2 place = hip + left * velocity + reach;
  return {place.x(), place.y(), ground_at(place) + robot_.legs[leg].foot_radius - kSunk};
}

PoseReference Trot::swing_reference(std::size_t leg, const Kinematics& kinematics, const Body& body) {
  Leg& own = legs_[leg];
  const double swing = settings_.period * (1.0 - settings_.stance_share);
  PoseReference reference;
  if (own.foot == Foot::seeks) {
    reference.pose.position = own.target;
    reference.velocity.z() = -kSeekSpeed;
    return reference;
  }
  const double share =
      std::clamp((phase_of(leg) - settings_.stance_share) / (1.0 - settings_.stance_share), 0.0, 1.0);
  const double time = share * swing;
  const Vec3 goal = foothold(leg, kinematics, body, swing - time);
  for (Index k = 0; k < 2; ++k) {
    const Motion1 way = quintic({.value = own.lifted[k]}, {.value = goal[k]}, swing, time);
    reference.pose.position[k] = way.value;
    reference.velocity[k] = way.velocity;
    reference.acceleration[k] = way.acceleration;
  }
  const double top = std::max(own.lifted.z(), goal.z()) + settings_.clearance, half = 0.5 * swing;
  const Motion1 rise = time < half ? quintic({.value = own.lifted.z()}, {.value = top}, half, time)
                                   : quintic({.value = top}, {.value = goal.z()}, half, time - half);
  reference.pose.position.z() = rise.value;
  reference.velocity.z() = rise.velocity;
  reference.acceleration.z() = rise.acceleration;
  own.target = reference.pose.position;
  return reference;
}

Vec6 Trot::wanted_wrench(const Kinematics& kinematics, const Body& body, const TrotCommand& command) const {
  const TrotSettings& s = settings_;
  const Vec2 ahead = turned(Vec2::UnitX(), yaw_);
  const Vec2 speed_error = turned(command.velocity, yaw_) - body.velocity.head<2>();
  const Vec2 lead = place_ - body.center.head<2>();
  const Vec2 along = s.place_damping * speed_error + s.place_stiffness * lead;
  const Pose& trunk = kinematics.pose(robot_.trunk);
  const double height = ground_at(trunk.position.head<2>()) + s.height;
  const double climb = ground_.tail<2>().dot(body.velocity.head<2>());
  const Vec3 acceleration(
      along.x(), along.y(),
      s.height_stiffness * (height - trunk.position.z()) + s.height_damping * (climb - body.velocity.z()));
  // The trunk's z on the normal of the ground, its x along the heading.
  const Vec3 up = Vec3(-ground_.y(), -ground_.z(), 1.0).normalized();
  Mat3 wanted;
  wanted.col(1) = up.cross(Vec3(ahead.x(), ahead.y(), 0.0)).normalized();
  wanted.col(0) = wanted.col(1).cross(up);
  wanted.col(2) = up;
  const Vec3 error = rotation_log(Quat(Mat3(wanted * trunk.rotation.transpose())));
  const Vec3 spin = kinematics.velocity(robot_.trunk).tail<3>();
  const Vec3 turn =
      s.attitude_stiffness * error + s.attitude_damping * (Vec3(0.0, 0.0, command.turn_rate) - spin);
  Vec6 wrench;
  wrench << mass_ * (acceleration - world_->gravity), body.inertia * turn;
  return wrench;
}

void Trot::carry(const Kinematics& kinematics, const Body& body, const TrotCommand& command) {
  const double weight = mass_ * world_->gravity.norm();
  WrenchRequest request{
      .center = body.center, .wrench = wanted_wrench(kinematics, body, command), .weights = {}};
  request.weights << Vec3::Constant(1.0 / weight), Vec3::Constant(1.0 / (kLever * weight));
  std::vector<SupportPoint> points;
  for (const Leg& leg : legs_) {
    if (leg.foot == Foot::stands)
      points.push_back({leg.support, Vec3::UnitZ(), settings_.friction, kReluctance / (weight * weight)});
  }
  const std::vector<Vec3> forces = distribute_force(request, points);
  std::size_t next = 0;
  for (std::size_t k = 0; k < 4; ++k)
    force_[k] = legs_[k].foot == Foot::stands ? forces[next++] : Vec3(Vec3::Zero());
}

void Trot::add_leg_force(std::size_t leg, const Kinematics& kinematics, const State& state,
                         const PoseReference& reference, Vector& sum) const {
  const Model& model = world_->model;
  const QuadrupedLeg& own = robot_.legs[leg];
  const bool stands = legs_[leg].foot == Foot::stands;
  const Index tree = model.body_tree(robot_.trunk), first = model.tree_dof(tree);
  const Vec3 center = foot_center(leg, kinematics);
  const Vec3 point = stands ? Vec3(center - Vec3(0.0, 0.0, own.foot_radius)) : center;
  Eigen::Matrix<double, 3, Eigen::Dynamic> whole(3, model.tree_dof_count(tree));
  kinematics.point_jacobian(own.foot, point, whole);
  Mat3 jacobian, inertia;
  std::array<Index, 3> dofs{};
  for (std::size_t k = 0; k < 3; ++k) dofs[k] = model.joint_dof(own.joints[k]);
  for (Eigen::Index a = 0; a < 3; ++a) {
    const Index dof = dofs[static_cast<std::size_t>(a)] - first;
    jacobian.col(a) = whole.col(dof);
    for (Eigen::Index b = 0; b < 3; ++b)
      inertia(a, b) = tree_mass_(dof, dofs[static_cast<std::size_t>(b)] - first);
  }
  Vec3 torque;
  if (stands) {
    torque = -jacobian.transpose() * force_[leg];
  } else {
    const Vec6& drift = kinematics.drift(own.foot);
    const Vec3 speed = kinematics.point_velocity(own.foot, center);
    const Vec3 spin = kinematics.velocity(own.foot).tail<3>();
    const Vec3 lever = center - kinematics.origin(tree);
    const Vec3 bent = drift.head<3>() + drift.tail<3>().cross(lever) + spin.cross(speed);
    const Vec3 wanted = reference.acceleration.head<3>() +
                        settings_.swing_stiffness * (reference.pose.position - center) +
                        settings_.swing_damping * (reference.velocity.head<3>() - speed) - bent;
    const Mat3 square = jacobian * jacobian.transpose() + kSingular * Mat3::Identity();
    torque = inertia * (jacobian.transpose() * square.ldlt().solve(wanted));
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const Index dof = dofs[k];
    const double rate = state.v[dof];
    const double all = torque[static_cast<Eigen::Index>(k)] + bias_[dof] + model.damping()[dof] * rate +
                       model.dry_friction()[dof] * std::tanh(rate / kDrySpeed);
    sum[dof] += std::clamp(all, -settings_.effort, settings_.effort);
  }
}

void Trot::add_force(const Kinematics& kinematics, const State& state, const TrotCommand& command,
                     const std::array<double, 4>& pressed, Vector& sum) {
  if (sum.size() != world_->model.dof_count())
    throw InvalidInput(fmt::format("trot: {} forces for {} dofs", sum.size(), world_->model.dof_count()));
  if (!begun_) begin(kinematics, state.time);
  const double dt = std::max(0.0, state.time - last_time_);
  last_time_ = state.time;
  last_command_ = command;
  dynamics_.set_positions(kinematics);
  tree_mass_ = dynamics_.mass(world_->model.body_tree(robot_.trunk));
  dynamics_.bias(kinematics, world_->gravity, bias_);
  const Body body = body_now(kinematics);
  advance(dt);
  for (std::size_t k = 0; k < 4; ++k) update_leg(k, pressed[k], dt, foot_center(k, kinematics));
  update_ground();
  follow(body, command, dt);
  carry(kinematics, body, command);
  for (std::size_t k = 0; k < 4; ++k) {
    if (legs_[k].foot == Foot::seeks) {
      const double floor = ground_at(legs_[k].target.head<2>()) + robot_.legs[k].foot_radius - kSeekDepth;
      legs_[k].target.z() = std::max(floor, legs_[k].target.z() - kSeekSpeed * dt);
    }
    const bool stands = legs_[k].foot == Foot::stands;
    add_leg_force(k, kinematics, state, stands ? PoseReference{} : swing_reference(k, kinematics, body), sum);
  }
}

}  // namespace tribo
