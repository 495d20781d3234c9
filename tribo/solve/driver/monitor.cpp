#include "tribo/solve/driver/monitor.h"

#include <algorithm>
#include <cmath>

#include "tribo/problem/natural_map.h"
#include "tribo/solve/driver/least_violation.h"

namespace tribo {
namespace {

// The reference of the scaled error counts impulses up to this many times the largest demand (docs/certificate.md).
constexpr double kMostDemands = 1e2;

}  // namespace

Monitor::Monitor(Solver& solver, const ContactProblem& problem, const Settings& settings, Report& report,
                 const Vector& start, std::chrono::steady_clock::time_point begin)
    : solver_(solver),
      problem_(problem),
      settings_(settings),
      report_(report),
      start_(start),
      begin_(begin),
      goal_(settings.tolerance) {
  solver_.best_ = start;
}

double Monitor::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void Monitor::stop(Status status) {
  stopped_ = true;
  stop_status_ = status;
}

bool Monitor::check_start() {
  aim(settings_.start_tolerance);
  const bool done = start_.isZero(0.0) ? check(0, start_, problem_.free_velocity()) : check(0, start_);
  goal_ = settings_.tolerance;
  return done;
}

bool Monitor::settle() {
  goal_ = settings_.tolerance;
  if (best_error_ <= goal_) stop(Status::converged);
  return stopped_;
}

bool Monitor::check(Index iteration, const Vector& impulse, double penalty) {
  problem_.velocity_of(impulse, solver_.scratch_v_, solver_.scratch_u_);
  return judge(iteration, impulse, solver_.scratch_u_, penalty, true);
}

bool Monitor::check(Index iteration, const Vector& impulse, const Vector& velocity, double penalty) {
  return judge(iteration, impulse, velocity, penalty, false);
}

bool Monitor::judge(Index iteration, const Vector& impulse, const Vector& velocity, double penalty,
                    bool recomputed) {
  iteration += parts_iterations_;
  last_iteration_ = iteration;
  double error = Certifier::error(problem_, impulse, velocity, settings_.law, settings_.measure);
  const Vector* u = &velocity;
  if (error <= settings_.tolerance && !recomputed) {
    // The solver's own velocities may have drifted; the claim is checked on the raw data before it is
    // believed.
    problem_.velocity_of(impulse, solver_.scratch_v_, solver_.scratch_u_);
    u = &solver_.scratch_u_;
    error = Certifier::error(problem_, impulse, *u, settings_.law, settings_.measure);
  }
  if (error <= settings_.tolerance) {
    error = solver_.certifier_.confirm(problem_, impulse, error, settings_.tolerance, settings_.law,
                                       settings_.measure);
  }
  if (error <= settings_.tolerance && is_contradicted(impulse, *u)) return true;
  last_error_ = error;
  if (error < best_error_) {
    best_error_ = error;
    solver_.best_ = impulse;
    vetted_ = error <= settings_.tolerance;
  } else if (u == &solver_.scratch_u_) {
    vetted_ = false;  // what was computed there belongs to this iterate, not to the best one
  }
  const bool timed = std::isfinite(settings_.time_limit) || settings_.history || settings_.on_progress;
  const double now = timed ? seconds() : 0.0;
  if (settings_.history) report_.history.push_back({iteration, error, now, penalty});
  const bool wanted = !settings_.on_progress || settings_.on_progress({iteration, error, now, penalty});
  if (best_error_ <= goal_) {  // of a start that could have been returned, too
    stop(Status::converged);
  } else if (!wanted) {
    stop(Status::cancelled);
  } else if (now > settings_.time_limit) {
    stop(Status::time_limit);
  }
  return stopped_;
}

// The proof, once per solve.
std::optional<Contradiction> Monitor::find_contradiction() {
  if (proof_tried_ || !settings_.prove_infeasible) return std::nullopt;
  proof_tried_ = true;
  if (rest_meets_demands(problem_, settings_.law)) return std::nullopt;
  if (!solver_.least_violation_) solver_.least_violation_ = std::make_unique<LeastViolation>();
  LeastViolation& search = *solver_.least_violation_;
  const std::function<bool()> late = [this] { return seconds() > settings_.time_limit; };
  const bool timed = std::isfinite(settings_.time_limit);
  std::optional<Contradiction> proof = search.prove(problem_, settings_.law, timed ? &late : nullptr);
  report_.factorizations += search.factorizations();
  proof_worked_ = true;
  return proof;
}

bool Monitor::prove_infeasible() {
  if (stopped_ || proof_tried_ || !settings_.prove_infeasible) return stopped_;
  std::optional<Contradiction> proof = find_contradiction();
  if (proof_worked_) note_stage("least violation");
  if (!proof) return false;
  report_.contradictions.push_back(std::move(*proof));
  vetted_ = false;
  stop(Status::infeasible);
  return true;
}

// An error may be small because impulses are large: before an iterate that leaves a constraint violated is called a
// solution, contradictions are looked for. True if there is one. Looked into are violations that only impulses of
// heavier bodies or of rows in other units allow (beyond 1e2 times the tolerance of the constraint's own free velocity),
// and, of impulses beyond what the reference counts, all above the tolerance.
bool Monitor::is_contradicted(const Vector& impulse, const Vector& velocity) {
  if (proof_tried_ || !settings_.prove_infeasible || problem_.row_count() == 0) return false;
  const double allowed = settings_.tolerance;
  const double violation = relative_violation(problem_, velocity, settings_.law);
  if (violation <= allowed) return false;
  if (violation <= kMostDemands * allowed &&
      impulse_sizes(problem_, impulse).largest <= kMostDemands * problem_.largest_demand()) {
    return false;
  }
  std::optional<Contradiction> proof = find_contradiction();
  if (!proof) return false;
  report_.contradictions.push_back(std::move(*proof));
  vetted_ = false;
  stop(Status::infeasible);
  return true;
}

void Monitor::note_count(std::string_view stage, Index count) {
  if (settings_.explain)
    report_.stages.push_back({stage, 1, problem_.constraint_count(), count, 0, 0.0, 0.0});
}

bool Monitor::out_of_time(Index iteration) {
  last_iteration_ = std::max(last_iteration_, parts_iterations_ + iteration);
  if (std::isfinite(settings_.time_limit) && seconds() > settings_.time_limit) stop(Status::time_limit);
  return stopped_;
}

Settings Monitor::part_settings(Index iterations) const {
  Settings part = settings_;
  part.max_iterations = std::min(iterations, iterations_left());
  part.time_limit =
      std::isfinite(settings_.time_limit) ? std::max(1e-9, remaining_time()) : settings_.time_limit;
  part.islands = false;
  part.prove_infeasible = false;
  part.threads = 1;
  return part;
}

bool Monitor::take_over(std::string_view stage, const Report& part, const Solution& solution) {
  const double before = part.history.empty() ? 0.0 : seconds() - part.seconds;
  report_.factorizations += part.factorizations;
  for (const Progress& p : part.history) {
    if (p.iteration == 0 && parts_iterations_ > 0) continue;  // where the last part ended
    report_.history.push_back({p.iteration + parts_iterations_, p.error, p.seconds + before, p.penalty});
  }
  parts_iterations_ += part.iterations;
  last_iteration_ = parts_iterations_;
  const double error = value_of(part.certificate, settings_.measure);
  last_error_ = error;
  if (error < best_error_) {
    best_error_ = error;
    solver_.best_ = solution.impulse;
    vetted_ = false;  // their velocities are the part's
  }
  if (settings_.explain) {
    report_.stages.push_back({stage, 1, problem_.constraint_count(), part.iterations, part.factorizations,
                              part.seconds, best_error_});
  }
  if (part.status == Status::converged && is_contradicted(solution.impulse, solution.velocity)) {
    return true;
  }
  if (part.status == Status::converged || part.status == Status::cancelled) stop(part.status);
  if (!stopped_) out_of_time(0);
  if (!stopped_ && parts_iterations_ >= settings_.max_iterations) stop(Status::iteration_limit);
  return stopped_;
}

void Monitor::note_stage(std::string_view stage) {
  parts_iterations_ = last_iteration_;
  if (!settings_.explain) return;
  Stage sum{stage,     1,          problem_.constraint_count(), last_iteration_, report_.factorizations,
            seconds(), best_error_};
  for (const Stage& before : report_.stages) {
    sum.iterations -= before.iterations;
    sum.factorizations -= before.factorizations;
    sum.seconds -= before.seconds;
  }
  report_.stages.push_back(sum);
}

}  // namespace tribo
