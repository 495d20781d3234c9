// The last digits under the convex law: proximal point iterations, each the minimisation of a smooth strongly
// convex function by Newton's method with an exact line search (solve/newton/convex_newton.h). Every step goes
// downhill, so unlike solve/interior/polish.h it cannot cycle; it works on A and J, not on an explicit W.
#pragma once

#include <functional>

#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/newton/convex_newton.h"

namespace tribo {

class ConvexPolish {
 public:
  void prepare(const ContactProblem& problem);
  void set_interrupt(const std::function<bool()>* interrupt) { newton_.set_interrupt(interrupt); }

  // From `start` (impulses) with the dimensionless penalty `beta`, raised tenfold per proximal step, and at
  // most `factorizations`; true when the monitor has stopped. `iteration` counts on.
  bool run(const ContactProblem& problem, Monitor& monitor, const Vector& start, double beta,
           Index factorizations, Index& iteration);

 private:
  void recentre(const ContactProblem& problem, double beta);

  ConvexNewton newton_;
  ConvexPotential potential_;
  ProximalLaw law_;
  Vector multiplier_, zero_, velocity_;
};

}  // namespace tribo
