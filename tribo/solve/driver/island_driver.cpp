#include "tribo/solve/driver/island_driver.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tribo/solve/law/one_cone.h"
#include "tribo/solve/problem_size.h"

namespace tribo {
namespace {

// An island with a larger share of the constraints is solved together with the rest: a copy would gain nothing.
constexpr double kNearlyEverything = 0.9;

// |lambda_i| w_i / |q_i| of a constraint alone: up to this the impulse stops it, friction included (it can wedge a contact,
// which takes a few times the impulse). A larger one may be that of a constraint that cannot be met, and grow without bound.
constexpr double kModest = 10.0;

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
    case Status::infeasible:  // whatever else is true of the others
      return 7;
  }
  return 7;
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

bool IslandDriver::splits(const ContactProblem& problem, const SolverTraits& traits) {
  islands_.find(problem, traits.small_islands_apart ? 0 : kFewConstraints);
  if (islands_.count() < 2) return false;
  std::size_t largest = 0;
  for (Index k = 0; k < islands_.count(); ++k) largest = std::max(largest, islands_.constraints(k).size());
  return static_cast<double>(largest) < kNearlyEverything * problem.constraint_count();
}

bool IslandDriver::splits_at_all(const ContactProblem& problem) {
  islands_.find(problem, 0);
  return islands_.count() > 1;
}

void IslandDriver::begin(const Settings& settings) {
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
  order_.clear();
  single_count_ = 0;
  singles_.status = Status::converged;
  singles_.iterations = 0;
  singles_.history.clear();
  singles_.stages.clear();
}

// Solves the islands of one constraint in place; the others, and those where that is not the end of it, are put
// into order_.
void IslandDriver::solve_singles(const ContactProblem& problem, const Settings& settings, const Vector& start,
                                 Vector& impulse) {
  const auto begin = std::chrono::steady_clock::now();
  velocity_.resize(problem.row_count());
  double worst_before = 0.0, worst_after = 0.0;
  for (Index k = 0; k < islands_.count(); ++k) {
    double before = 0.0, after = 0.0;
    if (islands_.constraints(k).size() > 1 ||
        !solve_single(problem, islands_.constraints(k).front(), start, impulse, before, after)) {
      order_.push_back(k);
      continue;
    }
    ++single_count_;
    worst_before = std::max(worst_before, before);
    worst_after = std::max(worst_after, after);
  }
  if (single_count_ == 0) return;
  singles_.iterations = worst_before > island_settings_.tolerance ? 1 : 0;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  const Progress progress{singles_.iterations, worst_after, spent.count(), 0.0};
  if (settings.history) {
    if (singles_.iterations > 0) singles_.history.push_back({0, worst_before, 0.0, 0.0});
    singles_.history.push_back(progress);
  }
  if (settings.explain) {
    singles_.stages.push_back(
        {"single constraints", single_count_, single_count_, single_count_, 0, spent.count(), worst_after});
  }
  if (settings.on_progress && !settings.on_progress(progress)) singles_.status = Status::cancelled;
}

// The problem of constraint i alone: W_ii, q_i and its set. False where the result does not pass for a solution,
// or might be the runaway impulse of a constraint that cannot be met: the solver then finds out.
bool IslandDriver::solve_single(const ContactProblem& problem, Index i, const Vector& start, Vector& impulse,
                                double& before, double& after) {
  const Index row = problem.row(i), n = problem.rows(i);
  const auto q = problem.free_velocity().segment(row, n);
  const auto w = problem.delassus_block(i);
  auto lambda = impulse.segment(row, n);
  auto u = velocity_.segment(row, n);
  const auto error = [&] {
    return Certifier::error_alone(problem, i, impulse, velocity_, island_settings_.law,
                                  island_settings_.measure);
  };
  lambda = start.segment(row, n);
  u = q;
  if (!lambda.isZero(0.0)) u += w.lazyProduct(lambda);
  before = after = error();
  if (!(before <= island_settings_.tolerance)) {
    solve_alone(problem, i, island_settings_.law, lambda);
    u = q + w.lazyProduct(lambda);
    after = error();
  }
  const double natural = q.lpNorm<Eigen::Infinity>() / problem.scale(i);
  return after <= island_settings_.tolerance && lambda.lpNorm<Eigen::Infinity>() <= kModest * natural;
}

void IslandDriver::prepare(const Solver& prototype, Index version, const Settings& settings) {
  if (static_cast<Index>(slots_.size()) < islands_.count()) slots_.resize(islands_.count());
  for (const Index k : order_) {
    if (!slots_[k]) slots_[k] = std::make_unique<Slot>();
    Slot& slot = *slots_[k];
    if (slot.version == version) continue;
    slot.solver = prototype.clone();
    slot.version = version;
  }
  std::sort(order_.begin(), order_.end(), [this](Index a, Index b) {
    const std::size_t left = islands_.constraints(a).size(), right = islands_.constraints(b).size();
    return left != right ? left > right : a < b;
  });
  if (!workers_ || workers_->count() != settings.threads) {
    workers_ = std::make_unique<Workers>(settings.threads);
  }
}

Status IslandDriver::solve(const Solver& prototype, Index version, const ContactProblem& problem,
                           const Settings& settings, const Vector& start, Vector& impulse, Report& report) {
  const auto start_time = std::chrono::steady_clock::now();
  impulse.resize(problem.row_count());
  begin(settings);
  if (prototype.traits().small_islands_apart) {
    solve_singles(problem, settings, start, impulse);
  } else {
    for (Index k = 0; k < islands_.count(); ++k) order_.push_back(k);
  }
  if (!order_.empty()) {
    prepare(prototype, version, settings);
    workers_->run(static_cast<Index>(order_.size()), [&](Index item, Index) {
      Settings own = island_settings_;
      if (std::isfinite(settings.time_limit)) {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_time;
        own.time_limit = std::max(1e-9, settings.time_limit - spent.count());
      }
      solve_island(order_[item], problem, start, own);
    });
  }
  collect(problem, settings, impulse, report);
  Status worst = singles_.status;
  for (const Index k : order_) {
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
  report.islands = islands_.count();
  const auto add = [&report](const Report& part) {
    report.iterations = std::max(report.iterations, part.iterations);
    report.factorizations += part.factorizations;
    report.regularized_count += part.regularized_count;
    report.faceted_error = std::fmax(report.faceted_error, part.faceted_error);  // NaN counts for nothing
    for (const Stage& stage : part.stages) add_stage(report.stages, stage);
  };
  add(singles_);
  for (const Index k : order_) {
    islands_.scatter(problem, k, slots_[k]->solution.impulse, impulse);
    add(slots_[k]->report);
  }
  take_contradictions(problem, report);
  if (settings.history) merge_histories(report);
}

// The proofs of the islands, in the order of the islands, as proofs of the whole.
void IslandDriver::take_contradictions(const ContactProblem& problem, Report& report) const {
  for (Index k = 0; k < islands_.count(); ++k) {
    if (std::find(order_.begin(), order_.end(), k) == order_.end()) continue;
    for (const Contradiction& part : slots_[k]->report.contradictions) {
      Contradiction whole = part;
      whole.ray.setZero(problem.row_count());
      islands_.scatter(problem, k, part.ray, whole.ray);
      for (Index& i : whole.constraints) i = islands_.constraints(k)[i];
      report.contradictions.push_back(std::move(whole));
    }
  }
}

void IslandDriver::take_least_violation(const ContactProblem& problem, Solution& solution) const {
  for (const Index k : order_) {
    if (slots_[k]->report.status != Status::infeasible) continue;
    const Solution& part = slots_[k]->solution;
    islands_.scatter(problem, k, part.velocity, solution.velocity);
    if (problem.has_delassus()) continue;
    Index from = 0;
    for (const Index t : islands_.trees(k)) {
      const Index at = problem.mass().block_start(t), n = problem.mass().block_size(t);
      solution.generalized_velocity.segment(at, n) = part.generalized_velocity.segment(from, n);
      from += n;
    }
  }
}

// As if all islands had advanced in step: at every iteration the worst of their last errors, and the time all
// of them had taken to get there.
void IslandDriver::merge_histories(Report& report) const {
  struct Reader {
    const std::vector<Progress>* history;
    std::size_t read = 0;
    bool at_end() const { return read == history->size(); }
    const Progress& next() const { return (*history)[read]; }
  };
  std::vector<Reader> readers{{&singles_.history}};
  for (const Index k : order_) readers.push_back({&slots_[k]->report.history});
  constexpr Index kNone = std::numeric_limits<Index>::max();
  while (true) {
    Progress merged;
    merged.iteration = kNone;
    for (const Reader& reader : readers) {
      if (!reader.at_end()) merged.iteration = std::min(merged.iteration, reader.next().iteration);
    }
    if (merged.iteration == kNone) return;
    for (Reader& reader : readers) {
      if (!reader.at_end() && reader.next().iteration == merged.iteration) ++reader.read;
      if (reader.read == 0) continue;
      const Progress& last = (*reader.history)[reader.read - 1];
      merged.error = std::max(merged.error, last.error);
      merged.seconds += last.seconds;
      merged.penalty = std::max(merged.penalty, last.penalty);
    }
    report.history.push_back(merged);
  }
}

}  // namespace tribo
