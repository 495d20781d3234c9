// Newton matrix of constraints on a few degrees of freedom, in coordinates in which the mass is the identity:
//   H = I + X_a D X_a^T,   X_a [dofs x active rows] the columns of the constraints with D != 0,
// factorised as it is, or with fewer rows than degrees of freedom through
//   H^-1 r = r - X_a dl,   (E + w^-1 (I - E) X_a^T X_a) dl = w^-1 (I - E) X_a^T r,   E_i = (I + w_i D_i)^-1,
// which is bounded whatever the penalty. Nothing symbolic, products of dense matrices, one LU.
#pragma once

#include <vector>

#include "tribo/base/types.h"

namespace tribo {

class DenseNewton {
 public:
  // Starts a new matrix; allocates only for more entries than ever before.
  void begin(Index dofs, Index most_constraints, Index most_rows);
  // A constraint of 1 or 3 rows: its columns of X (copied), w and D, which must stay until factorize(). Open ones
  // (D = 0) cost nothing.
  void add(const double* columns, Index rows, double scale, const Mat3& derivative);
  // False for a singular or not finite matrix.
  bool factorize();
  // r <- H^-1 r, [dofs].
  void solve_in_place(double* r);

 private:
  struct Active {
    Index rows;
    double scale;
    const Mat3* derivative;
  };

  void weigh_columns();
  void weigh_rows();
  void form_dofs();
  void form_rows();

  Index dofs_ = 0, active_rows_ = 0;
  Index stride_ = 0;  // of weighted_ and matrix_
  bool by_dofs_ = true;
  std::vector<Active> active_;
  Numbers columns_, weighted_;     // X_a; X_a D, or w^-1 (I - E) X_a^T
  Numbers matrix_, rhs_;           // factors; right-hand side in rows
  std::vector<Mat3> kept_, left_;  // E and w^-1 (I - E) of the active constraints
  std::vector<int> exchanges_;
};

// E and w^-1 (I - E) of one constraint, in the first entry where it has one row.
void split_derivative(Index rows, double scale, const Mat3& derivative, Mat3& kept, Mat3& left);

}  // namespace tribo
