#include "tribo/solve/island_driver.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tribo/solve/auto.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/small_delassus.h"

namespace tribo {
namespace {

// An island with a larger share of the constraints is solved together with the rest: a copy would gain nothing.
constexpr double kNearlyEverything = 0.9;

double island_tolerance(const Settings& settings) {
  return settings.measure == Measure::siconos ? settings.tolerance / std::sqrt(3.0) : settings.tolerance;
}

// How badly an island ended; the worst one names the status of the whole.
int severity(Status status) {
  switch (status) {
    case Status::converged:
      return 0;
    case Status::regularized:
      return 1;
    case Status::iteration_limit:
      return 2;
    case Status::stalled:
      return 3;
    case Status::no_solution_suspected:
      return 4;
    case Status::time_limit:
      return 5;
    case Status::cancelled:
      return 6;
  }
  return 6;
}

void add_stage(std::vector<Stage>& stages, const Stage& stage) {
  const auto found =
      std::find_if(stages.begin(), stages.end(), [&](const Stage& s) { return s.name == stage.name; });
  if (found == stages.end()) {
    stages.push_back(stage);
    return;
  }
  found->islands += stage.islands;
  found->contacts += stage.contacts;
  found->iterations += stage.iterations;
  found->factorizations += stage.factorizations;
  found->seconds += stage.seconds;
  found->error = std::max(found->error, stage.error);
}

}  // namespace

bool IslandDriver::splits(const ContactProblem& problem, const Solver& prototype) {
  islands_.find(problem, prototype.leaves_tiny_islands() ? 0 : SmallDelassus::kConstraints);
  if (islands_.count() < 2) return false;
  std::size_t largest = 0;
  for (Index k = 0; k < islands_.count(); ++k) largest = std::max(largest, islands_.constraints(k).size());
  return static_cast<double>(largest) < kNearlyEverything * problem.constraint_count();
}

void IslandDriver::prepare(const Solver& prototype, Index version, const Settings& settings) {
  const Index count = islands_.count();
  while (static_cast<Index>(slots_.size()) < count) slots_.push_back(std::make_unique<Slot>());
  for (Index k = 0; k < count; ++k) {
    Slot& slot = *slots_[k];
    const bool tiny = prototype.leaves_tiny_islands() &&
                      static_cast<Index>(islands_.constraints(k).size()) <= SmallDelassus::kConstraints;
    if (slot.version == version && slot.tiny == tiny) continue;
    slot.solver = tiny ? make_auto() : version == 0 ? make_solver(prototype.name()) : clone_solver(prototype);
    slot.version = version;
    slot.tiny = tiny;
  }
  order_.resize(count);
  for (Index k = 0; k < count; ++k) order_[k] = k;
  std::sort(order_.begin(), order_.end(), [this](Index a, Index b) {
    const std::size_t left = islands_.constraints(a).size(), right = islands_.constraints(b).size();
    return left != right ? left > right : a < b;
  });
  if (!workers_ || workers_->count() != settings.threads) {
    workers_ = std::make_unique<Workers>(settings.threads);
  }
  island_settings_ = settings;
  island_settings_.tolerance = island_tolerance(settings);
  island_settings_.islands = false;
  island_settings_.threads = 1;
  if (settings.threads > 1 && settings.on_progress) {
    island_settings_.on_progress = [this, &settings](const Progress& progress) {
      const std::lock_guard lock(progress_);
      return settings.on_progress(progress);
    };
  }
}

Status IslandDriver::solve(const Solver& prototype, Index version, const ContactProblem& problem,
                           const Settings& settings, const Vector& start, Vector& impulse, Report& report) {
  prepare(prototype, version, settings);
  const auto begin = std::chrono::steady_clock::now();
  workers_->run(islands_.count(), [&](Index item, Index) {
    Settings own = island_settings_;
    if (std::isfinite(settings.time_limit)) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      own.time_limit = std::max(1e-9, settings.time_limit - spent.count());
    }
    solve_island(order_[item], problem, start, own);
  });
  collect(problem, settings, impulse, report);
  Status worst = Status::converged;
  for (Index k = 0; k < islands_.count(); ++k) {
    if (severity(slots_[k]->report.status) > severity(worst)) worst = slots_[k]->report.status;
  }
  return worst;
}

void IslandDriver::solve_island(Index island, const ContactProblem& problem, const Vector& start,
                                const Settings& settings) {
  Slot& slot = *slots_[island];
  islands_.extract(problem, island, slot.problem);
  islands_.gather(problem, island, start, slot.start);
  slot.report = slot.solver->solve(slot.problem, settings, slot.solution, &slot.start);
}

void IslandDriver::collect(const ContactProblem& problem, const Settings& settings, Vector& impulse,
                           Report& report) const {
  impulse.resize(problem.row_count());
  report.islands = islands_.count();
  for (Index k = 0; k < islands_.count(); ++k) {
    const Slot& slot = *slots_[k];
    islands_.scatter(problem, k, slot.solution.impulse, impulse);
    report.iterations = std::max(report.iterations, slot.report.iterations);
    report.factorizations += slot.report.factorizations;
    report.regularized_count += slot.report.regularized_count;
    for (const Stage& stage : slot.report.stages) add_stage(report.stages, stage);
  }
  if (settings.history) merge_histories(report);
}

// As if all islands had advanced in step: at every iteration the worst of their last errors, and the time all
// of them had taken to get there.
void IslandDriver::merge_histories(Report& report) const {
  const Index count = islands_.count();
  std::vector<std::size_t> next(count, 0);
  while (true) {
    Index iteration = std::numeric_limits<Index>::max();
    for (Index k = 0; k < count; ++k) {
      const std::vector<Progress>& history = slots_[k]->report.history;
      if (next[k] < history.size()) iteration = std::min(iteration, history[next[k]].iteration);
    }
    if (iteration == std::numeric_limits<Index>::max()) return;
    Progress merged;
    merged.iteration = iteration;
    for (Index k = 0; k < count; ++k) {
      const std::vector<Progress>& history = slots_[k]->report.history;
      if (next[k] < history.size() && history[next[k]].iteration == iteration) ++next[k];
      if (next[k] == 0) continue;
      const Progress& last = history[next[k] - 1];
      merged.error = std::max(merged.error, last.error);
      merged.seconds += last.seconds;
      merged.penalty = std::max(merged.penalty, last.penalty);
    }
    report.history.push_back(merged);
  }
}

}  // namespace tribo
