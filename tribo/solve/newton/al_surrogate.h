// The surrogate of an augmented Lagrangian, Lee et al. (2024) (19): the momentum equation with the law seen
// through penalties from the multipliers lambda_k (solve/law/proximal_law.h) inserted, and semismooth Newton on it.
// The state is that of the linear system (solve/systems/newton_system.h): velocities, not impulses.
#pragma once

#include "tribo/problem/constraints.h"
#include "tribo/solve/law/proximal_law.h"
#include "tribo/solve/systems/newton_system.h"

namespace tribo {

class AlSurrogate {
 public:
  static constexpr double kHighestBeta = 1e8;  // penalty; beyond it the matrix loses half of its digits
  // Share of the contacts that change between sticking, sliding and open, beyond which keep_step() is refused.
  static constexpr double kChangedShare = 0.3;

  // `system` must be prepared for the problem; both must stay.
  void prepare(const ContactProblem& problem, Law law, NewtonSystem& system);

  const ContactProblem& problem() const { return *problem_; }
  NewtonSystem& system() { return *system_; }
  ProximalLaw& law() { return proximal_; }  // its penalties are the caller's to prepare
  const Vector& multiplier() const { return multiplier_; }
  const Vector& trial() const { return trial_; }  // impulses of the last residual()
  double natural() const { return natural_; }     // lambda - T(lambda) of the multipliers, energy norm
  double fastest() const { return fastest_; }     // largest free velocity of a row
  // Smallest residual that counts as more than rounding.
  double rounding() const;

  // Takes these multipliers and the state that follows from them ...
  void adopt(const Vector& impulse);
  // ... or the last trial ones and leaves the state where Newton has brought it: close to the one that follows.
  // The next surrogate then begins with the change of the last one made once more.
  void adopt_trial();
  // The trial ones after a surrogate solved up to this residual: where it is rounding, the state
  // is the one that follows.
  void adopt_solved(double residual);
  // Takes adopt_trial() back for the normals: their proximal terms are centred so that at the present state the law answers
  // with the multipliers.
  void recentre_normals();

  // What the law answers at the present state, and the residual of the momentum equation with it.
  double residual();
  // One damped step; false if no decrease was found.
  bool newton_step(double& residual, Index backtracks);
  // From the new multipliers one more surrogate with the matrix of the last step, for the price of a solve. False, and
  // nothing is changed, where that is no better.
  bool repeat_step();
  // One damped Newton step on lambda = T(lambda), the equation of a solution itself, in which the multipliers move along
  // with the velocities: no outer iteration, but good steps only near a solution, or where contacts are few. False, and
  // nothing is changed, if no decrease of natural() was found. `damping` >= 1: factor of the compliances that keep
  // redundant rows from taking what they cannot bear.
  bool natural_step(double damping = 1.0);
  Index factorizations() const { return factorizations_; }  // of the last natural step
  // Whether the multipliers lie in their sets, up to rounding: a linear step leaves curved cones a little; and the nearest
  // ones that do.
  bool is_inside(Vector& nearest) const;
  // One full step with the sticking element of the generalised Jacobian for contacts at rest: normal free
  // velocities up to `rest`.
  bool stick_step(double rest);
  // One full step as if every contact at rest stuck, whatever the normal impulses that this takes.
  bool hold_step(double rest);
  // One full step with the contacts as their multipliers have them, whatever the law answers at present: sticking
  // inside the cone, touching where loaded. Undone where that is no better. Nothing is done (false) where none or
  // more than `share` of the contacts behave otherwise.
  bool keep_step(double& residual, double share);

 private:
  void measure_natural();
  void linearize_natural();
  void follow_linear();
  void change_pieces();
  bool change_scalar(const IntervalConstraint& scalar);
  template <int N>
  bool change_contact(const ConeConstraint<N>& cone);
  template <int N>
  void close_contact(const ConeConstraint<N>& cone);
  bool search_natural();
  void differentiate(double touch);
  double touch() const { return 1e-12 * fastest_; }  // velocity that counts as zero

  const ContactProblem* problem_ = nullptr;
  NewtonSystem* system_ = nullptr;
  Law law_ = Law::exact;
  ProximalLaw proximal_, unit_, soft_;
  GroupBlocks derivative_;
  Vector multiplier_, trial_, moved_, kept_;
  Vector before_, change_;  // of a natural step: velocities before, impulses
  Vector left_out_;         // compliances of its rows beside their own
  std::vector<Index> changed_;
  Index factorizations_ = 0;
  double damping_ = 1.0;  // of the last natural step
  bool soft_known_ = false;
  Vector centre_;  // of the proximal terms: the multipliers but for recentre_normals()
  double fastest_ = 0.0;
  double natural_ = 0.0;
};

}  // namespace tribo
