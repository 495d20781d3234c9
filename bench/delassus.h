// The Delassus matrix W = J A^-1 J^T + R of a contact problem in 3x3 blocks, for peers that want it
// explicitly.
#pragma once

#include "tribo/linalg/block_matrix.h"
#include "tribo/problem/contact_problem.h"

namespace tribo::bench {

// Only blocks of constraints that share a tree; the file's own W where there is one (its compliance added).
// Cost: for every tree, (constraints on it)^2 block products.
BlockMatrix delassus_matrix(const ContactProblem& problem);

}  // namespace tribo::bench
