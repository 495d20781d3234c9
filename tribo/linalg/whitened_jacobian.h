// The whitened Jacobian X = L^-1 J^T, A = L L^T, piece by piece. With it W = J A^-1 J^T = X^T X, and in the coordinates
// y = L^T v the mass matrix is the identity. Every part of the library that needs X, or W from it, fills its pieces here;
// they differ in where the columns go: solve/systems/dense_whitened_jacobian.h (few trees, one dense matrix),
// tree_whitened_jacobians.h (tree by tree), linalg/delassus.h and solve/systems/small_delassus.h (W by blocks),
// solve/sweeps/sweep.h (piece after piece).
//
// Cost of a piece: n^2 r / 2 multiply-adds for n degrees of freedom and r rows; a transposition where A = I.
#pragma once

#include "tribo/linalg/block_diagonal.h"
#include "tribo/linalg/block_jacobian.h"

namespace tribo {

// Piece p of group g, L_t^-1 J_gt^T [n x r], into `columns`: column c begins at columns + c * stride, stride >= n.
inline void whiten_piece(const BlockDiagonalCholesky& mass_factor, const BlockJacobian& jacobian, Index g,
                         Index p, double* columns, Index stride) {
  const Index n = jacobian.piece_cols(p), rows = jacobian.rows(g);
  const double* piece = jacobian.piece_data(p);
  for (Index r = 0; r < rows; ++r) {
    for (Index d = 0; d < n; ++d) columns[r * stride + d] = piece[d * rows + r];
  }
  if (mass_factor.is_identity()) return;
  mass_factor.solve_lower_block_in_place(
      jacobian.piece_tree(p),
      Eigen::Map<Matrix, 0, Eigen::OuterStride<>>(columns, n, rows, Eigen::OuterStride<>(stride)));
}

}  // namespace tribo
