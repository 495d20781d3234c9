// A muscle as an actuator: force that depends on length and velocity, and activation that rises faster than it falls.
// Hill's model with the piecewise quadratic curves of MuJoCo (documentation, "Muscle actuators").
//
// With the length of the actuator l in [length_lower, length_upper], scaled so that these ends are range_lower and
// range_upper resting lengths,
//   L0 = (length_upper - length_lower) / (range_upper - range_lower)                        resting length, m
//   L = range_lower + (l - length_lower) / L0,   V = l' / (L0 fastest)
//   force = -F (FL(L) FV(V) activation + FP(L))                                             N, a muscle pulls
// FL: 0 at `shortest` and `longest`, 1 at L = 1.  FV: 0 at V = -1, 1 at V = 0, `stretch_force` at V >= stretch_force - 1.
// FP: 0 up to L = 1, `passive_force` / 2 at the middle between 1 and `longest`, linear from there on.
//
// Activation a of the control c (both within 0 .. 1), Millard et al. (2013):
//   a' = (c - a) / T,  T = T_act (0.5 + 1.5 a) where c > a,  T_deact / (0.5 + 1.5 a) where c < a,
// with a smooth change between the two over a width of c - a.
#pragma once

#include "tribo/base/types.h"

namespace tribo {

struct Muscle {
  double range_lower = 0.75, range_upper = 1.05;  // operating range, resting lengths
  double force = 1.0;                             // F, peak active force at rest, N
  double shortest = 0.5, longest = 1.6;           // resting lengths between which it is active
  double fastest = 1.5;                           // shortening without force, resting lengths per second
  double passive_force = 1.3;                     // scale of FP
  double stretch_force = 1.2;                     // FV while it is stretched fast
  double length_lower = 0.0, length_upper = 1.0;  // of the actuator, m

  double active_force(double length, double velocity) const;  // per activation, N, <= 0
  double passive(double length) const;                        // N, <= 0
};

// a' [1/s]. `times`: activation, deactivation [s], width of the change between them.
double muscle_activation_rate(double control, double activation, const Vec3& times);

}  // namespace tribo
