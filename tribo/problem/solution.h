// What a solver returns: impulses, constraint velocities, generalised velocities.
#pragma once

#include "tribo/base/types.h"

namespace tribo {

struct Solution {
  Vector impulse;   // [rows]  lambda, N s (N m s for angular rows); contacts as (t1, t2, n)
  Vector velocity;  // [rows]  u = J v + e, m/s (rad/s)
  // [full dofs]  v = A^-1 (b + J^T lambda), of sparse trees all degrees of freedom; empty for problems in Delassus form
  Vector generalized_velocity;
};

}  // namespace tribo
