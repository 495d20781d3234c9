// What the engines of this room solve: impulses lambda in X with -F(lambda) in the normal cone of X at lambda, where
//
//   w = W lambda + q + (R + a D) lambda + o,   F = the field of the set (solve/classical/sets.h)
//
// With a = 0, o = 0 and the set `coulomb` or `cone` it is the problem itself under the exact or the convex law. The outer
// methods pose others: offsets o carry a lagged De Saxce term, the shift a D a proximal term.
//
// Scaled variables. D = diag(w_i) holds the scale of every constraint (1 without scaling). Steps are rho / w_i, lengths
//   |lambda|^2 = sum w_i |lambda_i|^2,   |F|^2 = sum |F_i|^2 / w_i:
// the methods of the literature in the variables sqrt(w_i) lambda_i and F_i / sqrt(w_i), which leave all sets and the De
// Saxce term as they are. One rho then serves problems of any units.
#pragma once

#include "tribo/linalg/delassus.h"
#include "tribo/solve/classical/sets.h"
#include "tribo/solve/sweeps/sweep_loop.h"

namespace tribo {

class Subproblem {
 public:
  // Once per solve; `problem` must stay. Allocates only for a larger problem than ever before.
  void setup(const ContactProblem& problem, bool scaled);
  // A new set, without offset and shift. Radii of cylinders and disks follow through radius().
  void pose(SetKind set);
  void set_shift(double shift) { shift_ = shift; }

  const ContactProblem& problem() const { return *problem_; }
  SetKind set() const { return set_; }
  double shift() const { return shift_; }  // a
  Vector& offset() { return offset_; }     // o [rows]
  const Vector& offset() const { return offset_; }
  Vector& radius() { return radius_; }  // [constraints]
  double radius(Index i) const { return radius_[i]; }
  double weight(Index i) const { return weight_[i]; }  // D of constraint i
  // 1 / D; 0 for constraints that nothing moves, whose impulses stay as they are.
  double inverse_weight(Index i) const { return inverse_weight_[i]; }

  // u = W lambda + q on the raw data.
  void velocity(const Vector& impulse, Vector& u) { sweeps_.refresh(impulse, u); }
  // y = W x.
  void multiply(const Vector& x, Vector& y);
  // w of constraint i, [N], from its u and impulse.
  template <int N>
  VecN<N> softened(Index i, Index row, const VecN<N>& u, const VecN<N>& impulse) const {
    VecN<N> w = u + shift_ * weight_[i] * impulse + offset_.segment<N>(row);
    if (!problem_->is_rigid()) w += problem_->compliance().segment<N>(row).cwiseProduct(impulse);
    return w;
  }
  void softened(const Vector& impulse, const Vector& u, Vector& w) const;
  // F at these impulses, whose velocity is u.
  void find_field(const Vector& impulse, const Vector& u, Vector& f) const;
  // target = P_X(z - step D^-1 f); may be z.
  void project_step(const Vector& z, double step, const Vector& f, Vector& target) const;

  double length2(const Vector& impulse) const { return weighted2(impulse, weight_); }
  double dual_length2(const Vector& f) const { return weighted2(f, inverse_weight_); }

  // How far impulses with field f, velocity u are from solving this: the chosen measure of problem/certificate.h with
  // the set and the field of the subproblem.
  double error(const Vector& impulse, const Vector& u, Measure measure);

  SweepOperator& sweeps() { return sweeps_; }
  // W in blocks, assembled at the first call after setup().
  const BlockMatrix& matrix();

 private:
  double weighted2(const Vector& x, const Vector& weight) const;

  const ContactProblem* problem_ = nullptr;
  SetKind set_ = SetKind::coulomb;
  double shift_ = 0.0;
  Vector offset_, radius_, weight_, inverse_weight_;
  SweepOperator sweeps_;
  DelassusAssembler assembler_;
  const BlockMatrix* matrix_ = nullptr;
  Vector field_, motion_;
};

}  // namespace tribo
