// From materials and gaps to the numbers of a contact constraint: friction, bias e and compliance R of
// (u + R lambda, lambda) in S, with u = J v + e and h the time step.
//
// Rigid (both stiffnesses infinite), R = 0:
//   open, gap > 0         e_n = gap / h             the gap closes within the step at most
//   penetrated by d >= 0  e_n = -min((d' + stabilization (d - d')) / h, max_stabilization_velocity),
//                         d' = min(d, drift, h^2 1 m/s^2)
// Compliant, stiffness k [N/m] and dissipation time tau [s], Castro et al. (2022) sec. V:
//   e_n = gap / (h + tau),   R_n = max(beta^2 / (4 pi^2) w, 1 / (h k (h + tau)))  (29),   R_t = sigma w  (30)
// A body at rest drifts by what the tolerance lets pass. Led back in one step, as a gap is closed, it is at rest again
// two steps later; led back slowly, its impulses would change a little in every step of a long time.
// w is |W_ii|_rms. The first argument of the maximum is the near-rigid rule: no contact is stiffer than
// the time step can resolve. sigma is 0 with the exact law, where stiction needs no regularisation.
#pragma once

#include "tribo/sim/world.h"

namespace tribo {

struct ContactLawSettings {
  double stabilization = 0.2;               // share of a penetration removed per step, 0 .. 1; 0: none at all
  double drift = 1e-8;                      // m, rad at joints; so much of a penetration is removed at once
  double max_stabilization_velocity = 1.0;  // m/s
  double restitution_threshold = 0.01;      // m/s; slower impacts do not bounce
  double near_rigid = 1.0;                  // beta of (29), 0 .. 1; 0: the stiffness as it is
  double slip_regularization = 1e-3;        // sigma of (30), convex law with compliant contacts
};

// Two materials that meet.
struct Surface {
  double friction = 0.0;
  double stiffness = 0.0;  // N/m; infinite: rigid
  double dissipation_time = 0.0;
  double restitution = 0.0;
  bool frictionless = false;  // one row

  bool is_rigid() const { return stiffness > 1e300; }
};

Surface combine(const Material& a, const Material& b, FrictionRule rule);
// One material given for the pair itself.
Surface surface_of(const Material& material);

// e_n of a rigid contact or limit.
double rigid_bias(double gap, double h, const ContactLawSettings& settings);

struct ContactTerms {
  double normal_bias = 0.0;        // m/s
  double normal_compliance = 0.0;  // m/s per N s
  double slip_compliance = 0.0;
};
// `w`: |W_ii|_rms; only used by compliant surfaces. `regularize_slip`: the convex law.
ContactTerms contact_terms(const Surface& surface, double gap, double w, double h, bool regularize_slip,
                           const ContactLawSettings& settings);

}  // namespace tribo
