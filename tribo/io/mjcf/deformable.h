// <deformable><flex dim="3">, as MuJoCo writes what it made of <flexcomp>: every node is on a body.
//
// A body that is a point on three slides and carries nothing else is the node itself: it leaves the tree, and its mass belongs to the
// flexible body (spread over the volume; a mean is taken for nodes on other bodies). Nodes on other bodies are held by those.
// The rest is as of a flexcomp (flexcomp.h).
#pragma once

#include "tribo/io/mjcf/tree.h"

namespace tribo::detail {

// Of all parts of the model. Bodies are numbered anew.
void read_deformables(MjcfTree& tree, LoadLog& log);

}  // namespace tribo::detail
