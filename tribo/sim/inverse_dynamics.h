// Inverse dynamics with contact, Carpentier et al. (2024) sec. IV: the impulses and generalised forces that give a
// system a wanted velocity.
//
//   sigma = R lambda + J v_ref + e,   K_mu contains lambda, orthogonal to sigma + Gamma(sigma) in K*_mu        (47)
//   h tau = A v_ref - b - J^T lambda
//
// by the proximal iteration of Alg. 2, contact by contact with D = R + rho w_i (w_i the scale of the contact),
//   s <- Gamma(R lambda + J v_ref + e),   lambda <- P_K^D(lambda - D^-1 (sigma + s))
// No Delassus matrix is involved: the cost of an iteration is a few projections per contact.
//
// Rigid contacts leave the impulse open where the wanted motion fits them (any pressure goes with a slide along a
// wall): then the answer is the admissible impulse next to `start`. A motion that no impulse allows (into a wall; with
// the convex law also sliding along one) has no answer: the impulses grow, and `converged` stays false.
//
// Example: what must the motors do to slide the hand along the wall, pressing with 20 N?
//   ContactProblem& problem = simulator.next_problem();
//   InverseDynamics inverse = inverse_dynamics(problem, v_ref, {.start = &impulse});
//   simulator.force() = inverse.generalized_impulse / simulator.time_step();
#pragma once

#include "tribo/problem/contact_problem.h"

namespace tribo {

struct InverseDynamicsSettings {
  Law law = Law::exact;
  double tolerance = 1e-9;        // of the scaled certificate at J v_ref + e
  Index max_iterations = 1000;    // a few where an answer exists
  double rho = 1.0;               // proximal weight relative to each contact's scale, > 0
  const Vector* start = nullptr;  // [rows] impulse to begin with, N s; none: zero
};

struct InverseDynamics {
  Vector impulse;              // [rows], N s
  Vector generalized_impulse;  // [dofs], A v_ref - b - J^T lambda = h tau
  double error = 0.0;          // scaled certificate of (impulse, J v_ref + e)
  Index iterations = 0;
  bool converged = false;
};

// InvalidInput when sizes do not fit or a number is not finite.
InverseDynamics inverse_dynamics(const ContactProblem& problem, const Vector& reference_velocity,
                                 const InverseDynamicsSettings& settings = {});

}  // namespace tribo
