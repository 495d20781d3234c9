// What nsgs:accelerate=cg does between two sweeps: the impulses are extrapolated along the changes of the last sweeps. What
// the certificate sees is always the result of a sweep, which brings every impulse back into its set.
#pragma once

#include <array>
#include <vector>

#include "tribo/solve/sweeps/sweep.h"

namespace tribo {

// With friction: nonlinear conjugate gradients (Silcowitz-Hansen et al. 2010). The step s_k of a sweep stands for the
// preconditioned gradient, and before the next sweep the impulses go on along what is left of the earlier steps,
//
//   lambda += beta_k p_k-1,   p_k = beta_k p_k-1 + s_k,   beta_k = |s_k|^2 / |s_k-1|^2   (Fletcher-Reeves).
//
// Directions are forgotten where steps grow. Takes about the square root of the number of plain sweeps.
class SweepMomentum {
 public:
  void reset();
  // Before a sweep.
  void advance(SweepOperator& sweeps, Vector& impulse);
  // After it.
  void learn(const SweepChange& change);

 private:
  double last_ = 0.0;   // |s|^2 of the last sweep
  double ratio_ = 0.0;  // beta
  bool fresh_ = true, forget_ = true;
  Vector impulse_, state_;  // before the last sweep
  Vector direction_, direction_state_;
};

// Without friction, where impulses minimise an energy: before each sweep they go to where
//
//   E(lambda) = 1/2 lambda . (W + R) lambda + q . lambda
//
// is least over the step s of the last sweep and the two steps d1, d2 before it, and back into their sets,
//
//   lambda <- P(lambda + D c),   D = [s d1 d2],   D^T (W + R) D c = -D^T (u + R lambda).
//
// A step d leads from before one sweep to before the next. With symmetric sweeps and no bounds a single d would make conjugate
// gradients; sweeps in one order are no symmetric preconditioner and need two. 3000 balls in a box, error 1e-6: 220 sweeps,
// with one d 1640, with momentum as above 1170; on the contacts that are closed in the end, known beforehand, conjugate
// gradients preconditioned by sweeps forth and back take 180. On velocities no product with W is needed: what impulses make (y of
// SweepOperator) is an affine function of them, so its changes are known. In exact friction the steps lead off the cones: half the
// sweeps at twice the cost each.
class SweepSubspace {
 public:
  // `problem`, without friction and with a symmetric W, must outlive the sweeps.
  void setup(const ContactProblem& problem);
  // Forgets the previous steps: where the impulses were changed by anything but sweeps and advance().
  void reset() { known_ = false; }
  // Before a sweep.
  void advance(SweepOperator& sweeps, Vector& impulse);

 private:
  static constexpr int kPreviousSteps = 3;
  using History = std::array<Vector, kPreviousSteps>;  // before the last sweep, the one before it, ...
  struct Sums;

  void begin(const Vector& impulse, const Vector& image);
  void add_energy(const Vector& impulse, const Vector& image, Sums& sums) const;
  void project(SweepOperator& sweeps, Vector& impulse) const;
  bool is_outside(const Vector& impulse, Index begin, Index end) const;

  const ContactProblem* problem_ = nullptr;
  bool rows_ = false;   // as sweeps: what the impulses make is u, not y
  bool known_ = false;  // the previous steps
  Index advanced_ = 0;
  History impulse_, image_;
  Vector velocity_;           // u, rows only
  bool one_sided_ = false;    // all bounds are 0 and infinity
  Vector lower_, upper_;      // [rows] bounds; tangential impulses: 0
  std::vector<Index> owner_;  // [rows] constraint
};

}  // namespace tribo
