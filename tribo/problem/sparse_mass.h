// Checks the mass matrix of a sparse tree as it comes from outside, and factorises it.
#pragma once

#include <Eigen/SparseCore>

#include "tribo/linalg/sparse_factor.h"

namespace tribo {

// `mass`: the whole matrix or one of its triangles. InvalidInput names the tree where it is not square, finite and symmetric.
// False: it is not positive definite.
bool factorize_sparse(const Eigen::SparseMatrix<double>& mass, Index tree, SparseFactor& factor);

}  // namespace tribo
