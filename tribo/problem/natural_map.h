// What the scaled error of problem/certificate.h is made of, constraint by constraint: for solvers that look where the
// error is. All sizes in sqrt(J), which no change of a row's unit changes; docs/certificate.md derives them.
#pragma once

#include "tribo/problem/contact_problem.h"

namespace tribo {

// sqrt(w_i) |lambda_i - P_i(lambda_i - hat w_i / w_i)|_inf of constraint i; 0 for idle constraints.
double natural_map(const ContactProblem& problem, Index i, const Vector& impulse, const Vector& velocity,
                   Law law);

// Lambda = max_j sqrt(w_j) |lambda_j|_inf and the sum of them all.
struct ImpulseSizes {
  double largest = 0.0;
  double sum = 0.0;
};
ImpulseSizes impulse_sizes(const ContactProblem& problem, const Vector& impulse);

// The part of the reference that all constraints share, max(min(Lambda, 1e2 N), sqrt(eps E)).
double bounded_reference(double largest, double demand, double root_energy);
double common_reference(const ContactProblem& problem, double largest);
inline double common_reference(const ContactProblem& problem, const Vector& impulse) {
  return common_reference(problem, impulse_sizes(problem, impulse).largest);
}

// What the natural map of constraint i is divided by: max(common, 1e-3 |q_i|_inf / sqrt(w_i)).
constexpr double kLeastShare = 1e-3;
inline double reference_of(const ContactProblem& problem, Index i, double common) {
  const double own = kLeastShare * problem.demand(i);
  return common > own ? common : own;
}

// What a contact does, by the certificate's own thresholds. `slip`: its tangential velocity, m/s; `common`: see above.
//   open    its normal impulse is below kLoadedShare of the common reference
//   sticks  its friction is below kStickShare of the limit, or at the limit without slip
//   slides  its friction is at the limit (zero for contacts without friction) and it slips
enum class ContactState : std::uint8_t { open, sticks, slides };
constexpr double kStickShare = 0.999;
constexpr double kLoadedShare = 1e-6;
constexpr double kSlipShare = 1e-6;  // of the largest demand: slower is no slip
ContactState contact_state(const ContactProblem& problem, Index i, const Vector& impulse, double slip,
                           double common);

// Gives idle constraints, whose impulses do nothing, that of their set nearest to zero.
void release_idle(const ContactProblem& problem, Vector& impulse);
// How far the velocity of an idle constraint, q_i whatever is done, is from what its set allows, m/s.
double idle_violation(const ContactProblem& problem, Index i, Law law);
// The same relative to the free motion: |violation| / max(|v*|_inf, |violation|), the error of an idle constraint.
double idle_error(const ContactProblem& problem, Index i, Law law);

}  // namespace tribo
