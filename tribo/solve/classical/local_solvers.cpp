#include "tribo/solve/classical/local_solvers.h"

#include <Eigen/LU>
#include <cmath>

namespace tribo {
namespace {

// The contact's problem as vi_step() sees it.
template <int N>
struct Space {
  const LocalContact<N>& c;
  SetKind set;
  double radius;
  VecN<N> q;

  void evaluate(const VecN<N>& z, VecN<N>& f) const { f = field<N>(set, c.w * z + q, c.law.mu); }
  void project_step(const VecN<N>& z, double rho, const VecN<N>& f, VecN<N>& target) const {
    target = project_on<N>(set, z - rho / c.weight * f, c.law.mu, radius);
  }
  double length2(const VecN<N>& a, const VecN<N>& b) const { return c.weight * (a - b).squaredNorm(); }
  double dual_length2(const VecN<N>& a, const VecN<N>& b) const { return (a - b).squaredNorm() / c.weight; }
};

// |r| + |q| / W_nn: what residuals are relative to.
template <int N>
double size_of(const LocalContact<N>& c, const VecN<N>& q, const VecN<N>& r) {
  return r.norm() + c.one_step * q.norm();
}

}  // namespace

template <int N>
VecN<N> local_projection(const LocalContact<N>& c, SetKind set, double radius, const VecN<N>& w,
                         const VecN<N>& r) {
  return project_on<N>(set, r - c.one_step * field<N>(set, w, c.law.mu), c.law.mu, radius);
}

template <int N>
VecN<N> local_vi(LocalContact<N>& c, const ViRule& rule, const LocalLimits& limits, SetKind set,
                 double radius, const VecN<N>& w, const VecN<N>& r) {
  Space<N> space{c, set, radius, w - c.w * r};
  const double enough = limits.tolerance * size_of(c, space.q, r);
  VecN<N> z = r, f = field<N>(set, w, c.law.mu), z_bar, f_bar;
  double error = Interval::kInfinity;
  for (Index k = 0; k < limits.iterations; ++k) {
    const double ratio = vi_step(rule, space, c.rho, z, f, z_bar, f_bar);
    if (rule.step == StepRule::fixed && k + 1 < limits.iterations) continue;
    // z_bar is where the step began: at a solution it stays there.
    const double moved = (z - z_bar).norm();
    const bool nearer = moved < error;
    error = moved;
    if (moved <= enough) break;
    if (ratio < rule.lower && nearer) c.rho /= rule.shrink;
  }
  return z.allFinite() ? z : r;
}

template <int N>
VecN<N> local_newton(LocalContact<N>& c, const SearchOptions& search, const LocalLimits& limits,
                     const VecN<N>& w, const VecN<N>& r) {
  const VecN<N> q = w - c.w * r;
  const double enough = limits.tolerance * c.law.unit * size_of(c, q, r);
  const auto merit_at = [&](const VecN<N>& x) {
    return 0.5 * residual_of<N>(c.law, x, c.w * x + q).squaredNorm();
  };
  VecN<N> x = r;
  double merit = merit_at(x);
  for (Index k = 0; k < limits.iterations; ++k) {
    const Linearised<N> at = linearise<N>(c.law, x, c.w * x + q);
    const MatN<N> matrix = at.by_impulse + at.by_velocity * c.w;
    const VecN<N> d = matrix.partialPivLu().solve(-at.value);
    if (!d.allFinite()) break;
    const auto along = [&](double t) { return merit_at(x + t * d); };
    const double t = search_step(search, merit, -2.0 * merit, along);
    x += t * d;
    merit = merit_at(x);
    if (!(std::sqrt(2.0 * merit) > enough)) break;
  }
  const bool finite = x.allFinite();
  if (finite && std::sqrt(2.0 * merit) <= enough) return project_cone(x, c.law.mu);
  const VecN<N> other = local_vi(c, ViRule(), limits, SetKind::coulomb, 0.0, w, r);
  return finite && merit < merit_at(other) ? project_cone(x, c.law.mu) : other;
}

template VecN<3> local_projection<3>(const LocalContact<3>&, SetKind, double, const VecN<3>&, const VecN<3>&);
template VecN<4> local_projection<4>(const LocalContact<4>&, SetKind, double, const VecN<4>&, const VecN<4>&);
template VecN<6> local_projection<6>(const LocalContact<6>&, SetKind, double, const VecN<6>&, const VecN<6>&);
template VecN<3> local_vi<3>(LocalContact<3>&, const ViRule&, const LocalLimits&, SetKind, double,
                             const VecN<3>&, const VecN<3>&);
template VecN<4> local_vi<4>(LocalContact<4>&, const ViRule&, const LocalLimits&, SetKind, double,
                             const VecN<4>&, const VecN<4>&);
template VecN<6> local_vi<6>(LocalContact<6>&, const ViRule&, const LocalLimits&, SetKind, double,
                             const VecN<6>&, const VecN<6>&);
template VecN<3> local_newton<3>(LocalContact<3>&, const SearchOptions&, const LocalLimits&, const VecN<3>&,
                                 const VecN<3>&);
template VecN<4> local_newton<4>(LocalContact<4>&, const SearchOptions&, const LocalLimits&, const VecN<4>&,
                                 const VecN<4>&);
template VecN<6> local_newton<6>(LocalContact<6>&, const SearchOptions&, const LocalLimits&, const VecN<6>&,
                                 const VecN<6>&);

}  // namespace tribo
