// Masses and inertias of the bodies of an MJCF model.
#pragma once

#include "tribo/io/mjcf/tree.h"

namespace tribo::detail {

// Mass and inertia of the bodies by the rules of <compiler>, and alignment of free bodies with their principal
// axes.
void finish_inertias(MjcfTree& tree);

}  // namespace tribo::detail
