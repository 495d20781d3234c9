#include "tribo/solve/monitor.h"

#include <algorithm>
#include <cmath>

namespace tribo {

Monitor::Monitor(Solver& solver, const ContactProblem& problem, const Settings& settings, Report& report,
                 const Vector& start)
    : solver_(solver),
      problem_(problem),
      settings_(settings),
      report_(report),
      start_(start),
      begin_(std::chrono::steady_clock::now()) {
  solver_.best_ = start;
}

double Monitor::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void Monitor::stop(Status status) {
  stopped_ = true;
  stop_status_ = status;
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
  if (error <= settings_.tolerance && looks_infeasible(problem_, impulse, *u, settings_.law)) {
    stop(Status::no_solution_suspected);
    return true;
  }
  last_error_ = error;
  if (error < best_error_) {
    best_error_ = error;
    solver_.best_ = impulse;
  }
  const bool timed = std::isfinite(settings_.time_limit) || settings_.history || settings_.on_progress;
  const double now = timed ? seconds() : 0.0;
  if (settings_.history) report_.history.push_back({iteration, error, now, penalty});
  const bool wanted = !settings_.on_progress || settings_.on_progress({iteration, error, now, penalty});
  if (error <= settings_.tolerance) {
    stop(Status::converged);
  } else if (!wanted) {
    stop(Status::cancelled);
  } else if (now > settings_.time_limit) {
    stop(Status::time_limit);
  }
  return stopped_;
}

bool Monitor::out_of_time(Index iteration) {
  last_iteration_ = std::max(last_iteration_, iteration);
  if (std::isfinite(settings_.time_limit) && seconds() > settings_.time_limit) stop(Status::time_limit);
  return stopped_;
}

}  // namespace tribo
