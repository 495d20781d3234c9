// What studies measure of a scene or of a problem.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::cli {

struct SceneHow {
  double dt = 0.0, time = 0.0;  // s; 0: the scene's own
  Law law = Law::exact;
  std::string solver = "auto";
  std::optional<Scheme> scheme = {};
  double tolerance = 1e-6;
  Index max_iterations = 20000;
  bool warm_start = true;
  double budget = std::numeric_limits<double>::infinity();  // s of wall clock for each step's solve
  double slip = -1.0;                                       // sigma of the near-rigid rule; < 0: the default
  std::function<void(const Simulator&, const StepReport&)> after = {};
};

struct SceneRun {
  std::map<std::string, double> observables;
  Index steps = 0, missed = 0, contacts_end = 0;
  double iterations = 0.0;  // mean per step
  double contacts = 0.0;    // mean per step
  double solve_ms =
      0.0;  // mean per step, wall clock, without the slowest fiftieth: other programs on the machine
  double step_ms = 0.0;
  double worst = 0.0;        // certificate
  double penetration = 0.0;  // deepest, m

  double operator[](const std::string& name) const;  // an observable; NaN where there is none
};

SceneRun run_scene(const std::string& name, const SceneValues& values, const SceneHow& how = {});

// The contact problem of the step that ends at `time`.
ContactProblem problem_of_scene(const std::string& name, const SceneValues& values, double time);

// Solves after k = 1, 2, 5, 10, ... iterations, each a solve of its own from zero: what a user gets who stops there.
inline constexpr Index kCheckpoints[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
struct Convergence {
  std::vector<double> error;  // scaled, at each checkpoint
  std::vector<double> lee;    // Lee's residual, m/s
  double seconds = 0.0;       // of the longest one, CPU time
  Index iterations = 0;       // until it stopped by itself, at most the last checkpoint
};
Convergence converge(const ContactProblem& problem, const std::string& solver, Law law = Law::exact);

}  // namespace tribo::cli
