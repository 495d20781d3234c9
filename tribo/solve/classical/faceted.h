// The linear complementarity problem of contacts whose friction cone has facets (Stewart and Trinkle; Anitescu and Potra).
// With lambda = lambda_0 + B x, x >= 0, per contact, in scaled variables (solve/classical/subproblem.h):
//
//   x_n       normal impulse                              complement w_n
//   x_k       along the unit tangents d_1 .. d_F          complement d_k . w_t + s
//   s         slip speed                                  complement mu x_n - sum x_k
//
// so the tangential impulse lies in the polygon with the corners mu x_n d_k: F = 4, 8 or 16 for three rows; contacts of
// more rows have the corners +-e_k of each tangential row. Scalar rows: lambda = lower + x (or upper - x, or x+ - x-), of
// boxes with the multiplier s of the other bound.
#pragma once

#include <vector>

#include "tribo/solve/classical/subproblem.h"

namespace tribo {

class FacetedProblem {
 public:
  // Variables that the problem would have.
  static Index count(const ContactProblem& problem, Index facets);
  void assemble(Subproblem& problem, Index facets);

  const Matrix& matrix() const { return matrix_; }  // M
  const Vector& offset() const { return offset_; }  // q
  Vector impulse(const Vector& z) const;            // in the units of the problem
  // Friction bounds held at mu times these normals: the rows s of M without mu, and their part of q.
  Matrix lagged_matrix(double diagonal) const;
  void set_bounds(const Vector& z, Vector& q) const;
  // max_j |min(z_j, (M z + q)_j)| over the largest impulse, all in scaled variables: the error of the faceted problem.
  double error(const Vector& z) const;
  // z of the given complementary basis (z_j > 0), solved for anew; false where it is singular.
  bool refine(const Matrix& m, const Vector& q, Vector& z) const;

 private:
  struct Bound {  // variable s of a contact
    Index variable, normal;
    double friction;
  };

  Matrix basis_;         // B [rows x impulse variables]
  Vector start_;         // lambda_0 [rows]
  Vector inverse_root_;  // [rows] impulses are scaled variables times these
  Matrix matrix_;
  Vector offset_;
  std::vector<Bound> bounds_;
  Index impulses_ = 0, variables_ = 0;
};

}  // namespace tribo
