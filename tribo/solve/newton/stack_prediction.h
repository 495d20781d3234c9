// Starting points for stacks, from zero. Where most contacts are at rest with each other only those with the
// ground ask for an impulse at first, and penalties that grow together carry the load upwards contact by contact:
// the number of Newton steps grows with the height. Normal penalties that are stiff from the beginning carry it
// through the whole stack in one linear step. What is left is friction:
//
//   sticking   all that touches sticks: tangents as stiff as normals. Two to five factorisations, or refused at
//              once.
//   sliding    tangents start soft, as viscous friction whose Coulomb limit is already known from the load, and
//              stiffen by a factor of three per outer step, multipliers and state going on from each other. The
//              border between what sticks and what slides is found on all heights at once instead of contact by
//              contact: about 30 factorisations at most, whatever the height.
#pragma once

#include <limits>

#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/newton/al_surrogate.h"

namespace tribo {

// Whether a quarter of the contacts is at rest: normal free velocities of next to nothing.
bool is_stack(const ContactProblem& problem);
// The same with tangents at rest as well.
bool is_still_stack(const ContactProblem& problem);

// The impulses become the surrogate's multipliers where the prediction is taken; otherwise the surrogate is as it
// was before. `penalty` is what suits the surrogates that follow.
bool predict_sticking(AlSurrogate& surrogate, Monitor& monitor, double accuracy, double& penalty);

// Outer steps of its own until the monitor ends them (true), or until the stack is found not to follow, or
// `factorizations` are used up (false; the surrogate is then as it was before). `outer` counts on.
bool follow_sliding(AlSurrogate& surrogate, Monitor& monitor, Index factorizations, Index& outer);

}  // namespace tribo
