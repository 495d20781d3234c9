// The kinds of constraints as the mathematics sees them, and the one place that tells them apart:
//
//   cone      a contact: N = 3, 4 or 6 rows (t_1 .. t_{N-1}, n), impulses in the circular cone |lambda_t| <= mu lambda_n
//   interval  a scalar row, impulses in [lower, upper]: unilateral, bilateral, box
//
// Example: projects impulses on their sets.
//   for_each_constraint(problem,
//       [&](auto cone) { cone.rows(x) = project_cone(cone.get(x), cone.friction); },
//       [&](auto row) { x[row.row] = row.set.project(x[row.row]); });
// `on_cone` is compiled once for each N: cone.kRows is a constant.
#pragma once

#include "tribo/math/cone_n.h"
#include "tribo/math/interval.h"
#include "tribo/problem/contact_problem.h"

namespace tribo {

template <int N>
struct ConeConstraint {
  static constexpr int kRows = N;
  static constexpr int kNormal = N - 1;  // the row of the normal among them
  Index index;                           // of the constraint
  Index row;                             // its first
  double friction;

  VecN<N> get(const Vector& x) const { return x.segment<N>(row); }
  auto rows(Vector& x) const { return x.segment<N>(row); }
  auto tangent(Vector& x) const { return x.segment<N - 1>(row); }
  double& normal(Vector& x) const { return x[row + kNormal]; }
  double normal(const Vector& x) const { return x[row + kNormal]; }
};

struct IntervalConstraint {
  static constexpr int kRows = 1;
  Index index;
  Index row;
  Interval set;
};

// Calls one of the two for constraint i and returns what it returns.
template <class OnCone, class OnInterval>
[[gnu::always_inline]] inline decltype(auto) visit_constraint(const ContactProblem& problem, Index i,
                                                              OnCone&& on_cone, OnInterval&& on_interval) {
  return with_rows(problem.rows(i), [&](auto rows) -> decltype(auto) {
    if constexpr (rows() == 1) {
      return on_interval(IntervalConstraint{i, problem.row(i), problem.interval(i)});
    } else {
      return on_cone(ConeConstraint<rows()>{i, problem.row(i), problem.friction(i)});
    }
  });
}

template <class OnCone, class OnInterval>
inline void for_each_constraint(const ContactProblem& problem, OnCone&& on_cone, OnInterval&& on_interval) {
  for (Index i = 0; i < problem.constraint_count(); ++i) visit_constraint(problem, i, on_cone, on_interval);
}

template <class OnCone>
inline void for_each_cone(const ContactProblem& problem, OnCone&& on_cone) {
  for_each_constraint(problem, on_cone, [](IntervalConstraint) {});
}

// |lambda_t| and lambda_n of a contact, w + Gamma(w), ...: what the laws say of N rows.
template <int N>
double tangent_norm(const VecN<N>& x) {
  return detail::tangent_norm(x);
}

// w + Gamma(w) under the exact law, w under the convex one.
template <int N>
VecN<N> corrected(const VecN<N>& w, double friction, Law law) {
  return law == Law::exact ? VecN<N>(w + de_saxce(w, friction)) : w;
}

// The operator whose fixed points T(lambda - rho w) = lambda solve the law: strict, or the projection on the cone.
template <int N>
VecN<N> project_law(const VecN<N>& z, double friction, Law law) {
  return law == Law::exact ? project_strict(z, friction) : project_cone(z, friction);
}

template <int N>
MatN<N> project_law_jacobian(const VecN<N>& z, double friction, Law law) {
  return law == Law::exact ? project_strict_jacobian(z, friction) : project_cone_jacobian(z, friction);
}

}  // namespace tribo
