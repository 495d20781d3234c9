#include "tribo/solve/law/local_step.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/math/rtsafe.h"
#include "tribo/solve/law/one_cone.h"

namespace tribo {
namespace {

constexpr double kFloor = 1e-14;  // smallest diagonal entry kept, relative to the trace

template <int N>
double trace_of(const MatN<N>& w) {
  const double trace = w.diagonal().cwiseAbs().sum();
  return trace > 0.0 ? trace : 1.0;
}

// Largest eigenvalue of the symmetric part of the tangential block.
template <int N>
double largest_tangential(const MatN<N>& w) {
  if constexpr (N == 3) {
    const double a = w(0, 0), b = 0.5 * (w(0, 1) + w(1, 0)), d = w(1, 1);
    return 0.5 * (a + d) + std::sqrt(0.25 * (a - d) * (a - d) + b * b);
  } else {
    const MatN<N - 1> t = w.template topLeftCorner<N - 1, N - 1>();
    const Eigen::SelfAdjointEigenSolver<MatN<N - 1>> spectrum(MatN<N - 1>(0.5 * (t + t.transpose())),
                                                              Eigen::EigenvaluesOnly);
    return spectrum.eigenvalues()[N - 2];
  }
}

}  // namespace

template <int N>
LocalMatrixN<N>::LocalMatrixN(const MatN<N>& matrix, double friction) : w(matrix), mu(friction) {
  const double floor = kFloor * trace_of<N>(w);
  for (int i = 0; i < N; ++i) w(i, i) = std::max(w(i, i), floor);
  const double tangent = largest_tangential<N>(w), normal = w(N - 1, N - 1);
  rho_n = 1.0 / normal;
  rho_t = 1.0 / std::max(tangent, floor);
  rho = 1.0 / (std::max(tangent, normal) + detail::tangent_norm(VecN<N>(w.col(N - 1))));
}

template struct LocalMatrixN<3>;
template struct LocalMatrixN<4>;
template struct LocalMatrixN<6>;

template <int N>
VecN<N> step_projection(const LocalMatrixN<N>& local, Law law, const VecN<N>& velocity,
                        const VecN<N>& impulse) {
  const VecN<N> shifted = corrected(velocity, local.mu, law);
  return project_cone(VecN<N>(impulse - local.rho * shifted), local.mu);
}

namespace {

// One element of the generalised Jacobian of the function whose roots are sought, and its value.
template <int N>
struct Linearisation {
  VecN<N> value;
  MatN<N> jacobian;
};

// Alart-Curnier (63): r_n - (r_n - rho_n w_n)_+,  r_t - P_disk(mu (r_n - rho_n w_n)_+)(r_t - rho_t w_t).
template <int N>
Linearisation<N> alart_curnier(const LocalMatrixN<N>& local, const VecN<N>& w, const VecN<N>& r) {
  VecN<N> rho = VecN<N>::Constant(local.rho_t);
  rho[N - 1] = local.rho_n;
  const VecN<N> z = r - rho.cwiseProduct(w);
  const MatN<N> dz = MatN<N>::Identity() - rho.asDiagonal() * local.w;
  return {r - project_strict(z, local.mu), MatN<N>::Identity() - project_strict_jacobian(z, local.mu) * dz};
}

template <int N>
Linearisation<N> natural_map(const LocalMatrixN<N>& local, const VecN<N>& w, const VecN<N>& r) {
  const VecN<N> z = r - local.rho * w;
  const MatN<N> dz = MatN<N>::Identity() - local.rho * local.w;
  return {r - project_cone(z, local.mu), MatN<N>::Identity() - project_cone_jacobian(z, local.mu) * dz};
}

template <int N>
bool newton_iterations(const LocalMatrixN<N>& local, Law law, const VecN<N>& q, VecN<N>& r) {
  for (int iteration = 0; iteration < 12; ++iteration) {
    const VecN<N> w = local.w * r + q;
    const Linearisation<N> at = law == Law::exact ? alart_curnier(local, w, r) : natural_map(local, w, r);
    const double size = r.cwiseAbs().maxCoeff() + local.rho_n * q.cwiseAbs().maxCoeff();
    if (!(at.value.cwiseAbs().maxCoeff() > 1e-15 * size)) return r.allFinite();
    const VecN<N> step = at.jacobian.partialPivLu().solve(at.value);
    if (!step.allFinite()) return false;
    r -= step;
    if (iteration > 0 && step.cwiseAbs().maxCoeff() <= 1e-15 * size) return true;
  }
  return false;
}

}  // namespace

template <int N>
VecN<N> solve_newton(const LocalMatrixN<N>& local, Law law, const VecN<N>& velocity, const VecN<N>& impulse) {
  const VecN<N> q = velocity - local.w * impulse;
  if (law == Law::exact ? q[N - 1] >= 0.0 : in_dual_cone(q, local.mu)) return VecN<N>::Zero();
  VecN<N> r = impulse;
  if (newton_iterations(local, law, q, r)) return project_cone(r, local.mu);
  VecN<N> base = impulse;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) base = step_projection(local, law, VecN<N>(local.w * base + q), base);
    r = base;
    if (newton_iterations(local, law, q, r)) return project_cone(r, local.mu);
  }
  return law == Law::exact ? ExactContactN<N>(local.w, local.mu).solve(velocity, impulse) : base;
}

template Vec3 step_projection(const LocalMatrixN<3>&, Law, const Vec3&, const Vec3&);
template VecN<4> step_projection(const LocalMatrixN<4>&, Law, const VecN<4>&, const VecN<4>&);
template VecN<6> step_projection(const LocalMatrixN<6>&, Law, const VecN<6>&, const VecN<6>&);
template Vec3 solve_newton(const LocalMatrixN<3>&, Law, const Vec3&, const Vec3&);
template VecN<4> solve_newton(const LocalMatrixN<4>&, Law, const VecN<4>&, const VecN<4>&);
template VecN<6> solve_newton(const LocalMatrixN<6>&, Law, const VecN<6>&, const VecN<6>&);

namespace {

// Value of the polynomial c[0] + c[1] x + ... + c[degree] x^degree.
double evaluate(const double* c, int degree, double x) {
  double value = c[degree];
  for (int i = degree - 1; i >= 0; --i) value = value * x + c[i];
  return value;
}

// Roots with a sign change in [0, hi], ascending: they lie between the roots of the derivative, found in the
// same steps.
int roots_in_range(const double* c, int degree, double hi, double* roots) {
  if (degree == 0) return 0;
  double derivative[4], turning[4];
  for (int i = 0; i < degree; ++i) derivative[i] = (i + 1) * c[i + 1];
  int turns = roots_in_range(derivative, degree - 1, hi, turning);
  turning[turns++] = hi;
  int count = 0;
  double left = 0.0;
  for (int i = 0; i < turns; ++i) {
    const double right = turning[i];
    const RootResult root =
        find_root_bracketed([&](double x) { return evaluate(c, degree, x); }, left, right);
    if (root.converged && count < degree) roots[count++] = root.root;
    left = right;
  }
  return count;
}

// All positive roots of a quartic with c[4] > 0, by Cauchy's bound.
int positive_roots(const double (&c)[5], double (&roots)[4]) {
  double bound = 0.0;
  for (int i = 0; i < 4; ++i) bound = std::max(bound, std::abs(c[i] / c[4]));
  return std::isfinite(bound) ? roots_in_range(c, 4, 1.0 + bound, roots) : 0;
}

}  // namespace

// Slip as in Acary's digest of cases: |adj(S + a I) b|^2 = m^2 (q_n det(S + a I) + g.adj(S + a I) b)^2, a
// quartic in a.
Vec3 solve_quartic(const LocalMatrix& local, const Vec3& velocity, const Vec3& impulse) {
  const Mat3& w = local.w;
  const Vec3 q = velocity - w * impulse;
  if (q[2] >= 0.0) return Vec3::Zero();
  if (local.mu == 0.0) return {0.0, 0.0, -q[2] / w(2, 2)};
  const Vec3 stick = w.partialPivLu().solve(-q);
  if (stick.allFinite() && in_cone(stick, local.mu)) return stick;

  const Mat2 s = w.topLeftCorner<2, 2>() - w.topRightCorner<2, 1>() * w.bottomLeftCorner<1, 2>() / w(2, 2);
  const Vec2 b = -(q.head<2>() - w.topRightCorner<2, 1>() * (q[2] / w(2, 2)));
  const Vec2 g = w.bottomLeftCorner<1, 2>().transpose();
  // a = unit x, and everything divided so that the coefficients are of order one.
  const double unit = std::max(s.trace(), 1e-300);
  const Mat2 s_unit = s / unit;
  const double m = local.mu / w(2, 2) * unit;  // times |r_t| unit / |b| below
  const double size_b = b.norm();
  const Vec2 b_unit = b / size_b;
  Mat2 adjugate;
  adjugate << s_unit(1, 1), -s_unit(0, 1), -s_unit(1, 0), s_unit(0, 0);
  const Vec2 c = adjugate * b_unit;
  const Vec2 g_unit = g / unit;
  const double qn = q[2] / size_b;
  const double e0 = m * (qn * s_unit.determinant() + g_unit.dot(c));
  const double e1 = m * (qn * s_unit.trace() + g_unit.dot(b_unit));
  const double e2 = m * qn;
  const double quartic[5] = {e0 * e0 - c.squaredNorm(), 2.0 * (e0 * e1 - c.dot(b_unit)),
                             e1 * e1 + 2.0 * e0 * e2 - 1.0, 2.0 * e1 * e2, e2 * e2};
  double roots[4];
  const int count = positive_roots(quartic, roots);
  Vec3 best = Vec3::Zero();
  double best_gap = std::numeric_limits<double>::infinity();
  for (int i = 0; i < count; ++i) {
    const Mat2 shifted = s + unit * roots[i] * Mat2::Identity();
    const Vec2 tangent = shifted.partialPivLu().solve(b);
    const double normal = -(q[2] + g.dot(tangent)) / w(2, 2);
    const double gap =
        std::abs(tangent.norm() - local.mu * normal) / (tangent.norm() + local.mu * std::abs(normal));
    if (normal > 0.0 && gap < best_gap) {
      best = Vec3(tangent[0], tangent[1], normal);
      best_gap = gap;
    }
  }
  if (!(best_gap < 1e-3)) return ExactContact(w, local.mu).solve(velocity, impulse);
  return project_cone(best, local.mu);
}

}  // namespace tribo
