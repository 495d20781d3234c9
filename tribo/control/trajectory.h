// Smooth references through keyframes: quintic polynomials in time, twice continuously differentiable.
//
// Between two keyframes T apart, with s = t / T in [0, 1], a value takes the polynomial of fifth degree with the positions,
// velocities and accelerations given at both ends. From rest to rest it is p0 + (p1 - p0) (10 s^3 - 15 s^4 + 6 s^5).
// Before the first and after the last keyframe the value stands still.
//
// Example
//   Trajectory path({{0.0, start}, {1.5, above}, {2.0, down}});
//   const Reference now = path.at(simulator.state().time);     // now.value, now.velocity, now.acceleration
#pragma once

#include <vector>

#include "tribo/math/pose.h"

namespace tribo {

struct Reference {
  Vector value, velocity, acceleration;
};

// One number and its first two derivatives.
struct Motion1 {
  double value = 0.0, velocity = 0.0, acceleration = 0.0;
};

// The quintic from `from` to `to` in `duration` > 0 s, `time` after its beginning (0 <= time <= duration).
Motion1 quintic(const Motion1& from, const Motion1& to, double duration, double time);

class Trajectory {
 public:
  struct Keyframe {
    double time;           // s, increasing
    Vector value;          // any coordinates, all of one length
    Vector velocity = {};  // at the keyframe; empty: at rest
  };
  // InvalidInput when there is none, times do not increase, lengths differ or a number is not finite.
  explicit Trajectory(std::vector<Keyframe> keyframes);

  Reference at(double time) const;
  double begin() const { return keyframes_.front().time; }
  double end() const { return keyframes_.back().time; }

 private:
  std::vector<Keyframe> keyframes_;
};

struct PoseReference {
  Pose pose;
  Vec6 velocity = Vec6::Zero();      // of the frame's origin, angular; world axes
  Vec6 acceleration = Vec6::Zero();  // their time derivatives
};

// Poses at rest: positions as above, rotations about the one axis that leads from keyframe to keyframe.
class PoseTrajectory {
 public:
  struct Keyframe {
    double time;  // s, increasing
    Pose pose;
  };
  explicit PoseTrajectory(std::vector<Keyframe> keyframes);

  PoseReference at(double time) const;
  double begin() const { return keyframes_.front().time; }
  double end() const { return keyframes_.back().time; }

 private:
  std::vector<Keyframe> keyframes_;
};

}  // namespace tribo
