// Who tells an engine that it is done: the certificate, through the monitor, where it solves the problem itself; the error
// of the subproblem where an outer method has posed one. The same loops serve both.
//
// Iterations of inner engines count as iterations of the solve, so that a budget bounds the work whatever is nested.
#pragma once

#include <algorithm>

#include "tribo/solve/classical/subproblem.h"
#include "tribo/solve/driver/monitor.h"

namespace tribo {

class Judge {
 public:
  // The problem itself. `done`: iterations of the present stage before this engine's first one.
  explicit Judge(Monitor& monitor, Index done = 0)
      : monitor_(monitor),
        done_(done),
        limit_(monitor.iterations_left() - done),
        tolerance_(monitor.tolerance()) {}
  // A subproblem, to `tolerance` in the measure of the solve or for `most` iterations.
  Judge(Monitor& monitor, Subproblem& inner, double tolerance, Index most, Index done)
      : monitor_(monitor),
        inner_(&inner),
        done_(done),
        limit_(std::min(most, monitor.iterations_left() - done)),
        tolerance_(tolerance) {}

  Monitor& monitor() const { return monitor_; }
  double tolerance() const { return tolerance_; }
  Index limit() const { return limit_; }  // the last iteration that the engine may do
  Index iterations() const { return last_; }
  bool converged() const { return converged_; }
  double error() const { return error_; }  // of the last iterate judged

  // Judges iterate k with velocity u = W lambda + q; true: end here.
  bool judge(Index k, const Vector& impulse, const Vector& u) {
    last_ = std::max(last_, k);
    if (inner_ == nullptr) {
      const bool end = monitor_.check(done_ + k, impulse, u);
      error_ = monitor_.last_error();
      return end;
    }
    error_ = inner_->error(impulse, u, monitor_.settings().measure);
    converged_ = error_ <= tolerance_;
    return converged_ || monitor_.out_of_time(done_ + k);
  }
  // For iterations that are not judged.
  bool out_of_time(Index k) {
    last_ = std::max(last_, k);
    return monitor_.out_of_time(done_ + k);
  }

 private:
  Monitor& monitor_;
  Subproblem* inner_ = nullptr;
  Index done_ = 0, limit_ = 0, last_ = 0;
  double tolerance_ = 0.0, error_ = Interval::kInfinity;
  bool converged_ = false;
};

// A method that solves subproblems.
class Engine {
 public:
  virtual ~Engine() = default;
  // Once per solve, after Subproblem::setup().
  virtual void begin(Subproblem& problem) = 0;
  // From `impulse` (which becomes the last iterate) until the judge ends it. Returns how it ended where the judge did
  // not say so.
  virtual Status run(Subproblem& problem, Vector& impulse, Judge& judge) = 0;
};

}  // namespace tribo
