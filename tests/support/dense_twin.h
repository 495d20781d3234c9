// Dense matrices of the block-sparse types, for comparison; and random block structures to compare on.
#pragma once

#include <span>
#include <vector>

#include "tests/support/random.h"
#include "tribo/linalg/block_diagonal.h"
#include "tribo/linalg/block_jacobian.h"
#include "tribo/linalg/group_blocks.h"
#include "tribo/problem/contact_problem.h"

namespace tribo::test {

Matrix dense(const BlockDiagonal& mass);

Matrix dense(const BlockJacobian& jacobian, Index dofs);

// S block-diagonal from one Mat3 per constraint; scalar constraints use its first entry.
Matrix dense_weights(const BlockJacobian& jacobian, const GroupBlocks& weights);

// H = A + J^T S J.
Matrix dense_primal(const Matrix& a, const Matrix& j, const Matrix& s);

// W = J A^-1 J^T.
Matrix dense_dual(const Matrix& a, const Matrix& j);

struct DenseTwin {
  Matrix a, j, w;
  Vector b, e, q, r;

  explicit DenseTwin(const ContactProblem& problem);
};

struct BlockSystem {
  BlockDiagonal mass;
  BlockJacobian jacobian;
};

void add_random_group(BlockSystem& system, Random& random, Index rows, const std::vector<Index>& trees);

// Contacts and scalar rows, in turn, on one, two and three trees of the given sizes.
BlockSystem random_system(unsigned seed, const std::vector<Index>& sizes, Index groups);

}  // namespace tribo::test
