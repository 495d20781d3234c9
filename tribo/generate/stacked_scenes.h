// Scenes of boxes whose solution is easy to picture: tower, wall, pyramid, and a chain lying on the ground.
//
// Seed 0 is the perfect scene; another seed displaces the boxes sideways (tower, wall, pyramid) or changes
// the side forces (chain). Cost: proportional to the contacts.
#pragma once

#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem.h"

namespace tribo::detail {

// `settings` have their defaults filled in and are valid.
ContactProblem make_tower(const GeneratorSettings& settings);
ContactProblem make_wall(const GeneratorSettings& settings);
ContactProblem make_pyramid(const GeneratorSettings& settings);
ContactProblem make_chain(const GeneratorSettings& settings);

}  // namespace tribo::detail
