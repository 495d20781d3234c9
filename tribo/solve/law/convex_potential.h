// The constraints of the convex law as one smooth convex function of the constraint velocity u.
//
// With the totals t = R + p and the offset o = p lambda_k - shift (solve/law/proximal_law.h; the shift carries a
// lagged De Saxce or skew term), constraint i contributes
//   phi_i(u) = max over lambda in its set of  lambda . (o - u) - 1/2 lambda . t lambda,
// whose maximiser is the impulse: lambda(u) = - grad phi, D(u) = hess phi (one element where it has a kink).
// In the coordinates x = (o - u) / sqrt(t) the cone keeps its shape with the coefficient mu sqrt(t_t / t_n)
// and the maximiser is the Euclidean projection P(x), so that for contacts
//   phi = 1/2 |P(x)|^2,   lambda = P(x) / sqrt(t),   D = P'(x) / (sqrt(t) sqrt(t)):
// Castro et al. (27), (35) and (37), Lee et al. (21)-(23). Roots, sines and cosines are taken once per
// penalty; an evaluation costs O(rows) with one square root per sliding contact.
#pragma once

#include <vector>

#include "tribo/math/rtsafe.h"
#include "tribo/solve/law/proximal_law.h"

namespace tribo {

class ConvexPotential {
 public:
  // Takes R + p of `law`; the offset becomes zero. Allocates only when the problem is larger than any before.
  void prepare(const ContactProblem& problem, const ProximalLaw& law);
  // Instead of the law what every solution asks of its velocity (problem/infeasibility.h), each constraint with a
  // compliance t_i alone: phi is the squared violation over 2 t_i. The offset becomes zero.
  void prepare_demands(const ContactProblem& problem, Law law, const std::vector<double>& compliance);
  // o = p lambda_k - shift, both [rows].
  void set_offset(const ProximalLaw& law, const Vector& multiplier, const Vector& shift);

  double value(const Vector& u) const;
  void impulse(const Vector& u, Vector& impulse) const;
  // lambda and D together; a scalar constraint uses D_i(0, 0). The problem prepared for must still be there.
  void evaluate(const Vector& u, Vector& impulse, GroupBlocks& derivative) const;
  // First and second derivative of phi(u + alpha du) with respect to alpha.
  ValueAndDerivative along(const Vector& u, const Vector& du, double alpha) const;

 private:
  struct Constraint {
    Index row;
    Index rows;                        // 1: an interval, otherwise a cone
    double tangent_root, normal_root;  // 1 / sqrt(t); intervals use the normal one
    double sine, cosine;               // aperture of the warped cone
    double lower, upper;               // interval, in the coordinates x
  };
  template <int N>
  struct Cone {  // projection of x on the warped cone
    VecN<N> image;
    double tangent, along;  // |x_t| and the distance along the generator; only while sliding
    bool stick, slide;
  };

  // x of a cone; of an interval.
  template <int N>
  VecN<N> coordinates(const Constraint& c, const Vector& u) const;
  double coordinate(const Constraint& c, const Vector& u) const {
    return (offset_[c.row] - u[c.row]) * c.normal_root;
  }
  template <int N>
  static Cone<N> project(const Constraint& c, const VecN<N>& x);
  template <int N>
  static void set_impulse(const Constraint& c, const VecN<N>& image, Vector& impulse);
  template <int N, class Block>
  static void set_derivative(const Constraint& c, const VecN<N>& x, const Cone<N>& cone, Block&& d);
  void set_cone(const ContactProblem& problem, Index i, double tangent_root, double normal_root,
                double friction);

  const BlockJacobian* jacobian_ = nullptr;  // of the problem prepared for
  std::vector<Constraint> constraints_;
  Vector offset_;
};

}  // namespace tribo
