// The loop of the sweeping solvers: the order of the visits, which constraints may rest, when the error is looked at, and
// when sweeps are given up.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tribo/problem/contact_problem.h"
#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/sweeps/sweep.h"

namespace tribo {

// The order of visits; deterministic for a given seed.
class SweepOrder {
 public:
  void reset(Index count, std::uint64_t seed = 0);
  void shuffle();
  void reverse();
  std::span<const Index> visits() const { return order_; }

 private:
  std::vector<Index> order_;
  std::uint64_t state_ = 0;
};

// Lets constraints rest that have settled while others still move (the small islands of a large problem): one
// whose step was below 1 % of the root mean square in three visits in a row skips the next sweep, then two,
// up to `longest`. On such problems this saves most of the work at the same number of sweeps. The certificate
// sees every constraint. With momentum only those rest that did not move at all (open contacts): the others are moved
// between the sweeps; and there it is enough to look at every fourth sweep.
class SweepRest {
 public:
  void reset(Index count, Index longest, bool only_still = false);

  // One sweep over those awake, in `order`.
  template <class Local>
  SweepChange sweep(SweepOperator& sweeps, std::span<const Index> order, Vector& impulse, Local&& local) {
    if (longest_ == 0) return sweeps.sweep(order, impulse, local);
    if (sweep_ % period_ == 0) present_ = find_awake(order);
    const bool looks = ++sweep_ % period_ == 0;
    SweepChange change = sweeps.sweep(present_, impulse, local, looks ? steps_.data() : nullptr);
    change.complete = present_.size() == order.size();
    if (present_.size() < rest_.size()) change.impulse = impulse.squaredNorm();
    if (looks) update(present_, change);
    return change;
  }

 private:
  std::span<const Index> find_awake(std::span<const Index> order);
  void update(std::span<const Index> awake, const SweepChange& change);

  Index longest_ = 0;
  bool only_still_ = false;
  Index sweep_ = 0, period_ = 1;             // who is awake is found out anew every period_ sweeps
  std::span<const Index> present_;           // those awake
  Index resting_ = 0;                        // how many have rest > 0
  std::vector<std::uint16_t> rest_, quiet_;  // sweeps to rest, and visits without a step
  std::vector<Index> awake_;
  Numbers steps_;
};

// Decides when the full error is worth its price (about a sweep). The step of a sweep relative to the
// impulses is free; its ratio to the error is learned at every full evaluation (the rule of Siconos' NSGS),
// so that the error is evaluated when the step predicts success, and in any case at sweeps 1, 2, 4, 7, 11,
// ... Never a stopping test itself.
class SweepWatch {
 public:
  SweepWatch(const ContactProblem& problem, double tolerance);

  // After every sweep: true when the full error should be evaluated now.
  bool due(Index sweep, const SweepChange& change);
  void learn(Index sweep, double error);

  // Three sweeps in a row changed nothing but rounding.
  bool stuck() const { return still_ >= 3; }
  // Impulses far beyond the natural size kept growing in proportion to the number of sweeps over four
  // doublings.
  bool diverging() const { return doublings_ >= 4; }
  // Limit cycle: the error has not improved by a tenth while the number of sweeps doubled, and over the next
  // 50 sweeps the impulses moved in circles, by less than a fifth of the way they went (a slow approach moves
  // ahead). `past` is a buffer for the impulses at the start of those sweeps.
  bool cycling(Index sweep, const SweepChange& change, const Vector& impulse, Vector& past);

 private:
  double tolerance_;
  double huge_;  // sum of squares
  double ratio_ = 1.0;
  double step_ = 0.0;  // relative step of the last sweep
  Index next_ = 1;
  Index best_at_ = 0;
  Index circle_from_ = 0;  // 0: not measuring
  double travelled_ = 0.0;
  double best_ = std::numeric_limits<double>::infinity();
  int still_ = 0;
  int doublings_ = 0;
  Index mark_ = 64;
  SweepChange marked_;
};

// Vectors of the loop [rows], kept between solves.
struct SweepState {
  Vector impulse, velocity, past;
};

// The loop of a sweeping solver: `one_sweep(iteration)` returns the SweepChange, `calm_down()` is called when
// the sweeps run in a cycle and returns false when there is nothing left to try.
template <class OneSweep, class CalmDown>
Status run_sweeps(const ContactProblem& problem, Monitor& monitor, SweepOperator& sweeps, SweepState& state,
                  OneSweep&& one_sweep, CalmDown&& calm_down) {
  constexpr Index kRefresh = 50;  // sweeps whose rounding may be collected
  Index refreshed = 0;
  SweepWatch watch(problem, monitor.tolerance());
  const Index limit = monitor.iterations_left();
  for (Index k = 1; k <= limit; ++k) {
    const SweepChange change = one_sweep(k);
    if (watch.due(k, change) || k == limit) {
      // Near the end, and where nothing moves any more, rounding must not decide.
      const bool exactly =
          watch.stuck() || k - refreshed >= kRefresh || monitor.last_error() <= 10.0 * monitor.tolerance();
      if (exactly) {
        sweeps.refresh(state.impulse, state.velocity);
        refreshed = k;
      } else {
        sweeps.find_velocity(state.impulse, state.velocity);
      }
      if (monitor.check(k, state.impulse, state.velocity)) return Status::converged;
      watch.learn(k, monitor.last_error());
    } else if (monitor.out_of_time(k)) {
      return Status::time_limit;
    }
    if (watch.stuck()) return Status::stalled;
    if (watch.cycling(k, change, state.impulse, state.past) && !calm_down()) return Status::stalled;
    if (watch.diverging()) return Status::no_solution_suspected;
  }
  return Status::iteration_limit;
}

}  // namespace tribo
