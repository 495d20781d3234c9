// Few bodies, many contacts: a nut on a bolt and a pile of dishes, in the manner of the single-step tests of
// Lee et al. 2024, sec. VII. The geometry is analytic (a helix, cones) with random scatter, a new one for
// every seed.
#pragma once

#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem.h"

namespace tribo::detail {

// `settings` have their defaults filled in and are valid; their `bodies` and `mass_ratio` do not apply.
ContactProblem make_bolt(const GeneratorSettings& settings);
ContactProblem make_dishes(const GeneratorSettings& settings);

}  // namespace tribo::detail
