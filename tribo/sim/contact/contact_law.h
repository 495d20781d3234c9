// From materials and gaps to the numbers of a contact constraint: friction, bias e and compliance R of
// (u + R lambda, lambda) in S, with u = J v + e and h the time step.
//
// Rigid (both stiffnesses infinite), R = 0:
//   open, gap > slop      e_n = gap / h             the gap closes within the step at most
//   touching, penetrated  e_n = 0                   it gets no deeper
// so that v = 0 is always admissible and a step always has a solution. Penetrations, violated limits and errors of
// couplings are removed from the positions, not by velocities: sim/assembly/position_correction.h.
// Compliant, stiffness k [N/m] and dissipation time tau [s], Castro et al. (2022) sec. V:
//   e_n = gap / (h + tau),   R_n = max(beta^2 / (4 pi^2) w, 1 / (h k (h + tau)))  (29),   R_t = sigma w  (30)
// Bodies at rest drift by what the tolerance lets pass, some 1e-11 m in a step. Within the slop that changes nothing about
// the next step's problem, and its impulses serve again; what it adds up to is taken back from the positions.
// w is |W_ii|_rms. The first argument of the maximum is the near-rigid rule: no contact is stiffer than
// the time step can resolve. sigma is 0 with the exact law, where stiction needs no regularisation.
#pragma once

#include <array>

#include "tribo/problem/elliptic_rows.h"
#include "tribo/sim/world.h"

namespace tribo {

struct ContactLawSettings {
  double stabilization = 1.0;           // share of a position error removed per step, 0 .. 1; 0: none at all
  double position_slop = 1e-8;          // m, rad at joints; smaller gaps and errors count as none, see below
  double max_correction_speed = 1.0;    // m/s, rad/s: what is removed in a step is at most h times this
  double coupling_compliance = 1e-8;    // of connects and welds, relative to their mean inverse mass
  double restitution_threshold = 0.01;  // m/s; slower impacts do not bounce
  double near_rigid = 1.0;              // beta of (29), 0 .. 1; 0: the stiffness as it is
  double slip_regularization = 1e-3;    // sigma of (30), convex law with compliant contacts
};

// Two materials that meet.
struct Surface {
  double friction = 0.0;
  double stiffness = 0.0;  // N/m; infinite: rigid
  double dissipation_time = 0.0;
  double restitution = 0.0;
  // With all coefficients: sliding along t1 and t2 [1], torsion, rolling about t1 and t2 [m]; zero beyond its rows.
  std::array<double, 5> coefficients{};
  EllipticRows rows =
      {};  // of a contact with these coefficients; scaled where they are not one pair of sliding
  // The same as a contact of 1, 3, 4 or 6 rows.
  Surface with_rows(Index count) const;

  bool is_rigid() const { return stiffness > 1e300; }
};

Surface combine(const Material& a, const Material& b, FrictionRule rule);
// One material given for the pair itself; along the second tangent these, or where negative the same as along the first.
Surface surface_of(const Material& material, double second_friction = -1.0, double second_rolling = -1.0);

// e_n of a rigid contact or limit.
inline double rigid_bias(double gap, double h, const ContactLawSettings& settings) {
  return gap > settings.position_slop ? gap / h : 0.0;
}

struct ContactTerms {
  double normal_bias = 0.0;        // m/s
  double normal_compliance = 0.0;  // m/s per N s
  double slip_compliance = 0.0;
};
// Of a compliant contact with stiffness k, N/m, and dissipation time tau, s.
ContactTerms compliant_terms(double stiffness, double dissipation_time, double gap, double w, double h,
                             bool regularize_slip, const ContactLawSettings& settings);
// `w`: |W_ii|_rms; only used by compliant surfaces. `regularize_slip`: the convex law.
ContactTerms contact_terms(const Surface& surface, double gap, double w, double h, bool regularize_slip,
                           const ContactLawSettings& settings);

}  // namespace tribo
