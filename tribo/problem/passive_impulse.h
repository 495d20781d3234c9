// Impulses that a budget ended before they were solved for, made safe to use.
//
// Contacts, limits and friction only take energy: every solution has
//
//   G(lambda) = lambda . (q + W lambda / 2) <= 0,
//
// the work of the impulses on the free motion, because lambda . u <= 0 there and W >= 0. An iterate may have more, and a
// simulator that takes it sees bodies jump. Smaller impulses of the same directions stay in their cones, and
// t lambda with t = -lambda . q / lambda . W lambda (0 if that is negative) takes the most energy of them.
#pragma once

#include "tribo/problem/contact_problem.h"
#include "tribo/problem/solution.h"

namespace tribo {

// G of the impulses, J.
double impulse_work(const ContactProblem& problem, const Solution& solution);

// Scales impulses, and velocities with them, where G > 0. False: nothing had to be done, or a row demands an impulse other
// than zero (a box whose interval does not hold it). The certificate is another one afterwards.
bool make_passive(const ContactProblem& problem, Solution& solution);

}  // namespace tribo
