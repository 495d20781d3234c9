#include "tribo/solve/driver/monitor.h"

#include <limits>

#include "tribo/problem/natural_map.h"
#include "tribo/solve/driver/least_violation.h"

namespace tribo {
namespace {

// The reference of the scaled error counts impulses up to this many times the largest demand (docs/certificate.md).
constexpr double kMostDemands = 1e2;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The smaller of the limit around and `count` more than so many.
Index clipped(Index around, Index so_far, Index count) {
  return count < around - so_far ? so_far + count : around;
}

}  // namespace

Monitor::Monitor() : interrupt_([this] { return out_of_time(0); }) {}
Monitor::~Monitor() = default;

void Monitor::begin(const ContactProblem& problem, const Settings& settings, Report& report,
                    const Vector& start, Clock::time_point begin) {
  problem_ = &problem;
  settings_ = &settings;
  report_ = &report;
  begin_ = begin;
  goal_ = settings.tolerance;
  last_error_ = kInfinity;
  iterations_done_ = 0;
  noted_ = {};
  counts_.clear();
  stopped_ = proof_tried_ = proof_worked_ = vetted_ = false;
  stop_status_ = Status::iteration_limit;
  v_.resize(problem.dof_count());
  u_.resize(problem.row_count());
  depth_ = 0;
  StageState& whole = push();
  whole.start = whole.best = start;
  whole.best_of = &whole;
  whole.start_error = whole.best_error = kInfinity;
  whole.first_iteration = 0;
  whole.last_iteration = settings.max_iterations;
  whole.last_factorization = std::numeric_limits<Index>::max();
  whole.factor_flops = kInfinity;
  whole.deadline = settings.time_limit;
}

double Monitor::seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

void Monitor::stop(Status status) {
  stopped_ = true;
  stop_status_ = status;
}

bool Monitor::check_start() {
  aim(settings_->start_tolerance);
  const Vector& start = stage_->start;
  const bool done = start.isZero(0.0) ? check(0, start, problem_->free_velocity()) : check(0, start);
  goal_ = settings_->tolerance;
  stage_->start_error = last_error_;
  return done;
}

bool Monitor::drop_aim() {
  goal_ = settings_->tolerance;
  if (stages_.front()->best_error <= goal_) stop(Status::converged);
  return stopped_;
}

bool Monitor::check(Index iteration, const Vector& impulse, double penalty) {
  problem_->velocity_of(impulse, v_, u_);
  return judge(iteration, impulse, u_, penalty, true);
}

bool Monitor::check(Index iteration, const Vector& impulse, const Vector& velocity, double penalty) {
  return judge(iteration, impulse, velocity, penalty, false);
}

// Keeps the iterate where it is the best of a stage; true where it is the best of all.
bool Monitor::take(const Vector& impulse, double error) {
  last_error_ = error;
  bool best_of_all = false;
  for (std::size_t k = 0; k < depth_; ++k) {
    StageState& stage = *stages_[k];
    if (stage.best_of != &stage || !(error < stage.best_error)) continue;
    stage.best_error = error;
    stage.best = impulse;
    best_of_all = best_of_all || k == 0;
  }
  return best_of_all;
}

bool Monitor::judge(Index iteration, const Vector& impulse, const Vector& velocity, double penalty,
                    bool recomputed) {
  const bool start_of_stage = iteration == 0 && depth_ > 1;  // known from the stage before
  iteration += stage_->first_iteration;
  iterations_done_ = std::max(iterations_done_, iteration);
  const double tolerance = settings_->tolerance;
  double error = Certifier::error(*problem_, impulse, velocity, settings_->law, settings_->measure);
  if (error <= tolerance && !recomputed) {
    // The solver's own velocities may have drifted; the claim is checked on the raw data before it is believed.
    problem_->velocity_of(impulse, v_, u_);
    recomputed = true;
    error = Certifier::error(*problem_, impulse, u_, settings_->law, settings_->measure);
  }
  if (error <= tolerance) {
    error = certifier_.confirm(*problem_, impulse, error, tolerance, settings_->law, settings_->measure);
  }
  if (error <= tolerance && is_contradicted(impulse, recomputed ? u_ : velocity)) return true;
  if (take(impulse, error)) {
    vetted_ = error <= tolerance;
  } else if (recomputed) {
    vetted_ = false;  // what was computed belongs to this iterate, not to the best one
  }
  const bool timed = is_timed() || settings_->history || settings_->on_progress;
  const double now = timed ? seconds() : 0.0;
  bool wanted = true;
  if (!start_of_stage) {
    if (settings_->history) report_->history.push_back({iteration, error, now, penalty});
    wanted = !settings_->on_progress || settings_->on_progress({iteration, error, now, penalty});
  }
  if (stages_.front()->best_error <= goal_) {  // where the start met the tolerance, too
    stop(Status::converged);
  } else if (!wanted) {
    stop(Status::cancelled);
  } else if (now > settings_->time_limit) {
    stop(Status::time_limit);
  }
  return stopped_ || now > stage_->deadline;
}

bool Monitor::out_of_time(Index iteration) {
  iterations_done_ = std::max(iterations_done_, stage_->first_iteration + iteration);
  if (stopped_ || !is_timed()) return stopped_;
  const double now = seconds();
  if (now > settings_->time_limit) stop(Status::time_limit);
  return now > stage_->deadline;
}

const std::function<bool()>* Monitor::interrupt() const { return is_timed() ? &interrupt_ : nullptr; }

Status Monitor::give_up(Index iteration) {
  if (out_of_time(iteration)) return Status::time_limit;
  return may_factorize() ? Status::stalled : Status::iteration_limit;
}

// The proof, once per solve.
std::optional<Contradiction> Monitor::find_contradiction(double most_flops) {
  if (proof_tried_ || !settings_->prove_infeasible) return std::nullopt;
  proof_tried_ = true;
  proof_worked_ = false;
  if (rest_meets_demands(*problem_, settings_->law)) return std::nullopt;
  if (!least_violation_) least_violation_ = std::make_unique<LeastViolation>();
  const std::function<bool()> late = [this] { return seconds() > settings_->time_limit; };
  const bool timed = std::isfinite(settings_->time_limit);
  std::optional<Contradiction> proof =
      least_violation_->prove(*problem_, settings_->law, most_flops, timed ? &late : nullptr);
  report_->factorizations += least_violation_->factorizations();
  proof_worked_ = least_violation_->factorizations() > 0;
  proof_tried_ = !least_violation_->was_too_expensive();
  return proof;
}

void Monitor::report_contradiction(Contradiction proof) {
  report_->contradictions.push_back(std::move(proof));
  vetted_ = false;
  stop(Status::infeasible);
}

Status Monitor::finish(Status status) {
  report_counts();
  prove_infeasible();
  return stopped_ ? stop_status_ : status;
}

bool Monitor::prove_infeasible(double most_flops) {
  if (proof_tried_ || !settings_->prove_infeasible) return stopped_;
  if (stopped_ && stop_status_ != Status::iteration_limit) return true;
  std::optional<Contradiction> proof = find_contradiction(most_flops);
  if (proof_worked_) note_stage("least violation");
  if (proof) report_contradiction(std::move(*proof));
  return stopped_;
}

// An error may be small because impulses are large: before an iterate that leaves a constraint violated is called a
// solution, contradictions are looked for. True if there is one. Looked into are violations that only impulses of
// heavier bodies or of rows in other units allow (beyond 1e2 times the tolerance of the constraint's own free velocity),
// and, of impulses beyond what the reference counts, all above the tolerance.
bool Monitor::is_contradicted(const Vector& impulse, const Vector& velocity) {
  if (proof_tried_ || !settings_->prove_infeasible || problem_->row_count() == 0) return false;
  const double allowed = settings_->tolerance;
  const double violation = relative_violation(*problem_, velocity, settings_->law);
  if (violation <= allowed) return false;
  if (violation <= kMostDemands * allowed &&
      impulse_sizes(*problem_, impulse).largest <= kMostDemands * problem_->largest_demand()) {
    return false;
  }
  std::optional<Contradiction> proof = find_contradiction(kMostDoubtFlops);
  if (!proof) return false;
  report_contradiction(std::move(*proof));
  return true;
}

void Monitor::note_count(std::string_view stage, Index count) {
  if (settings_->explain) counts_.push_back({stage, 1, problem_->constraint_count(), count, 0, 0.0, 0.0});
}

void Monitor::note_stage(std::string_view name) {
  if (!settings_->explain) return;
  const Stage stage{name,
                    1,
                    problem_->constraint_count(),
                    iterations_done_ - noted_.iterations,
                    report_->factorizations - noted_.factorizations,
                    seconds() - noted_.seconds,
                    stages_.front()->best_error};
  report_->stages.push_back(stage);
  noted_.iterations += stage.iterations;
  noted_.factorizations += stage.factorizations;
  noted_.seconds += stage.seconds;
  report_counts();
}

// After the stage that they belong to.
void Monitor::report_counts() {
  report_->stages.insert(report_->stages.end(), counts_.begin(), counts_.end());
  counts_.clear();
}

Monitor::StageState& Monitor::push() {
  if (depth_ == stages_.size()) stages_.push_back(std::make_unique<StageState>());
  stage_ = stages_[depth_++].get();
  return *stage_;
}

void Monitor::limit(const Budget& budget, const StageState& around, StageState& stage) const {
  stage.first_iteration = iterations_done_;
  stage.last_iteration = clipped(around.last_iteration, iterations_done_, budget.iterations);
  stage.last_factorization =
      clipped(around.last_factorization, report_->factorizations, budget.factorizations);
  stage.factor_flops = std::min(around.factor_flops, budget.factor_flops);
  stage.deadline = around.deadline;
  if (std::isfinite(budget.seconds)) stage.deadline = std::min(stage.deadline, seconds() + budget.seconds);
}

void Monitor::enter(const Budget& budget, From from) {
  const StageState& around = *stage_;
  StageState& stage = push();
  limit(budget, around, stage);
  if (from == From::best) {
    stage.best_of = around.best_of;
    stage.start = around.best_of->best;
    stage.start_error = around.best_of->best_error;
    return;
  }
  stage.best_of = &stage;
  stage.start = stage.best = around.start;
  stage.start_error = stage.best_error = around.start_error;
}

// True when the stage need not begin.
bool Monitor::enter(const Budget& budget, const Vector& start) {
  const StageState& around = *stage_;
  StageState& stage = push();
  limit(budget, around, stage);
  stage.best_of = &stage;
  stage.start = stage.best = start;
  stage.best_error = kInfinity;
  const bool done = check(0, stage.start);
  stage.start_error = last_error_;
  return done;
}

bool Monitor::leave(std::string_view name) {
  const Index done = iterations_done_ - stage_->first_iteration;
  stage_ = stages_[--depth_ - 1].get();
  stage_->first_iteration += done;
  note_stage(name);
  if (stopped_ || out_of_time(0)) return stopped_;
  if (depth_ == 1 && iterations_done_ >= stage_->last_iteration) stop(Status::iteration_limit);
  return stopped_;
}

bool Monitor::run(Solver& solver, const Budget& budget, From from) {
  return run_stage(solver.name(), budget, from, [&] { solver.iterate(*problem_, *this); });
}

bool Monitor::run(Solver& solver, const Budget& budget, const Vector& start) {
  return run_stage(solver.name(), budget, start, [&] { solver.iterate(*problem_, *this); });
}

}  // namespace tribo
