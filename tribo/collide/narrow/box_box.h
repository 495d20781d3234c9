// Two boxes.
#pragma once

#include "tribo/collide/narrow/pair_query.h"

namespace tribo::detail {

void collide_box_box(const PairQuery& query);

}  // namespace tribo::detail
