// Starts for small problems that no method solves from zero or from where the others ended.
//
// Under the exact law the equation of a solution is not monotone: Newton's method and proximal steps may circle round
// a contact that would have to open or to let go, and from elsewhere they do not. Random starts with a fixed seed, by
// turns anywhere (impulses of 1e-2 to 1e2 times what stops the fastest constraint, a third of the contacts open, half of
// the others at the limit of friction) and near the best iterate (a third of the constraints changed).
#pragma once

#include <cstdint>

#include "tribo/problem/contact_problem.h"

namespace tribo {

// Start number `k` (from 0) into `start` [rows]; `best` [rows] are the best impulses known. The same for the same
// arguments, on any machine.
void restart(const ContactProblem& problem, const Vector& best, Index k, Vector& start);

}  // namespace tribo
