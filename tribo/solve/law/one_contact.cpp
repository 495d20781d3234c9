// Law exact, after Acary et al. (2018) sec. 6.1 ("NSGS-EXACT"). With w_n = 0,
//   r_n = -(q_n + W_nt r_t) / W_nn,   w_t = S r_t - b,   b = -(q_t - W_tn q_n / W_nn).
// Slip means w_t = -a r_t for some a > 0, so r_t(a) = (S + a I)^-1 b, and a is the root of |r_t| = mu r_n:
//   f(a) = |r_t| + m g.r_t - rho,   m = mu / W_nn,   g = W_nt,   rho = -m q_n > 0.
// f(0) > 0 says that sticking is outside the cone, f(inf) = -rho < 0. Dividing by rho |r_t| as in
// trust-region methods gives an almost linear function of a,
//   psi(a) = rho / |r_t(a)| - 1 - m g.t(a),   t = r_t / |r_t|,   psi(0) < 0,
// on which Newton needs a few steps, one or two from the multiplier of the previous visit. The root is
// bracketed by |b| / (s1 + |k| + a) <= |r_t| <= |b| / (s2 + a):
//   |b| (1 - m|g|) / rho - s1 - |k|  <=  a  <=  |b| (1 + m|g|) / rho - s2.
//
// Law convex: r minimises r.W r / 2 + q.r over K_mu. With B of the header, r = B x, z = -B^T q, this is the
// Euclidean projection of z on the cone (x1/a1)^2 + (x2/a2)^2 <= x3^2, x3 >= 0. Outside the cone and its
// polar there is a t >= 0 with
//   x_i = z_i / (1 + t / a_i^2),   x3 = z3 / (1 - t),   i = 1, 2.
// In s = t / (1 + t), 0 <= s <= 1, the point is on the cone when
//   1 - 2 s = z3 / N(s),   N(s) = |(z_i a_i / (s + a_i^2 (1 - s)))_i|.
// 1 / N is almost linear and the difference of both sides decreases, so the root is unique and bracketed. The
// sign of z3 says in which half it lies; in the upper half 1 - s takes the place of s so that no digits are
// lost.
#include "tribo/solve/law/one_contact.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/math/cone.h"

namespace tribo {
namespace {

constexpr double kFloor = 1e-14;       // smallest eigenvalue kept, relative to the trace
constexpr double kConvexFloor = 1e-9;  // the same where the cone is stretched by the roots of the eigenvalues
constexpr double kNewtonSettled = 3e-9;  // relative step after which a quadratic method is at rounding
constexpr int kMaxIterations = 200;      // bisection alone needs fewer

double trace_of(const Mat3& w) {
  const double trace = std::abs(w(0, 0)) + std::abs(w(1, 1)) + std::abs(w(2, 2));
  return trace > 0.0 ? trace : 1.0;
}

struct Bracket {
  double lo, hi;
  double middle() const { return lo > 0.0 && hi > 16.0 * lo ? std::sqrt(lo * hi) : 0.5 * (lo + hi); }
};

}  // namespace

ExactContact::ExactContact(const Mat3& w, double mu) : mu_(mu) {
  const double floor = kFloor * trace_of(w);
  wnn_ = std::max(w(2, 2), floor);
  inverse_nn_ = 1.0 / wnn_;
  const double n1 = w(0, 2) * inverse_nn_, n2 = w(1, 2) * inverse_nn_;
  const double s11 = w(0, 0) - n1 * w(2, 0), s22 = w(1, 1) - n2 * w(2, 1);
  const double s12 = w(0, 1) - n1 * w(2, 1), s21 = w(1, 0) - n2 * w(2, 0);
  const double off = 0.5 * (s12 + s21);
  const double half = 0.5 * (s11 - s22);
  const double radius = std::sqrt(half * half + off * off);
  if (radius > 0.0) {  // (cosine, sine): eigenvector of the larger eigenvalue
    const double big = std::sqrt(0.5 * (1.0 + std::abs(half) / radius));
    const double small = 0.5 * off / (radius * big);
    cosine_ = half >= 0.0 ? big : std::abs(small);
    sine_ = half >= 0.0 ? small : std::copysign(big, off);
  }
  k_ = 0.5 * (s12 - s21);
  s1_ = std::max(0.5 * (s11 + s22) + radius, floor);
  s2_ = std::max(0.5 * (s11 + s22) - radius, floor);
  const double inverse_det = 1.0 / (s1_ * s2_ + k_ * k_);
  stick11_ = s2_ * inverse_det;
  stick22_ = s1_ * inverse_det;
  stick12_ = k_ * inverse_det;
  g1_ = cosine_ * w(2, 0) + sine_ * w(2, 1);
  g2_ = cosine_ * w(2, 1) - sine_ * w(2, 0);
  h1_ = cosine_ * n1 + sine_ * n2;
  h2_ = cosine_ * n2 - sine_ * n1;
}

// With c(a) = adj(S + a I) b and D = det(S + a I), r_t = c / D and psi |c| = N - |c|, N = rho D - m g.c: no
// division but that of the Newton step. c' = b, D' = d1 + d2, |c|' = c.b / |c| with d_i = s_i + a.
struct ExactContact::Slip {
  double s1, s2, k, b1, b2, rho;
  double g1, g2, gb;  // m g, m g.b

  struct Step {
    double next;    // Newton's step on psi
    double excess;  // psi |c|
    double scale;   // d2: changes of a small against it leave r_t unchanged
  };
  Step newton(double a) const {
    const double d1 = s1 + a, d2 = s2 + a;
    const double c1 = d2 * b1 - k * b2, c2 = k * b1 + d1 * b2;
    const double n = rho * (d1 * d2 + k * k) - (g1 * c1 + g2 * c2);
    const double slope_n = rho * (d1 + d2) - gb;
    const double square = c1 * c1 + c2 * c2;
    const double excess = n - std::sqrt(square);
    const double along = d2 * b1 * b1 + d1 * b2 * b2;  // c.b
    return {a - excess * square / (slope_n * square - n * along), excess, d2};
  }
  void impulse(double a, double& r1, double& r2) const {
    const double d1 = s1 + a, d2 = s2 + a;
    const double inverse = 1.0 / (d1 * d2 + k * k);
    r1 = (d2 * b1 - k * b2) * inverse;
    r2 = (k * b1 + d1 * b2) * inverse;
  }
  // Plain Newton from a good guess. Any positive root is a slip, so settling there is enough; negative if it
  // does not.
  double from_guess(double a) const {
    for (int iteration = 0; iteration < 5; ++iteration) {
      const Step step = newton(a);
      if (!(step.next > 0.0)) return -1.0;
      if (std::abs(step.next - a) <= kNewtonSettled * step.scale) return step.next;
      a = step.next;
    }
    return -1.0;
  }
  // Newton kept inside the bracket; cannot fail.
  double bracketed() const {
    const double length_b = detail::norm2(b1, b2);
    const double length_g = detail::norm2(g1, g2);
    Bracket bracket;
    bracket.lo = std::max(0.0, length_b * (1.0 - length_g) / rho - s1 - std::abs(k));
    bracket.hi = std::max(bracket.lo, length_b * (1.0 + length_g) / rho - s2);
    double a = bracket.lo;
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      const Step step = newton(a);
      (step.excess < 0.0 ? bracket.lo : bracket.hi) = a;
      const bool inside = step.next >= bracket.lo && step.next <= bracket.hi;  // false for NaN
      if (inside && std::abs(step.next - a) <= kNewtonSettled * step.scale) return step.next;
      if (bracket.hi - bracket.lo <= 1e-15 * (s2 + bracket.hi)) break;
      a = inside ? step.next : bracket.middle();
    }
    return a;
  }
};

void ExactContact::slip(double p1, double p2, double y1, double y2, double qn, double& r1, double& r2,
                        double& rn) {
  const double free_normal = -qn * inverse_nn_;  // > 0
  rn = free_normal;
  if (mu_ == 0.0) {
    r1 = r2 = 0.0;
    return;
  }
  const double m = mu_ * inverse_nn_;
  Slip problem{s1_,     s2_,     k_, s1_ * p1 + k_ * p2 - y1, s2_ * p2 - k_ * p1 - y2, mu_ * free_normal,
               m * g1_, m * g2_, 0.0};
  problem.gb = problem.g1 * problem.b1 + problem.g2 * problem.b2;
  double a = multiplier_ > 0.0 ? problem.from_guess(multiplier_) : -1.0;
  if (a < 0.0) a = problem.bracketed();
  multiplier_ = a;
  problem.impulse(a, r1, r2);
  rn -= (g1_ * r1 + g2_ * r2) * inverse_nn_;
  const double limit = mu_ * rn;
  const double square = r1 * r1 + r2 * r2;
  if (rn > 0.0 && square <= (1.0 + 1e-14) * limit * limit) return;
  // Not reached but for overflow or a bracket closed before the last digits.
  const double length = detail::norm2(r1, r2);
  multiplier_ = 0.0;
  if (!(rn > 0.0) || !std::isfinite(length + rn)) {
    r1 = r2 = 0.0;
    rn = free_normal;
  } else if (length > limit) {
    r1 *= limit / length;
    r2 *= limit / length;
  }
}

ConvexContact::ConvexContact(const Mat3& w, double mu) : w_(0.5 * (w + w.transpose())), mu_(mu) {
  const Eigen::SelfAdjointEigenSolver<Mat3> spectrum(w_);
  const double floor = kConvexFloor * trace_of(w);
  const Vec3 eigenvalues = spectrum.eigenvalues().cwiseMax(floor);
  if (spectrum.eigenvalues()[0] < floor) {
    w_ = spectrum.eigenvectors() * eigenvalues.asDiagonal() * spectrum.eigenvectors().transpose();
  }
  if (mu_ == 0.0) return;
  // W = V E V^T, half = V E^-1/2: the second eigenproblem is that of half^T diag(1, 1, -mu^2) half.
  const Mat3 half = spectrum.eigenvectors() * eigenvalues.cwiseSqrt().cwiseInverse().asDiagonal();
  const Mat3 shape = half.transpose() * Vec3(1.0, 1.0, -mu_ * mu_).asDiagonal() * half;
  const Eigen::SelfAdjointEigenSolver<Mat3> axes(shape);  // ascending: the negative eigenvalue first
  const Vec3 delta = axes.eigenvalues();
  basis_.col(0) = half * axes.eigenvectors().col(1);
  basis_.col(1) = half * axes.eigenvectors().col(2);
  basis_.col(2) = half * axes.eigenvectors().col(0);
  if (basis_(2, 2) < 0.0) basis_.col(2) = -basis_.col(2);
  const double least = kFloor * delta.cwiseAbs().maxCoeff();
  const double negative = std::max(-delta[0], least);
  alpha1_ = std::sqrt(negative / std::max(delta[1], least));
  alpha2_ = std::sqrt(negative / std::max(delta[2], least));
}

Vec3 ConvexContact::solve(const Vec3& velocity, const Vec3& impulse) const {
  const Vec3 q = velocity - w_ * impulse;
  if (in_dual_cone(q, mu_)) return Vec3::Zero();
  if (mu_ == 0.0) return {0.0, 0.0, std::max(0.0, -q[2] / w_(2, 2))};
  const Vec3 z = -(basis_.transpose() * q);
  const double inside = detail::norm2(z[0] / alpha1_, z[1] / alpha2_);
  if (inside <= z[2]) return project_cone(basis_ * z, mu_);
  const double polar = detail::norm2(z[0] * alpha1_, z[1] * alpha2_);
  if (polar <= -z[2]) return Vec3::Zero();

  // e_i(c) = s + a_i^2 (1 - s) written from the end where s (lower half) or 1 - s (upper half) is c, c in [0,
  // 1/2].
  const bool lower = z[2] > 0.0;
  const double a1 = alpha1_ * alpha1_, a2 = alpha2_ * alpha2_;
  const double base1 = lower ? a1 : 1.0, base2 = lower ? a2 : 1.0;
  const double rate1 = lower ? 1.0 - a1 : a1 - 1.0, rate2 = lower ? 1.0 - a2 : a2 - 1.0;
  const double direction = lower ? 1.0 : -1.0;
  const double w1 = z[0] * alpha1_, w2 = z[1] * alpha2_;
  Bracket bracket{0.0, 0.5};
  double c = 0.0;
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    const double e1 = base1 + rate1 * c, e2 = base2 + rate2 * c;
    const double i1 = 1.0 / e1, i2 = 1.0 / e2;
    const double v1 = w1 * i1, v2 = w2 * i2;
    const double square = v1 * v1 + v2 * v2;
    const double inverse_n = 1.0 / std::sqrt(square);
    const double value = 1.0 - 2.0 * c - direction * z[2] * inverse_n;  // decreasing in c in both halves
    const double slope =
        -2.0 - direction * z[2] * inverse_n * (v1 * v1 * rate1 * i1 + v2 * v2 * rate2 * i2) / square;
    (value > 0.0 ? bracket.lo : bracket.hi) = c;
    const double next = c - value / slope;
    const bool in_bracket = next >= bracket.lo && next <= bracket.hi;
    if (in_bracket && std::abs(next - c) <= kNewtonSettled * std::min({e1, e2, lower ? e1 : next})) {
      c = next;
      break;
    }
    if (bracket.hi - bracket.lo <= 1e-16 * bracket.hi) break;
    c = in_bracket ? next : bracket.middle();
  }
  const double away = lower ? 1.0 - c : c;  // 1 - s
  const double x1 = z[0] * a1 * away / (base1 + rate1 * c);
  const double x2 = z[1] * a2 * away / (base2 + rate2 * c);
  const Vec3 r = basis_ * Vec3(x1, x2, detail::norm2(x1 / alpha1_, x2 / alpha2_));
  return r.allFinite() ? project_cone(r, mu_) : Vec3(0.0, 0.0, std::max(0.0, -q[2] / w_(2, 2)));
}

ScalarRow scalar_row(const ContactProblem& problem, Index i, double omega) {
  const double w = problem.delassus_scalar(i) + problem.compliance()[problem.row(i)];
  const Interval set = problem.interval(i);
  return {problem.is_idle(i) ? 0.0 : omega / (w > 0.0 ? w : problem.scale(i)), set.lower, set.upper};
}

Vec3 solve_one_contact(const Mat3& w, const Vec3& q, double mu, Law law) {
  if (law == Law::exact) return ExactContact(w, mu).solve(q, Vec3::Zero());
  // Further visits remove what the lifted null space and the skew part of W left.
  const ConvexContact contact(w, mu);
  Vec3 r = contact.solve(q, Vec3::Zero());
  for (int visit = 0; visit < 20; ++visit) {
    const Vec3 next = contact.solve(w * r + q, r);
    const double step = (next - r).cwiseAbs().maxCoeff();
    r = next;
    if (step <= 1e-15 * r.cwiseAbs().maxCoeff()) break;
  }
  return r;
}

}  // namespace tribo
