// Newton matrix of constraints on a few degrees of freedom, in coordinates in which the mass is the identity:
//   H = I + X_a D X_a^T,   X_a [dofs x active rows] the columns of the constraints with D != 0,
// factorised as it is, or with fewer rows than degrees of freedom through
//   H^-1 r = r - X_a dl,   (E + w^-1 (I - E) X_a^T X_a) dl = w^-1 (I - E) X_a^T r,   E_i = (I + w_i D_i)^-1,
// which is bounded whatever the penalty. Nothing symbolic, products of dense matrices, one LU.
#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <vector>

#include "tribo/linalg/group_blocks.h"

namespace tribo {

class DenseNewton {
 public:
  // Starts a new matrix; allocates only for more entries than ever before.
  void begin(Index dofs, Index most_constraints, Index most_rows);
  // A constraint: its columns of X (copied), w and D [rows x rows], which must stay until factorize(). Open ones
  // (D = 0) cost nothing.
  void add(const double* columns, double scale, const Eigen::Map<const Matrix>& derivative);
  // False for a singular or not finite matrix.
  bool factorize();
  // r <- H^-1 r, [dofs].
  void solve_in_place(double* r);

 private:
  struct Active {
    Index rows;
    double scale;
    const double* derivative;
  };

  // The active constraints as groups of rows.
  struct ActiveGroups {
    const std::vector<Active>& active;
    Index group_count() const { return static_cast<Index>(active.size()); }
    Index rows(Index g) const { return active[g].rows; }
    Index most_rows() const {
      Index most = 0;
      for (const Active& a : active) most = std::max(most, a.rows);
      return most;
    }
  };

  void weigh_columns();
  void weigh_rows();
  void form_dofs();
  void form_rows();

  Index dofs_ = 0, active_rows_ = 0;
  Index stride_ = 0;  // of weighted_ and matrix_
  bool by_dofs_ = true;
  std::vector<Active> active_;
  Numbers columns_, weighted_;  // X_a; X_a D, or w^-1 (I - E) X_a^T
  Numbers matrix_, rhs_;        // factors; right-hand side in rows
  GroupBlocks kept_, left_;     // E and w^-1 (I - E) of the active constraints
  std::vector<int> exchanges_;
};

// E and w^-1 (I - E) of one constraint of N rows.
template <int N, class Kept, class Left>
void split_derivative(double scale, const MatN<N>& derivative, Kept&& kept, Left&& left) {
  if constexpr (N == 1) {
    kept(0, 0) = 1.0 / (1.0 + scale * derivative(0, 0));
    left(0, 0) = (1.0 - kept(0, 0)) / scale;
  } else {
    kept = (MatN<N>::Identity() + scale * derivative).inverse();
    left = (MatN<N>::Identity() - kept) / scale;
  }
}

}  // namespace tribo
