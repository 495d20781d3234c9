// Impulses that grow without bound: the suspicion that a problem has no solution. A proof is in problem/infeasibility.h.
#pragma once

#include "tribo/problem/contact_problem.h"

namespace tribo {

// Impulses of contradictory constraints grow without bound, and an error relative to them shrinks although
// nothing is met. True when the impulses are far beyond what stops each constraint alone and their work
// against the constraints, sum |lambda_i . hat w_i|, which vanishes at a solution, is of the size of the
// energies lambda . W lambda, lambda . q; or when a single constraint with such an impulse is still violated
// by a tenth of the fastest free velocity (by less, the larger its impulse and the work wasted on it).
bool looks_infeasible(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law);

}  // namespace tribo
