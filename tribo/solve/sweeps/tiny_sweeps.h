// Gauss-Seidel sweeps over a small problem with dense matrices and the one-contact solvers that cannot fail:
// most islands of a few contacts are solved by them before anything else would have been set up.
#pragma once

#include <vector>

#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/law/one_contact.h"
#include "tribo/solve/systems/dense_half.h"
#include "tribo/solve/systems/small_delassus.h"

namespace tribo {

// The one-constraint problems of all constraints, prepared for visits.
class VisitSolvers {
 public:
  void prepare(const ContactProblem& problem, Law law);
  // The impulse of constraint i (first entry: of a scalar) that answers to its velocity with compliance included.
  Vec3 solve_contact(Index i, const Vec3& velocity, const Vec3& impulse) {
    return law_ == Law::exact ? exact_[i].solve(velocity, impulse) : convex_[i].solve(velocity, impulse);
  }
  double solve_scalar(Index i, double velocity, double impulse) const {
    return scalar_[i].solve(velocity, impulse);
  }

 private:
  Law law_ = Law::exact;
  std::vector<ExactContact> exact_;  // of the law in use
  std::vector<ConvexContact> convex_;
  std::vector<ScalarRow> scalar_;
};

// With W, for tiny problems.
class TinySweeps {
 public:
  // From monitor.start(). True when the monitor said to end.
  bool run(const ContactProblem& problem, Monitor& monitor);

 private:
  void sweep(const ContactProblem& problem);

  SmallDelassus w_;
  VisitSolvers solvers_;
  Vector impulse_, velocity_;
};

// With X (dense_half.h), for a few trees: W is never formed.
class DenseSweeps {
 public:
  // From monitor.start(). True when the monitor said to end.
  bool run(const ContactProblem& problem, Monitor& monitor);
  const DenseHalf& half() const { return half_; }  // of the last run

 private:
  void sweep(const ContactProblem& problem);

  DenseHalf half_;
  VisitSolvers solvers_;
  Vector impulse_, state_, velocity_;
};

}  // namespace tribo
