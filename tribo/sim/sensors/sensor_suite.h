// All sensors of a world: where their numbers lie, and the readings (sensors/sensor.h).
#pragma once

#include <memory>

#include "tribo/sim/sensors/step_forces.h"

namespace tribo {

// The present, and the step that led to it.
struct SensorInput {
  const State& state;
  const Kinematics& kinematics;  // at the state, as everything below
  const Dynamics& dynamics;
  const FreeMotion& motion;
  const JointConstraints& joints;
  const Vector& actuator_input;  // of the last step
  const LastStep* last;          // null: there is none
  double contact_slop;           // m
};

class SensorSuite {
 public:
  // Keeps a reference.
  explicit SensorSuite(const World& world);

  Index size() const { return start_.back(); }
  Index start(Index sensor) const { return start_[sensor]; }
  Index size(Index sensor) const { return start_[sensor + 1] - start_[sensor]; }

  // data: [size()]. Without a last step, what is of the step stays as it is.
  void read(const SensorInput& input, Vector& data);

 private:
  struct Frame {
    Vec3 position, velocity, angular;  // world axes
    Mat3 rotation;
  };

  void read_one(const SensorDescription& sensor, const SensorInput& input, double* out);
  void read_joint(const SensorDescription& sensor, const SensorInput& input, double* out) const;
  void read_tendon(const SensorDescription& sensor, const SensorInput& input, double* out) const;
  void read_actuator(const SensorDescription& sensor, const SensorInput& input, double* out);
  void read_frame(const SensorDescription& sensor, const SensorInput& input, double* out) const;
  void read_step_frame(const SensorDescription& sensor, const LastStep& last, double* out) const;
  void read_subtree(const SensorDescription& sensor, const Kinematics& kinematics, double* out) const;
  static Frame frame_of(const SensorFrame& frame, const Kinematics& kinematics);
  static void cut(const SensorDescription& sensor, double* out);

  const World* world_;
  std::vector<Index> start_{0};         // [sensors + 1]
  std::unique_ptr<StepForces> forces_;  // where a sensor needs them
  std::vector<JointConstraints::Term> room_;
};

}  // namespace tribo
