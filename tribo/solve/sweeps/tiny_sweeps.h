// Gauss-Seidel sweeps over a small problem with dense matrices and the one-contact solvers that cannot fail:
// most islands of a few contacts are solved by them before anything else would have been set up.
#pragma once

#include <array>
#include <vector>

#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/law/by_rows.h"
#include "tribo/solve/law/one_cone.h"
#include "tribo/solve/systems/dense_whitened_jacobian.h"
#include "tribo/solve/systems/small_delassus.h"

namespace tribo {

// The one-constraint problems of all constraints, prepared for visits.
class VisitSolvers {
 public:
  void prepare(const ContactProblem& problem, Law law);
  // The impulse of a contact of N rows, the k-th of them, or of scalar row k, that answers to its velocity with
  // compliance included.
  template <int N>
  VecN<N> solve_contact(Index k, const VecN<N>& velocity, const VecN<N>& impulse) {
    return law_ == Law::exact ? exact_.of<N>()[k].solve(velocity, impulse)
                              : convex_.of<N>()[k].solve(velocity, impulse);
  }
  double solve_scalar(Index k, double velocity, double impulse) const {
    return scalar_[k].solve(velocity, impulse);
  }

 private:
  Law law_ = Law::exact;
  ByRows<ExactContactN> exact_;  // of the law in use
  ByRows<ConvexContactN> convex_;
  std::vector<ScalarRow> scalar_;
};

// How many of each number of rows were visited: their places in VisitSolvers.
class VisitCount {
 public:
  Index next(Index rows) { return count_[rows]++; }

 private:
  std::array<Index, kMostRows + 1> count_{};
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

// With X (dense_whitened_jacobian.h), for a few trees: W is never formed.
class DenseSweeps {
 public:
  // From monitor.start(). True when the monitor said to end.
  bool run(const ContactProblem& problem, Monitor& monitor);
  const DenseWhitenedJacobian& whitened() const { return whitened_; }  // of the last run

 private:
  void sweep(const ContactProblem& problem);

  DenseWhitenedJacobian whitened_;
  VisitSolvers solvers_;
  Vector impulse_, state_, velocity_;
};

}  // namespace tribo
