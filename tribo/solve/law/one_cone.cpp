#include "tribo/solve/law/one_cone.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

constexpr double kFloor = 1e-14;       // smallest eigenvalue kept, relative to the trace
constexpr double kConvexFloor = 1e-9;  // the same where the cone is stretched by the roots of the eigenvalues
constexpr double kNewtonSettled = 3e-9;  // relative step after which a quadratic method is at rounding
constexpr int kMaxIterations = 200;      // bisection alone needs fewer
constexpr double kSymmetric = 1e-13;     // skew part of S, relative to its trace, that is rounding

template <int N>
double trace_of(const MatN<N>& w) {
  const double trace = w.diagonal().cwiseAbs().sum();
  return trace > 0.0 ? trace : 1.0;
}

double middle(double lo, double hi) {
  return lo > 0.0 && hi > 16.0 * lo ? std::sqrt(lo * hi) : 0.5 * (lo + hi);
}

}  // namespace

template <int N>
ExactCone<N>::ExactCone(const MatN<N>& w, double mu) : mu_(mu) {
  constexpr int t = N - 1;
  const double trace = trace_of<N>(w), floor = kFloor * trace;
  wnn_ = std::max(w(t, t), floor);
  const Tangent n = w.template topRightCorner<t, 1>() / wnn_;
  const MatN<t> s = w.template topLeftCorner<t, t>() - n * w.template bottomLeftCorner<1, t>();
  const Eigen::SelfAdjointEigenSolver<MatN<t>> spectrum(MatN<t>(0.5 * (s + s.transpose())));
  turn_ = spectrum.eigenvectors();
  s_ = spectrum.eigenvalues().cwiseMax(floor);
  skew_ = turn_.transpose() * (0.5 * (s - s.transpose())) * turn_;
  skewed_ = skew_.cwiseAbs().maxCoeff() > kSymmetric * trace;
  g_ = turn_.transpose() * w.template bottomLeftCorner<1, t>().transpose();
  h_ = turn_.transpose() * n;
}

template <int N>
typename ExactCone<N>::Tangent ExactCone<N>::shifted_solve(double a, const Tangent& b) const {
  if (!skewed_) return b.cwiseQuotient((s_.array() + a).matrix());
  MatN<N - 1> matrix = skew_;
  matrix.diagonal() += (s_.array() + a).matrix();
  return matrix.partialPivLu().solve(b);
}

template <int N>
typename ExactCone<N>::Point ExactCone<N>::at(double a, const Tangent& b, double rho) const {
  const double m = mu_ / wnn_;
  const Tangent r = shifted_solve(a, b), change = -shifted_solve(a, r);  // dr / da
  const double length = r.norm();
  const Tangent t = r / length;
  const Tangent turning = (change - t * t.dot(change)) / length;
  return {r, rho / length - 1.0 - m * g_.dot(t),
          -rho * t.dot(change) / (length * length) - m * g_.dot(turning)};
}

// psi(0) < 0 and psi(inf) > 0: Newton kept inside the bracket of one_contact.cpp.
template <int N>
double ExactCone<N>::find_multiplier(const Tangent& b, double rho) const {
  const double m = mu_ / wnn_, length_b = b.norm(), length_g = m * g_.norm();
  double lo = std::max(0.0, length_b * (1.0 - length_g) / rho - s_.maxCoeff() - skew_.norm());
  double hi = std::max(lo, length_b * (1.0 + length_g) / rho - s_.minCoeff());
  double a = multiplier_ > lo && multiplier_ < hi ? multiplier_ : lo;
  const double least = s_.minCoeff();
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    const Point point = at(a, b, rho);
    (point.psi < 0.0 ? lo : hi) = a;
    const double next = a - point.psi / point.slope;
    const bool inside = next >= lo && next <= hi;  // false for NaN
    if (inside && std::abs(next - a) <= kNewtonSettled * (least + a)) return next;
    if (hi - lo <= 1e-15 * (least + hi)) break;
    a = inside ? next : middle(lo, hi);
  }
  return a;
}

template <int N>
VecN<N> ExactCone<N>::solve(const VecN<N>& velocity, const VecN<N>& impulse) {
  constexpr int t = N - 1;
  const double un = velocity[t];
  if (un >= 0.0 && impulse[t] == 0.0) return VecN<N>::Zero();
  const Tangent p = turn_.transpose() * impulse.template head<t>();
  const double qn = un - g_.dot(p) - wnn_ * impulse[t];
  if (qn >= 0.0) return VecN<N>::Zero();
  // w_t - h w_n = S (r_t - p) + y: sticking is S (r_t - p) = -y.
  const Tangent y = turn_.transpose() * velocity.template head<t>() - h_ * un;
  Tangent r = p - shifted_solve(0.0, y);
  double rn = -(qn + g_.dot(r)) / wnn_;
  if (rn < 0.0 || r.squaredNorm() > mu_ * mu_ * rn * rn) {
    const double free_normal = -qn / wnn_, rho = mu_ * free_normal;
    if (mu_ == 0.0) {
      r.setZero();
      rn = free_normal;
    } else {
      const Tangent b = Tangent(s_.cwiseProduct(p)) + skew_ * p - y;
      multiplier_ = find_multiplier(b, rho);
      r = shifted_solve(multiplier_, b);
      rn = free_normal - g_.dot(r) / wnn_;
      const double limit = mu_ * rn, length = r.norm();
      if (!(rn > 0.0) || !std::isfinite(length + rn)) {  // overflow only
        r.setZero();
        rn = free_normal;
        multiplier_ = 0.0;
      } else if (length > limit) {
        r *= limit / length;
      }
    }
  }
  VecN<N> out;
  out.template head<t>() = turn_ * r;
  out[t] = rn;
  return out;
}

template <int N>
ConvexCone<N>::ConvexCone(const MatN<N>& w, double mu) : w_(0.5 * (w + w.transpose())), mu_(mu) {
  const Eigen::SelfAdjointEigenSolver<MatN<N>> spectrum(w_);
  const double floor = kConvexFloor * trace_of<N>(w);
  const VecN<N> eigenvalues = spectrum.eigenvalues().cwiseMax(floor);
  if (spectrum.eigenvalues()[0] < floor) {
    w_ = spectrum.eigenvectors() * eigenvalues.asDiagonal() * spectrum.eigenvectors().transpose();
  }
  if (mu_ == 0.0) return;
  const MatN<N> half = spectrum.eigenvectors() * eigenvalues.cwiseSqrt().cwiseInverse().asDiagonal();
  VecN<N> quadric = VecN<N>::Ones();
  quadric[N - 1] = -mu_ * mu_;
  const Eigen::SelfAdjointEigenSolver<MatN<N>> axes(MatN<N>(half.transpose() * quadric.asDiagonal() * half));
  const VecN<N> delta = axes.eigenvalues();  // ascending: the negative one first
  for (int k = 0; k < N - 1; ++k) basis_.col(k) = half * axes.eigenvectors().col(k + 1);
  basis_.col(N - 1) = half * axes.eigenvectors().col(0);
  if (basis_(N - 1, N - 1) < 0.0) basis_.col(N - 1) = -basis_.col(N - 1);
  const double least = kFloor * delta.cwiseAbs().maxCoeff();
  const double negative = std::max(-delta[0], least);
  for (int k = 0; k < N - 1; ++k) alpha_[k] = std::sqrt(negative / std::max(delta[k + 1], least));
}

template <int N>
VecN<N> ConvexCone<N>::solve(const VecN<N>& velocity, const VecN<N>& impulse) const {
  using Tangent = VecN<N - 1>;
  const VecN<N> q = velocity - w_ * impulse;
  if (in_dual_cone(q, mu_)) return VecN<N>::Zero();
  VecN<N> pushed = VecN<N>::Zero();
  pushed[N - 1] = std::max(0.0, -q[N - 1] / w_(N - 1, N - 1));
  if (mu_ == 0.0) return pushed;
  const VecN<N> z = -(basis_.transpose() * q);
  const Tangent z_t = z.template head<N - 1>();
  const double z_n = z[N - 1];
  if (z_t.cwiseQuotient(alpha_).norm() <= z_n) return project_cone(VecN<N>(basis_ * z), mu_);
  const Tangent weighted = z_t.cwiseProduct(alpha_);
  if (weighted.norm() <= -z_n) return VecN<N>::Zero();

  // e_i(c) = s + a_i^2 (1 - s) written from the end where s (lower half) or 1 - s (upper half) is c, c in [0, 1/2].
  const bool lower = z_n > 0.0;
  const Tangent a = alpha_.cwiseAbs2();
  const Tangent base = lower ? a : Tangent(Tangent::Ones());
  const Tangent rate = lower ? Tangent(Tangent::Ones() - a) : Tangent(a - Tangent::Ones());
  const double direction = lower ? 1.0 : -1.0;
  double lo = 0.0, hi = 0.5, c = 0.0;
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    const Tangent e = base + c * rate, v = weighted.cwiseQuotient(e);
    const double square = v.squaredNorm(), inverse_n = 1.0 / std::sqrt(square);
    const double value = 1.0 - 2.0 * c - direction * z_n * inverse_n;  // decreasing in c in both halves
    const double bend = v.cwiseAbs2().cwiseProduct(rate).cwiseQuotient(e).sum();
    const double slope = -2.0 - direction * z_n * inverse_n * bend / square;
    (value > 0.0 ? lo : hi) = c;
    const double next = c - value / slope;
    const bool inside = next >= lo && next <= hi;
    const double least = e.minCoeff();
    if (inside && std::abs(next - c) <= kNewtonSettled * (lower ? least : std::min(least, next))) {
      c = next;
      break;
    }
    if (hi - lo <= 1e-16 * hi) break;
    c = inside ? next : middle(lo, hi);
  }
  const double away = lower ? 1.0 - c : c;  // 1 - s
  const Tangent x = z_t.cwiseProduct(a).cwiseQuotient(base + c * rate) * away;
  VecN<N> point;
  point.template head<N - 1>() = x;
  point[N - 1] = x.cwiseQuotient(alpha_).norm();
  const VecN<N> r = basis_ * point;
  return r.allFinite() ? project_cone(r, mu_) : pushed;
}

template class ExactCone<4>;
template class ExactCone<6>;
template class ConvexCone<4>;
template class ConvexCone<6>;

namespace {

// Further visits remove what the lifted null space and the skew part of W left.
template <int N>
VecN<N> solve_alone_convex(const MatN<N>& w, const VecN<N>& q, double mu) {
  const ConvexCone<N> contact(w, mu);
  VecN<N> r = contact.solve(q, VecN<N>::Zero());
  for (int visit = 0; visit < 20; ++visit) {
    const VecN<N> next = contact.solve(w * r + q, r);
    const double step = (next - r).cwiseAbs().maxCoeff();
    r = next;
    if (step <= 1e-15 * r.cwiseAbs().maxCoeff()) break;
  }
  return r;
}

}  // namespace

void solve_alone(const ContactProblem& problem, Index i, Law law, Eigen::Ref<Vector> impulse) {
  visit_constraint(
      problem, i,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const MatN<n> w = local_matrix<n>(problem, i);
        const VecN<n> q = cone.get(problem.free_velocity());
        if constexpr (n == 3) {
          impulse = solve_one_contact(w, q, cone.friction, law);
        } else if (law == Law::exact) {
          impulse = ExactCone<n>(w, cone.friction).solve(q, VecN<n>::Zero());
        } else {
          impulse = solve_alone_convex<n>(w, q, cone.friction);
        }
      },
      [&](IntervalConstraint row) {
        impulse[0] = scalar_row(problem, i, 1.0).solve(problem.free_velocity()[row.row], 0.0);
      });
}

}  // namespace tribo
