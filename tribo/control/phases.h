// What a task does next: phases one after the other, each until its event, and events from force thresholds.
//
// Example
//   Phases task({{.name = "approach", .act = lower, .done = [&](double) { return touched.update(force, time); }},
//                {.name = "grip", .act = close, .done = [](double since) { return since > 0.5; }}});
//   scene.control = [&](Simulator& s) { task.step(s.state().time); };
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tribo/sim/simulator.h"

namespace tribo {

struct Phase {
  std::string name;
  std::function<void()> begin = {};       // once, when it becomes current
  std::function<void(double)> act = {};   // every step; s since it began
  std::function<bool(double)> done = {};  // leads on to `next`; none: never
  std::string next = {};                  // name of a phase; empty: the one after, or the end
  double time_limit = std::numeric_limits<double>::infinity();  // s; then on to `otherwise`
  std::string otherwise = {};                                   // empty: as `next`
};

class Phases {
 public:
  // InvalidInput when there is none, two have one name or a name is unknown.
  explicit Phases(std::vector<Phase> phases);

  // At most one change per call; the phase that is current after it acts. `time` in s, never decreasing.
  void step(double time);
  void restart();  // with the first phase, at the next step

  bool finished() const { return current_ == phases_.size(); }
  const std::string& name() const;  // of the current phase; "end" when finished
  double since() const { return since_; }
  int timeouts() const { return timeouts_; }  // phases left by their time limit

 private:
  std::size_t find(const std::string& name, std::size_t after) const;
  void enter(std::size_t phase, double time);

  std::vector<Phase> phases_;
  std::size_t current_ = 0;
  double begun_ = 0.0, since_ = 0.0;
  bool entered_ = false;
  int timeouts_ = 0;
};

// An event: the signal has been at or above `level` for `hold` seconds; it ends when it falls below `release`.
class Threshold {
 public:
  Threshold(double level, double hold = 0.0, double release = -std::numeric_limits<double>::infinity())
      : level_(level),
        hold_(hold),
        release_(release > -std::numeric_limits<double>::max() ? release : level) {}

  bool update(double signal, double time);
  bool active() const { return active_; }

 private:
  double level_, hold_, release_;
  double above_since_ = 0.0;
  bool above_ = false, active_ = false;
};

// Force of the last step's contacts on `body`, world axes, N; of those with `other` alone if it is a body (>= 0).
Vec3 contact_force(const Simulator& simulator, Index body, Index other = -1);

}  // namespace tribo
