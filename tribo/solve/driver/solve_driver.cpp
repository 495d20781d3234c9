#include "tribo/solve/driver/solve_driver.h"

#include <fmt/format.h>

#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/problem/natural_map.h"
#include "tribo/problem/sparse_trees.h"
#include "tribo/solve/driver/least_violation.h"
#include "tribo/solve/problem_size.h"

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

Status SolveDriver::solve_whole(Solver& solver, const ContactProblem& problem, const Settings& settings,
                                Report& report) {
  monitor_.begin(problem, settings, report, start_, begin_);
  // The start may already be a solution: nothing to contact, a perfect warm start.
  const bool done = monitor_.check_start();
  report.start_error = monitor_.last_error();
  const Status status = done ? monitor_.stop_status() : monitor_.finish(solver.iterate(problem, monitor_));
  report.iterations = monitor_.iterations_done();
  impulse_ = monitor_.best();
  vetted_ = monitor_.has_velocity_of_best();
  return status;
}

// Island by island where that is worth it. A problem of which only a part has no solution is taken apart in any case:
// the rest of it is to be solved.
Status SolveDriver::solve_parts(Solver& solver, Index option_version, const ContactProblem& problem,
                                const Settings& settings, Report& report) {
  const bool divisible = settings.islands && problem.constraint_count() > kFewConstraints;
  if (divisible && !islands_) islands_ = std::make_unique<IslandDriver>();
  divided_ = divisible && islands_->splits(problem, solver.traits());
  if (!divided_) {
    const Status status = solve_whole(solver, problem, settings, report);
    if (status != Status::infeasible || !settings.islands) return status;
    if (!islands_) islands_ = std::make_unique<IslandDriver>();
    divided_ = islands_->splits_at_all(problem);
    if (!divided_) return status;
    report.contradictions.clear();
    report.stages.clear();
    report.history.clear();
    vetted_ = false;
  }
  return islands_->solve(solver, option_version, problem, settings, start_, impulse_, report);
}

// The velocities of what has no solution.
void SolveDriver::take_least_violation(const ContactProblem& problem, Solution& solution) const {
  Vector& v = solution.generalized_velocity;
  if (divided_) {
    if (problem.has_sparse_trees()) problem.generalized_velocity_of(solution.impulse, v);
    islands_->take_least_violation(problem, solution);
  } else {
    const LeastViolation& search = monitor_.least_violation();
    solution.velocity = search.constraint_velocity();
    if (!problem.has_delassus()) v = search.velocity();
  }
  if (!problem.has_sparse_trees()) return;
  SparseScratch scratch;
  const Vector coordinates = v;
  problem.extend_velocity(coordinates, v, scratch);
}

void SolveDriver::certify(const ContactProblem& problem, const Settings& settings, Solution& solution,
                          Report& report) {
  Certifier& certifier = monitor_.certifier();
  solution.impulse = impulse_;
  if (problem.idle_count() > 0) {
    release_idle(problem, solution.impulse);
    vetted_ = false;
  }
  // What the monitor has of sparse trees are coordinates; the last word is that of A as it was given.
  if (problem.has_sparse_trees()) vetted_ = false;
  if (!vetted_) {
    report.certificate = certifier.complete(problem, solution, settings.law,
                                            settings.full_certificate ? 0.0 : settings.tolerance);
    return;
  }
  solution.velocity = monitor_.constraint_velocity();
  if (problem.has_delassus()) {
    solution.generalized_velocity.resize(0);
  } else {
    solution.generalized_velocity = monitor_.generalized_velocity();
  }
  report.certificate = settings.full_certificate ? certifier.judge(problem, solution, settings.law)
                                                 : measure_alone(settings.measure, monitor_.best_error());
}

// The certificate's, in both directions; but an island that failed is not made good by larger impulses elsewhere.
Status SolveDriver::last_word(Status status, const ContactProblem& problem, const Settings& settings,
                              const Solution& solution, const Report& report) {
  if (status == Status::infeasible) return status;
  const double error = value_of(report.certificate, settings.measure);
  const bool contradicted = report.islands > 1 && status != Status::converged;
  const auto confirmed = [&] {
    return monitor_.certifier().confirm(problem, solution.impulse, error, settings.tolerance, settings.law,
                                        settings.measure);
  };
  const bool met = error <= settings.tolerance && (vetted_ || confirmed() <= settings.tolerance);
  if (met && !contradicted) return Status::converged;
  return status == Status::converged ? Status::stalled : status;
}

Report SolveDriver::solve(Solver& solver, Index option_version, const ContactProblem& problem,
                          const Settings& settings, Solution& solution, const Vector* initial_impulse) {
  check_settings(solver, problem, settings, initial_impulse);
  using Clock = std::chrono::steady_clock;
  const bool timed = settings.full_certificate || std::isfinite(settings.time_limit) || settings.history ||
                     settings.explain || settings.on_progress;
  const Clock::time_point begin = timed ? Clock::now() : Clock::time_point{};
  Report report;
  report.solver = solver.name();
  if (initial_impulse != nullptr) {
    start_ = *initial_impulse;
  } else {
    start_.setZero(problem.row_count());
  }
  project_impulse(problem, start_);
  release_idle(problem, start_);
  vetted_ = false;
  begin_ = begin;
  const Status status = solve_parts(solver, option_version, problem, settings, report);
  certify(problem, settings, solution, report);
  report.status = last_word(status, problem, settings, solution, report);
  if (report.status == Status::infeasible) take_least_violation(problem, solution);
  if (timed) report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return report;
}

}  // namespace tribo
