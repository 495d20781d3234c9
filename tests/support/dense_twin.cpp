#include "tests/support/dense_twin.h"

#include <Eigen/Dense>
#include <algorithm>

namespace tribo::test {

Matrix dense(const BlockDiagonal& mass) {
  Matrix a = Matrix::Zero(mass.size(), mass.size());
  for (Index t = 0; t < mass.block_count(); ++t) {
    const Index n = mass.block_size(t);
    a.block(mass.block_start(t), mass.block_start(t), n, n) = mass.block(t);
  }
  return a;
}

Matrix dense(const BlockJacobian& jacobian, Index dofs) {
  Matrix j = Matrix::Zero(jacobian.row_count(), dofs);
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    for (Index p = jacobian.piece_begin(g); p < jacobian.piece_end(g); ++p) {
      j.block(jacobian.row_start(g), jacobian.piece_dof(p), jacobian.rows(g), jacobian.piece_cols(p)) +=
          jacobian.piece(g, p);
    }
  }
  return j;
}

Matrix dense_weights(const BlockJacobian& jacobian, const GroupBlocks& weights) {
  Matrix s = Matrix::Zero(jacobian.row_count(), jacobian.row_count());
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    const Index r = jacobian.rows(g);
    s.block(jacobian.row_start(g), jacobian.row_start(g), r, r) = weights[g].topLeftCorner(r, r);
  }
  return s;
}

Matrix dense_primal(const Matrix& a, const Matrix& j, const Matrix& s) { return a + j.transpose() * s * j; }

Matrix dense_dual(const Matrix& a, const Matrix& j) { return j * a.llt().solve(j.transpose()); }

DenseTwin::DenseTwin(const ContactProblem& problem)
    : a(dense(problem.mass())),
      j(dense(problem.jacobian(), problem.dof_count())),
      b(problem.momentum()),
      e(problem.bias()),
      r(problem.compliance()) {
  w = problem.has_delassus() ? problem.delassus().to_dense() : dense_dual(a, j);
  q = j * a.llt().solve(b) + e;
}

void add_random_group(BlockSystem& system, Random& random, Index rows, const std::vector<Index>& trees) {
  system.jacobian.add_group(rows);
  for (const Index t : trees) {
    system.jacobian.add_piece(t, system.mass.block_start(t), random.matrix(rows, system.mass.block_size(t)));
  }
}

BlockSystem random_system(unsigned seed, const std::vector<Index>& sizes, Index groups) {
  Random random(seed);
  BlockSystem system;
  for (const Index size : sizes) system.mass.add_block(random_spd(random, size));
  const Index n = static_cast<Index>(sizes.size());
  for (Index g = 0; g < groups; ++g) {
    std::vector<Index> trees;
    for (Index k = 0; k < 1 + g % 3; ++k) {
      const Index tree = static_cast<Index>(random.uniform(0.0, n - 1e-9));
      if (std::find(trees.begin(), trees.end(), tree) == trees.end()) trees.push_back(tree);
    }
    add_random_group(system, random, g % 2 == 0 ? 3 : 1, trees);
  }
  return system;
}

}  // namespace tribo::test
