// Between a solver's loop and the outside: when to stop, the best iterate so far, history, time and
// cancellation. A solver never decides that it has converged; it offers iterates here and the certificate
// decides.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "tribo/solve/solver.h"

namespace tribo {

class Monitor {
 public:
  // `begin`: when the solve began.
  Monitor(Solver& solver, const ContactProblem& problem, const Settings& settings, Report& report,
          const Vector& start, std::chrono::steady_clock::time_point begin);

  const Settings& settings() const { return settings_; }
  const Vector& start() const { return start_; }  // feasible starting impulses [rows]
  double tolerance() const { return settings_.tolerance; }

  // Offers iterate `iteration` with its impulses and velocities u = W lambda + q (kept by the solver up to
  // rounding). Returns true when the loop must end (converged, cancelled, time). Costs O(rows).
  bool check(Index iteration, const Vector& impulse, const Vector& velocity, double penalty = 0.0);
  // The same for a solver without velocities at hand: they are recomputed, O(entries of J).
  bool check(Index iteration, const Vector& impulse, double penalty = 0.0);

  // Iterates that are good enough do not end the loop before this error is reached, at most the tolerance; until
  // settle(). For starts that are all but solutions, where a little more work saves the next steps theirs.
  void aim(double error) { goal_ = std::min(error, settings_.tolerance); }
  // Back to the tolerance. Returns true when the loop must end.
  bool settle();

  // Cheap: true when the time is over; for loops that check() only now and then.
  bool out_of_time(Index iteration);

  // For solvers that hand the problem to others: the settings such a part may use (the caller's, with the time
  // and at most `iterations` of the iterations left, undivided and on one thread) ...
  Settings part_settings(Index iterations) const;
  // ... and what it came to. Returns true when the loop must end.
  bool take_over(std::string_view stage, const Report& part, const Solution& solution);

  // Looks for a proof that the problem has no solution, once per solve, unless Settings say not to or rest is a
  // velocity that meets all demands. Returns true when the loop must end.
  bool prove_infeasible();

  // What the solver's own loop has come to so far, for Settings::explain.
  void note_stage(std::string_view stage);
  // A count worth knowing ("inner failures"), kept as the iterations of a stage of that name.
  void note_count(std::string_view stage, Index count);

  // Iterations that the present loop may do.
  Index iterations_left() const {
    return std::min(stage_iterations_, std::max<Index>(0, settings_.max_iterations - parts_iterations_));
  }
  // Seconds left of Settings::time_limit, at least 0.
  double remaining_time() const { return std::max(0.0, settings_.time_limit - seconds()); }

  double last_error() const { return last_error_; }
  double best_error() const { return best_error_; }
  const Vector& best() const { return solver_.best_; }  // impulses of the best iterate so far
  // `flops`: multiply-adds of it where known.
  void count_factorization(double flops = 0.0) {
    ++report_.factorizations;
    report_.factor_flops = std::max(report_.factor_flops, flops);
  }
  // The solver has given compliance to `count` constraints: Report::regularized_count.
  void note_regularized(Index count) { report_.regularized_count = count; }

 private:
  friend class Solver;
  bool check_start();
  double seconds() const;
  void stop(Status status);
  bool is_contradicted(const Vector& impulse, const Vector& velocity);
  std::optional<Contradiction> find_contradiction();
  bool judge(Index iteration, const Vector& impulse, const Vector& velocity, double penalty, bool recomputed);

  Solver& solver_;
  const ContactProblem& problem_;
  const Settings& settings_;
  Report& report_;
  const Vector& start_;
  std::chrono::steady_clock::time_point begin_;
  double goal_;  // error at which to stop
  double last_error_ = std::numeric_limits<double>::infinity();
  double best_error_ = std::numeric_limits<double>::infinity();
  Index last_iteration_ = 0;
  Index parts_iterations_ = 0;                                  // of the stages before the present one
  Index stage_iterations_ = std::numeric_limits<Index>::max();  // that the present stage may do
  bool stopped_ = false;
  bool proof_tried_ = false;   // asked for
  bool proof_worked_ = false;  // there was something to look for
  bool vetted_ =
      false;  // the best iterate converged here: its velocities on the raw data are the scratch ones
  Status stop_status_ = Status::iteration_limit;
};

}  // namespace tribo
