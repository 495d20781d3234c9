// One frame of a replay: what the page shows of the moment at the end of a step. docs/replay-format.md.
#pragma once

#include <limits>
#include <vector>

#include "tribo/io/replay/flexible_look.h"
#include "tribo/sim/simulator.h"

namespace tribo::detail {

struct ReplayContact {
  Vec3 position, normal;  // m; unit, towards the second geom
  Vec3 impulse;           // N s, on the second geom
  Vec3 velocity;          // m/s, second against first
  double gap = 0.0, friction = 0.0, error = 0.0;
  double pressure = 0.0;  // Pa, of a face of a pressure field
  Index geom_a = 0, geom_b = 0;
  Index island = -1;
  ContactState state = ContactState::open;
};

struct ReplayFrame {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  double time = 0.0;  // s
  std::int64_t step = 0;
  Index islands = 0, iterations = 0, missed_islands = 0;
  double error = kUnknown, solve_time = kUnknown, step_time = kUnknown;  // s
  double kinetic = kUnknown, potential = kUnknown;                       // J
  double penetration = kUnknown;                                         // m
  std::vector<double> position, rotation;  // [bodies without the world] x 3, x 4 (w x y z)
  std::vector<ReplayContact> contacts;
};

// Behind those of the bodies before.
void add_pose(const Pose& pose, ReplayFrame& frame);
// From the impulse alone: on the boundary of its cone it slides.
ContactState state_of(const Vec3& normal, const Vec3& impulse, double friction);

// The bodies where they are now, then the pieces of flexible ones, nothing about a step: the start.
void take_start(const Simulator& simulator, const FlexibleLook& look, ReplayFrame& frame);
// After simulator.step() gave `report`. Memory of the frame is used again.
void take_frame(const Simulator& simulator, const StepReport& report, const FlexibleLook& look,
                ReplayFrame& frame);

// Which steps become frames: the first at or after every 1/rate of simulated time; a rate of 0 takes all.
class FrameClock {
 public:
  // InvalidInput unless `rate` is finite and >= 0 frames per second.
  FrameClock(double rate, double start, double time_step);
  bool is_due(double time);

 private:
  double rate_, start_, slack_;
  std::int64_t next_ = 1;
};

}  // namespace tribo::detail
