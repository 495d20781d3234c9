// The last digits: proximal point iterations with a semismooth Newton inside, from a good impulse.
//
// Sub-problem k: the natural map of the problem with the proximal compliance alpha w_i around lambda_k,
//   F_i(l) = l_i - T_i(l_i - rho_i (w_i(l) + alpha w_i (l_i - l_k,i))),   w(l) = (W + R) l + q, rho_i = 1 / w_i
// (w_i also the constraint's scale), T the strict operator under the exact law, the projection under the
// convex one. A Newton step solves (P W + Q) dl = -F with P = T' rho, Q = I - T' + rho T' (R + alpha w_i),
// regular for alpha > 0 whatever the rank of W. From 1e-6 a few steps with a small alpha reach 1e-12; an
// alpha that fails is raised, one that works is lowered.
#pragma once

#include <vector>

#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/systems/row_system.h"

namespace tribo {

class Polish {
 public:
  enum class End { stopped, exhausted, stalled };  // stopped: by the monitor

  void prepare(const ContactProblem& problem, Law law);

  // From `start` (impulses) with at most `factorizations`; every iterate is offered to the monitor. `system`
  // must be prepared for the problem. `iteration` counts on. A probe gives up at the first step that does not
  // pay.
  End run(const ContactProblem& problem, Monitor& monitor, RowSystem& system, RowBlocks& blocks,
          const Vector& start, double alpha, Index factorizations, bool probe, Index& iteration);

  const Vector& impulse() const { return impulse_; }  // the last accepted one

 private:
  double residual(const ContactProblem& problem, const Vector& impulse, double alpha);
  void fill_blocks(const ContactProblem& problem, double alpha, RowBlocks& blocks) const;
  bool newton_step(const ContactProblem& problem, double alpha, double& merit);

  Law law_ = Law::exact;
  Vector root_;  // sqrt(w_i) per row
  Vector anchor_, impulse_, trial_, velocity_, natural_, z_, step_, negative_, dofs_;
};

}  // namespace tribo
