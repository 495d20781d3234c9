// One simulation of `tribo sim` from start to summary.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "apps/tribo/energy_balance.h"
#include "apps/tribo/sim_outputs.h"
#include "tribo/io/live/live_view.h"
#include "tribo/io/load.h"
#include "tribo/scenes/scene.h"

namespace tribo::cli {

struct ProblemDump {
  std::int64_t step;
  std::string file;
};

struct SimRunOptions {
  bool progress = false;
  bool warm_up = false;  // all steps once before, neither counted nor recorded
  SimOutputOptions outputs = {};
  bool endless = false;  // until whoever watches it ends it
  std::vector<ProblemDump> dumps = {};
  bool follow_energy = false;                                   // after every step; its time is not counted
  double stop_after = std::numeric_limits<double>::infinity();  // s of wall clock in steps
  double budget = std::numeric_limits<double>::infinity();      // s per solve; to end there is no failure
  std::vector<LoadWarning> warnings = {};                       // of the file, for the JSON
  std::function<Scene()> make_again = {};                       // a built-in scene with fresh hooks
};

class SimRun {
 public:
  SimRun(Scene scene, SimRunOptions options);

  void go();
  bool has_begun() const { return simulator_.step_count() > 0; }
  const Simulator& simulator() const { return simulator_; }
  // The signal (Ctrl-C) that ended it before its time; 0: none.
  static int ended_by();
  std::int64_t missed_steps() const { return simulator_.missed_steps(); }
  // Of the missed ones those that the budget ended.
  std::int64_t budget_steps() const { return budget_steps_; }
  std::string text() const;
  // `failure`: why the run ended before its time, empty otherwise.
  std::string json(const std::string& failure = {}) const;

 private:
  std::int64_t planned_steps() const;
  void warm_up(std::int64_t steps);
  void begin_scene();
  void dump_problem(std::int64_t step) const;
  void add(const StepReport& report);
  std::unique_ptr<LiveView> open_view();
  bool step(LiveView* view, StepReport& report);
  double per_step(double sum) const;

  Scene scene_;
  SimRunOptions options_;
  Simulator simulator_;
  Energy begin_;
  std::unique_ptr<EnergyBalance> balance_;  // where it is followed
  StepTimes times_;
  double contacts_ = 0.0, iterations_ = 0.0, errors_ = 0.0;  // sums
  double worst_ = 0.0, penetration_ = 0.0, last_penetration_ = 0.0;
  std::int64_t steps_ = 0;  // of all beginnings
  std::int64_t infeasible_ = 0;
  std::int64_t budget_steps_ = 0;
  double budget_worst_ = 0.0, budget_errors_ = 0.0;  // largest, sum of the errors left in these
  std::int64_t worst_step_ = 0;
  double seconds_ = 0.0;         // CPU time of the process, stepping only
  double record_seconds_ = 0.0;  // CPU time of the thread that steps, for recordings and pictures
};

}  // namespace tribo::cli
