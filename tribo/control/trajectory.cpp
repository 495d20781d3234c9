#include "tribo/control/trajectory.h"

#include <fmt/format.h>

#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/multibody/rotation.h"

namespace tribo {

namespace {

template <class Keyframe>
void check_times(const std::vector<Keyframe>& keyframes) {
  if (keyframes.empty()) throw InvalidInput("trajectory: it needs at least one keyframe");
  for (std::size_t k = 0; k < keyframes.size(); ++k) {
    if (!std::isfinite(keyframes[k].time)) {
      throw InvalidInput(fmt::format("trajectory: the time of keyframe {} is not finite", k));
    }
    if (k > 0 && !(keyframes[k].time > keyframes[k - 1].time)) {
      throw InvalidInput(fmt::format("trajectory: keyframe {} at {:g} s is not after keyframe {} at {:g} s",
                                     k, keyframes[k].time, k - 1, keyframes[k - 1].time));
    }
  }
}

// The keyframe at or before `time`, which lies between the first and the last.
template <class Keyframe>
std::size_t segment_of(const std::vector<Keyframe>& keyframes, double time) {
  std::size_t k = 0;
  while (k + 2 < keyframes.size() && keyframes[k + 1].time <= time) ++k;
  return k;
}

}  // namespace

// With p(t) = c0 + c1 t + ... + c5 t^5: c0 .. c2 from the beginning, c3 .. c5 from what the end lacks.
Motion1 quintic(const Motion1& from, const Motion1& to, double duration, double time) {
  const double T = duration, t = time;
  const double c2 = 0.5 * from.acceleration;
  const double p = to.value - (from.value + from.velocity * T + c2 * T * T);
  const double v = (to.velocity - (from.velocity + 2.0 * c2 * T)) * T;
  const double a = (to.acceleration - 2.0 * c2) * T * T;
  const double c3 = (10.0 * p - 4.0 * v + 0.5 * a) / (T * T * T);
  const double c4 = (-15.0 * p + 7.0 * v - a) / (T * T * T * T);
  const double c5 = (6.0 * p - 3.0 * v + 0.5 * a) / (T * T * T * T * T);
  return {from.value + t * (from.velocity + t * (c2 + t * (c3 + t * (c4 + t * c5)))),
          from.velocity + t * (2.0 * c2 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5))),
          2.0 * c2 + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5))};
}

Trajectory::Trajectory(std::vector<Keyframe> keyframes) : keyframes_(std::move(keyframes)) {
  check_times(keyframes_);
  for (std::size_t k = 0; k < keyframes_.size(); ++k) {
    Keyframe& key = keyframes_[k];
    if (key.velocity.size() == 0) key.velocity = Vector::Zero(key.value.size());
    if (key.value.size() != keyframes_.front().value.size() || key.velocity.size() != key.value.size()) {
      throw InvalidInput(
          fmt::format("trajectory: keyframe {} has {} values and {} velocities; the first has {}", k,
                      key.value.size(), key.velocity.size(), keyframes_.front().value.size()));
    }
    if (!key.value.allFinite() || !key.velocity.allFinite()) {
      throw InvalidInput(fmt::format("trajectory: keyframe {} has a number that is not finite", k));
    }
  }
}

Reference Trajectory::at(double time) const {
  const Eigen::Index size = keyframes_.front().value.size();
  if (keyframes_.size() == 1 || time <= begin() || time >= end()) {
    const Keyframe& key = time <= begin() ? keyframes_.front() : keyframes_.back();
    return {key.value, Vector::Zero(size), Vector::Zero(size)};
  }
  const std::size_t k = segment_of(keyframes_, time);
  const Keyframe &a = keyframes_[k], &b = keyframes_[k + 1];
  Reference now{Vector(size), Vector(size), Vector(size)};
  for (Eigen::Index i = 0; i < size; ++i) {
    const Motion1 m =
        quintic({a.value[i], a.velocity[i]}, {b.value[i], b.velocity[i]}, b.time - a.time, time - a.time);
    now.value[i] = m.value;
    now.velocity[i] = m.velocity;
    now.acceleration[i] = m.acceleration;
  }
  return now;
}

PoseTrajectory::PoseTrajectory(std::vector<Keyframe> keyframes) : keyframes_(std::move(keyframes)) {
  check_times(keyframes_);
  for (std::size_t k = 0; k < keyframes_.size(); ++k) {
    if (!keyframes_[k].pose.position.allFinite() || !keyframes_[k].pose.rotation.allFinite()) {
      throw InvalidInput(fmt::format("trajectory: keyframe {} has a number that is not finite", k));
    }
  }
}

PoseReference PoseTrajectory::at(double time) const {
  if (keyframes_.size() == 1 || time <= begin() || time >= end())
    return {time <= begin() ? keyframes_.front().pose : keyframes_.back().pose};
  const std::size_t k = segment_of(keyframes_, time);
  const Keyframe &a = keyframes_[k], &b = keyframes_[k + 1];
  const Motion1 s = quintic({}, {.value = 1.0}, b.time - a.time, time - a.time);
  const Vec3 way = b.pose.position - a.pose.position;
  // The same in the axes of the first pose and of every pose on the way.
  const Vec3 turn = rotation_log(Quat(Mat3(a.pose.rotation.transpose() * b.pose.rotation)));
  const Vec3 axis = a.pose.rotation * turn;
  PoseReference now;
  now.pose.position = a.pose.position + s.value * way;
  now.pose.rotation = a.pose.rotation * rotation_exp(s.value * turn).toRotationMatrix();
  now.velocity << s.velocity * way, s.velocity * axis;
  now.acceleration << s.acceleration * way, s.acceleration * axis;
  return now;
}

}  // namespace tribo
