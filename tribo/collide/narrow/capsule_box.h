// A capsule against a box.
#pragma once

#include "tribo/collide/narrow/pair_query.h"

namespace tribo::detail {

void collide_capsule_box(const PairQuery& query);

}  // namespace tribo::detail
