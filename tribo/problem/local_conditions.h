// The conditions of one constraint at given impulses and velocities, as the certificate sees them: lambda, w = u + R lambda,
// w + Gamma(w), and the natural map lambda - P(lambda - rho (w + Gamma(w))) evaluated without losing w beside a huge lambda.
#pragma once

#include <algorithm>
#include <cmath>

#include "tribo/math/norms.h"
#include "tribo/problem/constraints.h"
#include "tribo/problem/contact_problem.h"

namespace tribo::detail {

// What the conditions of a contact are made of ...
template <int N>
struct LocalCone {
  VecN<N> lambda;
  VecN<N> w;      // u + R lambda
  VecN<N> hat;    // w + Gamma(w), or w
  Aperture cone;  // of K_mu; swapped, of its dual
  double friction;

  VecN<N> project_primal(const VecN<N>& x) const { return project_circular_cone(x, cone); }
  VecN<N> project_dual(const VecN<N>& x) const {
    return project_circular_cone(x, Aperture{cone.cosine, cone.sine});
  }
  double normal() const { return w[N - 1]; }
};

// ... and those of a scalar row.
struct LocalRow {
  double lambda, w;
  Interval set;
};

// Calls action with the one or the other; returns what it returns.
template <class Action>
decltype(auto) with_local(const ContactProblem& problem, Index i, const Vector& impulse,
                          const Vector& velocity, Law law, Action&& action) {
  return visit_constraint(
      problem, i,
      [&](auto cone) -> decltype(auto) {
        constexpr int n = cone.kRows;
        const VecN<n> lambda = cone.get(impulse);
        const VecN<n> w =
            velocity.segment<n>(cone.row) + problem.compliance().segment<n>(cone.row).cwiseProduct(lambda);
        return action(LocalCone<n>{lambda, w, corrected(w, cone.friction, law),
                                   coulomb_aperture(cone.friction), cone.friction});
      },
      [&](IntervalConstraint row) -> decltype(auto) {
        const double lambda = impulse[row.row];
        return action(LocalRow{lambda, velocity[row.row] + problem.compliance()[row.row] * lambda, row.set});
      });
}

// lambda_i - P_i(lambda_i - step hat w_i). The plain difference loses w beside a huge lambda, and impulses that grow
// without bound would look like a solution; where the projection is idle the map is step hat w itself, and on the cone,
// by Moreau, step hat w - P_K*(step hat w - lambda).
template <int N>
VecN<N> map_of(const LocalCone<N>& local, double step) {
  const VecN<N>& lambda = local.lambda;
  const VecN<N> move = step * local.hat;
  const double l = lambda.squaredNorm(), m = move.squaredNorm();
  const bool loses = is_safe_square(l) || is_safe_square(m) ? l > m
                                                            : lambda.template lpNorm<Eigen::Infinity>() >
                                                                  move.template lpNorm<Eigen::Infinity>();
  if (loses) return move - local.project_dual(move - lambda);
  return lambda - local.project_primal(lambda - move);
}

inline double map_of(const LocalRow& local, double step) {
  return natural_map(local.set, local.lambda, local.w, step);
}

// Sizes of a map: largest entry (a NaN wins), sum of squares, norm.
inline double largest(double map) { return std::abs(map); }
inline double squared(double map) { return map * map; }
inline double size_of(double map) { return safe_norm(VecN<1>(map)); }
template <int N>
double largest(const VecN<N>& map) {
  return map.cwiseAbs().template maxCoeff<Eigen::PropagateNaN>();
}
template <int N>
double squared(const VecN<N>& map) {
  return map.squaredNorm();
}
template <int N>
double size_of(const VecN<N>& map) {
  return safe_norm(map);
}

// sqrt(w_i) |map|_inf at step 1 / w_i: what the scaled error measures.
template <class Local>
double scaled_error(const ContactProblem& problem, Index i, const Local& local) {
  return problem.root_scale(i) * largest(map_of(local, problem.inverse_scale(i)));
}

// |x_i|_inf of the rows of constraint i.
inline double largest_entry(const ContactProblem& problem, Index i, const Vector& x) {
  const double* rows = x.data() + problem.row(i);
  return with_rows(problem.rows(i), [&](auto n) {
    double largest = std::abs(rows[0]);
    for (int r = 1; r < n(); ++r) largest = std::max(largest, std::abs(rows[r]));
    return largest;
  });
}

}  // namespace tribo::detail
