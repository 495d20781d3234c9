#include "tribo/sim/sensors/sensor_suite.h"

#include <algorithm>
#include <cmath>

#include "tribo/sim/sensors/contact_sensor.h"

namespace tribo {

namespace {

using Kind = SensorKind;

void put(const Vec3& value, double* out) { std::copy_n(value.data(), 3, out); }

void put(const Quat& q, double* out) {
  out[0] = q.w();
  put(Vec3(q.vec()), out + 1);
}

// Distance to the nearer limit less the margin where it is reached, else 0, and the sign of its change with the coordinate.
struct LimitReading {
  double distance = 0.0, sign = 0.0;
};
LimitReading limit_reading(double value, double lower, double upper, double margin) {
  const bool low = value - lower < upper - value;
  const double distance = (low ? value - lower : upper - value) - margin;
  return distance < 0.0 ? LimitReading{distance, low ? 1.0 : -1.0} : LimitReading{};
}

double rate_of(std::span<const JointConstraints::Term> terms, const Vector& v) {
  double rate = 0.0;
  for (const auto& term : terms) rate += term.coefficient * v[term.dof];
  return rate;
}

}  // namespace

SensorSuite::SensorSuite(const World& world) : world_(&world) {
  bool needs_forces = false;
  for (const SensorDescription& sensor : world.sensors) {
    start_.push_back(start_.back() + sensor.size());
    needs_forces = needs_forces || traits_of(sensor.kind).stage == SensorStage::step;
  }
  if (needs_forces) forces_ = std::make_unique<StepForces>(world);
}

void SensorSuite::read(const SensorInput& input, Vector& data) {
  if (input.last && forces_) forces_->set(*input.last);
  for (std::size_t k = 0; k < world_->sensors.size(); ++k) {
    const SensorDescription& sensor = world_->sensors[k];
    if (!input.last && traits_of(sensor.kind).stage == SensorStage::step) continue;
    double* out = data.data() + start_[k];
    read_one(sensor, input, out);
    cut(sensor, out);
  }
}

void SensorSuite::cut(const SensorDescription& sensor, double* out) {
  const SensorRange range = traits_of(sensor.kind).range;
  if (sensor.cutoff <= 0.0 || range == SensorRange::unlimited) return;
  const double least = range == SensorRange::positive ? 0.0 : -sensor.cutoff;
  for (Index k = 0; k < sensor.size(); ++k) out[k] = std::clamp(out[k], least, sensor.cutoff);
}

void SensorSuite::read_one(const SensorDescription& sensor, const SensorInput& input, double* out) {
  switch (traits_of(sensor.kind).object) {
    case SensorObject::joint:
    case SensorObject::ball:
      return read_joint(sensor, input, out);
    case SensorObject::tendon:
      return read_tendon(sensor, input, out);
    case SensorObject::actuator:
      return read_actuator(sensor, input, out);
    case SensorObject::subtree:
      return read_subtree(sensor, input.kinematics, out);
    case SensorObject::frame:
      if (traits_of(sensor.kind).stage == SensorStage::step) return read_step_frame(sensor, *input.last, out);
      return read_frame(sensor, input, out);
    case SensorObject::none:
      break;
  }
  const BodyForces& bodies = input.joints.body_forces();
  if (sensor.kind == Kind::contact) {
    read_contacts(*world_, sensor, *input.last, forces_->kinematics(), input.contact_slop, out);
  } else if (sensor.kind == Kind::clock) {
    *out = input.state.time;
  } else if (sensor.kind == Kind::potential_energy) {
    *out = Dynamics::weight_energy(input.kinematics, world_->gravity) -
           bodies.compensation_energy(input.kinematics) + input.motion.spring_energy(input.state.q);
  } else {
    *out = input.dynamics.kinetic_energy(input.state.v);
  }
}

void SensorSuite::read_joint(const SensorDescription& sensor, const SensorInput& input, double* out) const {
  const Model& model = world_->model;
  const JointDescription& joint = model.joint(sensor.object);
  const Index coordinate = model.joint_coordinate(sensor.object), dof = model.joint_dof(sensor.object);
  const Vector &q = input.state.q, &v = input.state.v;
  if (sensor.kind == Kind::ball_rotation) {
    std::copy_n(q.data() + coordinate, 4, out);
    return;
  }
  if (sensor.kind == Kind::ball_velocity) return put(Vec3(v.segment<3>(dof)), out);
  if (sensor.kind == Kind::joint_position) *out = q[coordinate];
  if (sensor.kind == Kind::joint_velocity) *out = v[dof];
  if (sensor.kind == Kind::joint_actuator_force) *out = forces_->joint_actuator_force(sensor.object);
  if (sensor.kind == Kind::joint_limit_force) {
    *out = forces_->limit_force(ConstraintSource::joint_limit, sensor.object);
  }
  const LimitReading limit = joint.limited
                                 ? limit_reading(q[coordinate], joint.lower, joint.upper, joint.limit_margin)
                                 : LimitReading{};
  if (sensor.kind == Kind::joint_limit_position) *out = limit.distance;
  if (sensor.kind == Kind::joint_limit_velocity) *out = limit.sign * v[dof];
}

void SensorSuite::read_tendon(const SensorDescription& sensor, const SensorInput& input, double* out) const {
  const TendonDescription& tendon = world_->model.tendons()[static_cast<std::size_t>(sensor.object)];
  const double length = input.joints.tendon_length(sensor.object, input.state.q);
  const double rate = rate_of(input.joints.tendon_terms(sensor.object), input.state.v);
  const LimitReading limit = tendon.limited
                                 ? limit_reading(length, tendon.lower, tendon.upper, tendon.limit_margin)
                                 : LimitReading{};
  if (sensor.kind == Kind::tendon_position) *out = length;
  if (sensor.kind == Kind::tendon_velocity) *out = rate;
  if (sensor.kind == Kind::tendon_limit_position) *out = limit.distance;
  if (sensor.kind == Kind::tendon_limit_velocity) *out = limit.sign * rate;
  if (sensor.kind == Kind::tendon_limit_force) {
    *out = forces_->limit_force(ConstraintSource::tendon_limit, sensor.object);
  }
  if (sensor.kind == Kind::tendon_actuator_force) *out = forces_->tendon_actuator_force(sensor.object);
}

void SensorSuite::read_actuator(const SensorDescription& sensor, const SensorInput& input, double* out) {
  if (sensor.kind == Kind::actuator_force) {
    *out = forces_->actuator_force(sensor.object);
    return;
  }
  const Drive drive =
      input.joints
          .acting(sensor.object, input.kinematics, input.state.q, input.state.v, input.actuator_input, room_)
          .drive;
  *out = sensor.kind == Kind::actuator_position ? drive.length : drive.rate;
}

SensorSuite::Frame SensorSuite::frame_of(const SensorFrame& frame, const Kinematics& kinematics) {
  const Pose pose = kinematics.pose(frame.body) * frame.pose;
  return {pose.position, kinematics.point_velocity(frame.body, pose.position),
          kinematics.velocity(frame.body).tail<3>(), pose.rotation};
}

void SensorSuite::read_frame(const SensorDescription& sensor, const SensorInput& input, double* out) const {
  Frame own = frame_of(sensor.frame, input.kinematics);
  if (sensor.kind == Kind::gyro) return put(own.rotation.transpose() * own.angular, out);
  if (sensor.kind == Kind::velocimeter) return put(own.rotation.transpose() * own.velocity, out);
  if (sensor.kind == Kind::magnetometer) return put(own.rotation.transpose() * world_->magnetic_field, out);
  if (sensor.reference) {
    const Frame from = frame_of(*sensor.reference, input.kinematics);
    const Mat3 back = from.rotation.transpose();
    const Vec3 apart = own.position - from.position;
    own.velocity = back * (own.velocity - from.velocity - from.angular.cross(apart));
    own.angular = back * (own.angular - from.angular);
    own.position = back * apart;
    own.rotation = back * own.rotation;
  }
  if (sensor.kind == Kind::frame_position) put(own.position, out);
  if (sensor.kind == Kind::frame_rotation) put(Quat(own.rotation).normalized(), out);
  if (sensor.kind == Kind::frame_x_axis) put(own.rotation.col(0), out);
  if (sensor.kind == Kind::frame_y_axis) put(own.rotation.col(1), out);
  if (sensor.kind == Kind::frame_z_axis) put(own.rotation.col(2), out);
  if (sensor.kind == Kind::frame_velocity) put(own.velocity, out);
  if (sensor.kind == Kind::frame_angular_velocity) put(own.angular, out);
}

// Accelerometers and MJCF's framelinacc show what a mass on a spring shows: less gravity.
void SensorSuite::read_step_frame(const SensorDescription& sensor, const LastStep& last, double* out) const {
  const Index body = sensor.frame.body;
  const Pose pose = forces_->kinematics().pose(body) * sensor.frame.pose;
  const Mat3 back = pose.rotation.transpose();
  switch (sensor.kind) {
    case Kind::frame_acceleration:
      return put(forces_->acceleration(body, pose.position) - last.gravity, out);
    case Kind::frame_angular_acceleration:
      return put(forces_->angular_acceleration(body), out);
    case Kind::accelerometer:
      return put(back * (forces_->acceleration(body, pose.position) - last.gravity), out);
    case Kind::force:
      return put(back * forces_->through(body, pose.position).force, out);
    case Kind::torque:
      return put(back * forces_->through(body, pose.position).torque, out);
    default:
      *out = touch_force(sensor, last, forces_->kinematics());
  }
}

void SensorSuite::read_subtree(const SensorDescription& sensor, const Kinematics& kinematics,
                               double* out) const {
  const Model& model = world_->model;
  double mass = 0.0;
  Vec3 center = Vec3::Zero(), momentum = Vec3::Zero(), turning = Vec3::Zero();
  const auto visit = [&](const auto& use) {
    for (Index b = sensor.object; b < model.body_count(); ++b) {
      if (b > sensor.object && model.body_parent(b) < sensor.object) break;
      if (model.inertia(b).mass > 0.0) use(b, model.inertia(b), kinematics.center(b));
    }
  };
  visit([&](Index b, const RigidInertia& inertia, const Vec3& at) {
    mass += inertia.mass;
    center += inertia.mass * at;
    momentum += inertia.mass * kinematics.point_velocity(b, at);
  });
  if (mass > 0.0) center /= mass, momentum /= mass;
  if (mass == 0.0) center = kinematics.pose(sensor.object).position;
  if (sensor.kind == Kind::subtree_center) return put(center, out);
  if (sensor.kind == Kind::subtree_velocity) return put(momentum, out);
  visit([&](Index b, const RigidInertia& inertia, const Vec3& at) {
    const Mat3& r = kinematics.pose(b).rotation;
    const Vec3 spin = kinematics.velocity(b).tail<3>();
    turning += (at - center).cross(inertia.mass * (kinematics.point_velocity(b, at) - momentum)) +
               r * (inertia.rotational * (r.transpose() * spin));
  });
  put(turning, out);
}

}  // namespace tribo
