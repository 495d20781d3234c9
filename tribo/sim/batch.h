// Many worlds of one kind, side by side: n simulators over copies of one World, their states in contiguous arrays, one row per
// world, stepped on any number of threads.
//
// Every world has the bits of a Simulator alone with the same world, settings, state and control, for any number of threads.
// A world whose state is no longer finite fails alone: it keeps its last finite state, says so in status() and message(), and
// is left out until it is reset.
//
// Arrays stay where they are for the life of the batch. control() and force() are read by the next step; the others are
// written by step(), rollout() and reset() and are not to be changed from outside.
//
// Example: 256 humanoids, falling.
//   Batch batch(world, 256, {.threads = 2});
//   for (Index w = 0; w < batch.size(); ++w) batch.control().row(w) = policy(batch.q().row(w));
//   batch.step(5);
//   batch.error().maxCoeff();  // the worst certificate of these steps
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tribo/sim/simulator.h"

namespace tribo {

enum class WorldStatus : std::uint8_t { running, failed };
enum class BatchParameter : std::uint8_t { mass, friction, gain, gravity };

// Where rollout() writes, each row-major [worlds x steps x width]; null: not wanted.
struct RolloutBuffers {
  double* q = nullptr;
  double* v = nullptr;
  double* sensor_data = nullptr;
  double* error = nullptr;  // [worlds x steps]; infinite after a world has failed
};

class Batch {
 public:
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Mask = std::span<const std::uint8_t>;  // [worlds] not 0: takes part; empty: all do

  // `settings` as of every simulator, but for threads, which share the worlds out. InvalidInput as of Simulator, and for
  // count < 1.
  Batch(const World& world, Index count, const SimulatorSettings& settings = {});
  ~Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;

  Index size() const;
  const World& world() const;  // as it was given
  double time_step() const;    // s

  // [worlds x width]
  const Rows& q() const;
  const Rows& v() const;
  const Rows& activation() const;
  const Rows& sensor_data() const;  // after the last step
  Rows& control();
  Rows& force();                // [dofs] applied generalised forces, N and N m
  const Vector& time() const;   // s
  const Vector& error() const;  // worst certificate of the last call's steps
  const std::vector<std::int64_t>& missed()
      const;  // steps since the last reset whose certificate missed the tolerance
  const std::vector<WorldStatus>& status() const;
  const std::string& message(Index world) const;  // why it failed; empty: it did not

  // Asked now and then by the thread that called step() or rollout(); false ends the call early, with worlds that have come
  // differently far.
  std::function<bool()> keep_going;

  void step(Index steps = 1, Mask mask = {});
  // `controls`: row-major [worlds x steps x actuators]; null: control() stays. What every step leads to is written; a world
  // that has failed repeats its last finite state.
  void rollout(Index steps, const double* controls, const RolloutBuffers& out);
  // A new beginning, as Simulator::restart: at the reference coordinates at rest, or at these rows (null: as there),
  // with zero controls, forces and counters. Parameters stay.
  void reset(Mask mask = {}, const Rows* q = nullptr, const Rows* v = nullptr);

  // mass: [worlds x bodies] kg, inertias scale with it. friction: [worlds x geoms], sliding; pairs keep theirs. gain: [worlds x
  // actuators], factor of the force law, 1 at first. gravity: [worlds x 3] m/s^2. Worlds of the mask keep their states and
  // forget warm starts. InvalidInput, and nothing changes, where a number is wrong. Cost: that of a new simulator, but for
  // gravity.
  void set_parameter(BatchParameter parameter, const Rows& values, Mask mask = {});
  const Rows& parameter(BatchParameter parameter) const;

  // One world alone, for who wants to look at its contacts. Not to be stepped or changed.
  const Simulator& simulator(Index world) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tribo
