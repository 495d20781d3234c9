// Gauss-Seidel sweeps over a small problem with its dense Delassus matrix and the one-contact solvers that
// cannot fail: most islands of a few contacts are solved by them before anything else would have been set up.
#pragma once

#include <vector>

#include "tribo/solve/monitor.h"
#include "tribo/solve/one_contact.h"
#include "tribo/solve/small_delassus.h"

namespace tribo {

class TinySweeps {
 public:
  // True when the monitor said to end. The last iterate is impulse().
  bool run(const ContactProblem& problem, Monitor& monitor, Index sweeps);
  const Vector& impulse() const { return impulse_; }

 private:
  void prepare(const ContactProblem& problem, const Vector& start);
  void sweep(const ContactProblem& problem, Law law);

  SmallDelassus w_;
  std::vector<ExactContact> exact_;  // of the law in use
  std::vector<ConvexContact> convex_;
  std::vector<ScalarRow> scalar_;
  Vector impulse_, velocity_;
};

}  // namespace tribo
