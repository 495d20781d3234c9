#include "tribo/solve/solver.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/problem/constraints.h"
#include "tribo/problem/natural_map.h"
#include "tribo/solve/driver/island_driver.h"
#include "tribo/solve/driver/least_violation.h"
#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/systems/small_delassus.h"

namespace tribo {
namespace {

void check_settings(const Solver& solver, const ContactProblem& problem, const Settings& settings,
                    const Vector* initial_impulse) {
  if (!solver.supports(settings.law)) {
    const bool exact = settings.law == Law::exact;
    throw InvalidInput(fmt::format("solver {} solves the {} law only: use --law {}", solver.name(),
                                   exact ? "convex" : "exact", exact ? "convex" : "exact"));
  }
  if (!(settings.tolerance > 0.0) || !std::isfinite(settings.tolerance)) {
    throw InvalidInput(fmt::format("tolerance is {}: it must be finite and > 0", settings.tolerance));
  }
  if (!(settings.start_tolerance >= 0.0)) {
    throw InvalidInput(fmt::format("start_tolerance is {}: it must be >= 0", settings.start_tolerance));
  }
  if (settings.max_iterations < 0) {
    throw InvalidInput(fmt::format("max_iterations is {}: it must be >= 0", settings.max_iterations));
  }
  if (!(settings.time_limit > 0.0)) {
    throw InvalidInput(fmt::format("time_limit is {} s: it must be > 0", settings.time_limit));
  }
  if (settings.threads < 1 || settings.threads > 1024) {
    throw InvalidInput(fmt::format("threads is {}: it must be between 1 and 1024", settings.threads));
  }
  if (initial_impulse == nullptr) return;
  if (initial_impulse->size() != problem.row_count()) {
    throw InvalidInput(fmt::format("initial impulse has {} entries: the problem has {} rows",
                                   initial_impulse->size(), problem.row_count()));
  }
  if (!initial_impulse->allFinite()) throw InvalidInput("initial impulse is not finite");
}

}  // namespace

std::string_view to_string(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::time_limit:
      return "time_limit";
    case Status::stalled:
      return "stalled";
    case Status::infeasible:
      return "infeasible";
    case Status::no_solution_suspected:
      return "no_solution_suspected";
    case Status::cancelled:
      return "cancelled";
    case Status::regularized:
      return "regularized";
  }
  return "unknown";
}

void project_impulse(const ContactProblem& problem, Vector& impulse) {
  for_each_constraint(
      problem,
      [&](auto cone) {
        const auto now = cone.get(impulse);
        if (!now.isZero(0.0)) cone.rows(impulse) = project_cone(now, cone.friction);
      },
      [&](IntervalConstraint row) { impulse[row.row] = row.set.project(impulse[row.row]); });
}

Solver::Solver() = default;
Solver::~Solver() = default;

void Solver::set_option(std::string_view option_name, std::string_view value) {
  std::string names;
  for (const Option& option : options()) {
    if (option.name == option_name) {
      ++option_version_;
      return option.set(value);
    }
    names += (names.empty() ? "" : ", ") + option.name;
  }
  throw InvalidInput(fmt::format("solver {} has no option '{}' (options: {})", name(), option_name,
                                 names.empty() ? "none" : names));
}

bool Solver::iterate_as(Solver& part, Index iterations, const ContactProblem& problem, Monitor& monitor) {
  monitor.solver_.start_ = monitor.solver_.best_;
  monitor.stage_iterations_ = iterations;
  part.iterate(problem, monitor);
  monitor.stage_iterations_ = std::numeric_limits<Index>::max();
  monitor.note_stage(part.name());
  return monitor.stopped_;
}

// One loop for the whole problem; the best iterate is left in best_.
Status Solver::solve_whole(const ContactProblem& problem, const Settings& settings, Clock::time_point begin,
                           Report& report) {
  scratch_v_.resize(problem.dof_count());
  scratch_u_.resize(problem.row_count());
  Monitor monitor(*this, problem, settings, report, start_, begin);
  // The start may already be a solution: nothing to contact, a perfect warm start.
  Status status = Status::converged;
  const bool done = monitor.check_start();
  report.start_error = monitor.last_error();
  if (!done) {
    status = iterate(problem, monitor);
    if (!monitor.stopped_) monitor.prove_infeasible();
  }
  if (monitor.stopped_) status = monitor.stop_status_;
  report.iterations = monitor.last_iteration_;
  vetted_ = monitor.vetted_;
  vetted_error_ = monitor.best_error_;
  return status;
}

// Island by island where that is worth it. A problem of which only a part has no solution is taken apart in any case:
// the rest of it is to be solved.
Status Solver::solve_parts(const ContactProblem& problem, const Settings& settings, Clock::time_point begin,
                           Report& report, bool& divided) {
  const bool divisible = settings.islands && !SmallDelassus::is_tiny(problem);  // few are solved together
  if (divisible && !driver_) driver_ = std::make_unique<IslandDriver>();
  divided = divisible && driver_->splits(problem, *this);
  if (!divided) {
    const Status status = solve_whole(problem, settings, begin, report);
    if (status != Status::infeasible || !settings.islands) return status;
    if (!driver_) driver_ = std::make_unique<IslandDriver>();
    divided = driver_->splits_at_all(problem);
    if (!divided) return status;
    report.contradictions.clear();
    report.stages.clear();
    report.history.clear();
    vetted_ = false;
  }
  return driver_->solve(*this, option_version_, problem, settings, start_, best_, report);
}

// The velocities of what has no solution.
void Solver::take_least_violation(const ContactProblem& problem, bool divided, Solution& solution) const {
  if (divided) return driver_->take_least_violation(problem, solution);
  solution.velocity = least_violation_->constraint_velocity();
  if (!problem.has_delassus()) solution.generalized_velocity = least_violation_->velocity();
}

Report Solver::solve(const ContactProblem& problem, const Settings& settings, Solution& solution,
                     const Vector* initial_impulse) {
  check_settings(*this, problem, settings, initial_impulse);
  const bool timed = settings.full_certificate || std::isfinite(settings.time_limit) || settings.history ||
                     settings.explain || settings.on_progress;
  const Clock::time_point begin = timed ? Clock::now() : Clock::time_point{};
  Report report;
  report.solver = name();
  if (initial_impulse != nullptr) {
    start_ = *initial_impulse;
  } else {
    start_.setZero(problem.row_count());
  }
  project_impulse(problem, start_);
  release_idle(problem, start_);

  vetted_ = false;
  bool divided = false;
  Status status = solve_parts(problem, settings, begin, report, divided);

  solution.impulse = best_;
  if (problem.idle_count() > 0) {
    release_idle(problem, solution.impulse);
    vetted_ = false;
  }
  if (vetted_) {  // the velocities of this very iterate were computed for the last check
    solution.velocity = scratch_u_;
    if (problem.has_delassus()) {
      solution.generalized_velocity.resize(0);
    } else {
      solution.generalized_velocity = scratch_v_;
    }
    report.certificate = settings.full_certificate ? certifier_.judge(problem, solution, settings.law)
                                                   : measure_alone(settings.measure, vetted_error_);
  } else {
    report.certificate = certifier_.complete(problem, solution, settings.law,
                                             settings.full_certificate ? 0.0 : settings.tolerance);
  }
  const double error = value_of(report.certificate, settings.measure);
  // The last word is the certificate's, in both directions; but an island that failed is not made good by
  // larger impulses elsewhere.
  const bool contradicted = report.islands > 1 && status != Status::converged;
  const bool met = error <= settings.tolerance &&
                   (vetted_ || certifier_.confirm(problem, solution.impulse, error, settings.tolerance,
                                                  settings.law, settings.measure) <= settings.tolerance);
  if (status == Status::infeasible) {
    take_least_violation(problem, divided, solution);
  } else if (met && !contradicted) {
    status = Status::converged;
  } else if (status == Status::converged) {
    status = Status::stalled;
  }
  report.status = status;
  if (timed) report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return report;
}

}  // namespace tribo
