// Between a solver's loop and the outside: when to stop, the best iterate so far, history, limits and cancellation.
// A solver never decides that it has converged; it offers iterates here and the certificate decides.
//
// A solver may run others as its stages, or loops of its own, each within a budget:
//   monitor.run(newton, {.iterations = 80, .factorizations = 150});                       from the best iterate so far
//   monitor.run_stage("dense sweeps", {.iterations = 6}, Monitor::From::best, [&] { ... });
// While a stage runs, start(), best(), best_error() and the limits are its own: the same loop serves as a solver and as a
// stage. Stages nest; a budget is clipped to what the stage around it has left. Afterwards the monitor knows the best
// iterate of them all.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tribo/solve/budget.h"
#include "tribo/solve/solver.h"

namespace tribo {

class LeastViolation;

class Monitor {
 public:
  // Of one factorisation of the search for a proof: some seconds; and of the search before a doubtful claim is believed:
  // some tenths.
  static constexpr double kMostProofFlops = 4e9, kMostDoubtFlops = 1e8;

  Monitor();
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // ---- For solvers. ----

  const Settings& settings() const { return *settings_; }
  double tolerance() const { return settings_->tolerance; }
  const Vector& start() const { return stage_->start; }  // feasible starting impulses [rows]

  // Offers iterate `iteration` (of the present stage, from 1 on) with its impulses and velocities u = W lambda + q (kept
  // by the solver up to rounding). Returns true when the loop must end. Costs O(rows).
  bool check(Index iteration, const Vector& impulse, const Vector& velocity, double penalty = 0.0);
  // The same for a solver without velocities at hand: they are recomputed, O(entries of J).
  bool check(Index iteration, const Vector& impulse, double penalty = 0.0);

  double last_error() const { return last_error_; }  // of the last iterate offered
  double best_error() const {
    return stage_->best_of->best_error;
  }                                                             // of the present stage, its start included
  const Vector& best() const { return stage_->best_of->best; }  // the impulses of that iterate

  // The last iteration that the loop may do.
  Index iterations_left() const {
    return std::max<Index>(0, stage_->last_iteration - stage_->first_iteration);
  }
  // Whether the stage may make another factorisation, of so many multiply-adds where known.
  bool may_factorize(double flops = 0.0) const {
    return report_->factorizations < stage_->last_factorization && flops <= stage_->factor_flops;
  }
  Index factorizations_left() const {
    return std::max<Index>(0, stage_->last_factorization - report_->factorizations);
  }
  double factor_flops_allowed() const { return stage_->factor_flops; }
  void count_factorization(double flops = 0.0) { count_factorizations(1, flops); }
  void count_factorizations(Index count, double flops = 0.0) {
    report_->factorizations += count;
    report_->factor_flops = std::max(report_->factor_flops, flops);
  }
  // Cheap: true when the time is over; for loops that check() only now and then.
  bool out_of_time(Index iteration);
  // For long factorisations, null where no time is set: asks whether to give up.
  const std::function<bool()>* interrupt() const;
  // How a loop ended that could not go on: out of time, out of factorisations, or stuck.
  Status give_up(Index iteration);

  // Iterates that are good enough do not end the loop before this error is reached, at most the tolerance; until
  // drop_aim(). For starts that are all but solutions, where a little more work saves the next steps theirs.
  void aim(double error) { goal_ = std::min(error, settings_->tolerance); }
  // Back to the tolerance. Returns true when the loop must end.
  bool drop_aim();

  // Looks for a proof that the problem has no solution, once per solve, unless Settings say not to, rest is a velocity
  // that meets all demands, or a factorisation takes more multiply-adds than `most_flops`: one may look again then.
  // Returns true when the loop must end.
  bool prove_infeasible(double most_flops = kMostProofFlops);

  // A count worth knowing ("inner failures"), kept as the iterations of a stage of that name (Settings::explain).
  void note_count(std::string_view stage, Index count);
  // The solver has given compliance to `count` constraints: Report::regularized_count.
  void note_regularized(Index count) { report_->regularized_count = count; }

  // Report::faceted_error.
  void note_faceted_error(double error) { report_->faceted_error = error; }

  // ---- Stages. ----

  enum class From {
    best,   // from the best iterate so far, whose error counts as the stage's own
    start,  // from where the present stage began
  };
  // The loop of another solver, or `loop()`, as a stage. True when the whole solve must end.
  bool run(Solver& solver, const Budget& budget, From from = From::best);
  template <class Loop>
  bool run_stage(std::string_view name, const Budget& budget, From from, const Loop& loop) {
    enter(budget, from);
    loop();
    return leave(name);
  }
  // The same from other impulses (feasible), which are checked first.
  bool run(Solver& solver, const Budget& budget, const Vector& start);
  template <class Loop>
  bool run_stage(std::string_view name, const Budget& budget, const Vector& start, const Loop& loop) {
    if (!enter(budget, start)) loop();
    return leave(name);
  }
  // What the last stage came to, its start included: the impulses. Valid until the next one begins.
  const Vector& stage_best() const { return stages_[depth_]->best_of->best; }
  // Multiply-adds of the most expensive factorisation so far, 0 where not known.
  double factor_flops() const { return report_->factor_flops; }
  Index factorizations() const { return report_->factorizations; }  // so far

  // ---- For the driver. ----

  // The loop has ended: how. Looks for a proof that there is no solution where it ended without one.
  Status finish(Status status);

  // A new solve. What is handed over must live as long as it takes.
  void begin(const ContactProblem& problem, const Settings& settings, Report& report, const Vector& start,
             std::chrono::steady_clock::time_point begin);
  bool check_start();
  Status stop_status() const { return stop_status_; }
  Index iterations_done() const { return iterations_done_; }
  // The best iterate has converged, and its velocities on the raw data are those below.
  bool has_velocity_of_best() const { return vetted_; }
  const Vector& constraint_velocity() const { return u_; }
  const Vector& generalized_velocity() const { return v_; }
  Certifier& certifier() { return certifier_; }
  const LeastViolation& least_violation() const { return *least_violation_; }

 private:
  using Clock = std::chrono::steady_clock;
  // The limits are absolute: counts of the whole solve.
  struct StageState {
    Vector start, best;
    double best_error = 0.0;
    StageState* best_of = nullptr;  // the stage whose best iterate this one shares: itself, or one around it
    double start_error = 0.0;
    Index first_iteration = 0;  // iterations of the solve before its own
    Index last_iteration = 0;
    Index last_factorization = 0;
    double factor_flops = 0.0;
    double deadline = 0.0;  // s since the solve began
  };

  double seconds() const;
  bool is_timed() const { return std::isfinite(stage_->deadline); }
  void stop(Status status);
  StageState& push();
  void enter(const Budget& budget, From from);
  bool enter(const Budget& budget, const Vector& start);
  void limit(const Budget& budget, const StageState& around, StageState& stage) const;
  bool leave(std::string_view name);
  void note_stage(std::string_view name);
  void report_counts();
  bool is_contradicted(const Vector& impulse, const Vector& velocity);
  std::optional<Contradiction> find_contradiction(double most_flops);
  void report_contradiction(Contradiction proof);
  bool judge(Index iteration, const Vector& impulse, const Vector& velocity, double penalty, bool recomputed);
  bool take(const Vector& impulse, double error);

  const ContactProblem* problem_ = nullptr;
  const Settings* settings_ = nullptr;
  Report* report_ = nullptr;
  Clock::time_point begin_;
  std::vector<std::unique_ptr<StageState>>
      stages_;  // the first `depth_` are at work, the first of all is the solve
  std::size_t depth_ = 0;
  StageState* stage_ = nullptr;  // the innermost one
  Certifier certifier_;
  std::unique_ptr<LeastViolation> least_violation_;
  std::function<bool()> interrupt_;
  Vector v_, u_;       // velocities computed last
  double goal_ = 0.0;  // error at which to stop
  double last_error_ = 0.0;
  Index iterations_done_ = 0;
  Stage noted_;                // sums of the stages recorded so far
  std::vector<Stage> counts_;  // noted while a stage runs
  bool stopped_ = false;
  bool proof_tried_ = false;   // asked for
  bool proof_worked_ = false;  // there was something to look for
  bool vetted_ = false;        // see has_velocity_of_best()
  Status stop_status_ = Status::iteration_limit;
};

}  // namespace tribo
