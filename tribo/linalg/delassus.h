// The Delassus operator W = J A^-1 J^T in block-sparse form.
#pragma once

#include "tribo/linalg/block_diagonal.h"
#include "tribo/linalg/block_jacobian.h"
#include "tribo/linalg/block_matrix.h"

namespace tribo {

// W with a block for every pair of constraints that share a tree. Memory: 9 doubles per such pair of
// contacts, so it pays where constraints are few per tree or trees are large; otherwise apply J, A^-1, J^T
// one after the other.
BlockMatrix build_delassus(const BlockDiagonalCholesky& mass_factor, const BlockJacobian& jacobian);

// The number of doubles build_delassus would store.
std::size_t delassus_entries(const BlockDiagonalCholesky& mass_factor, const BlockJacobian& jacobian);

}  // namespace tribo
