// The problem of a single contact, FC(W, q, mu) of Acary et al. (2018) eq. (34): find r in the Coulomb cone
// K_mu with
//
//   w = W r + q,   K_mu contains r, orthogonal to w + Gamma(w) in K*_mu        (law exact)
//   w = W r + q,   K_mu contains r, orthogonal to w in K*_mu                   (law convex)
//
// for a 3x3 matrix W (compliance included) in (t1, t2, n) order that may be unsymmetric or singular. This is
// what a sweep of Gauss-Seidel type solves at every visit of a contact, so the matrix is prepared once and a
// visit takes the present impulse r0 and velocity w0 = W r0 + q, which is more accurate than q when W r0 is
// much larger than w0.
//
//   ExactContact   cannot fail: take-off, stick, or slip by a bracketed one-dimensional Newton iteration
//   ConvexContact  the same for the convex law, in coordinates where W is the identity
//
// Directions in which W vanishes (the idle tangent of a planar contact) get a tiny part of its trace. Since a
// visit works on changes, the points where nothing changes any more solve the caller's own problem all the
// same.
//
// Example: a contact approaching at 1 m/s while sliding at 0.5 m/s.
//   Vec3 r = solve_one_contact(Mat3::Identity(), Vec3(0.5, 0.0, -1.0), 0.3, Law::exact);   // (-0.3, 0, 1)
#pragma once

#include "tribo/base/types.h"
#include "tribo/problem/contact_problem.h"

namespace tribo {

// Law exact. Eliminating r_n through w_n = 0 leaves the Schur complement S = W_tt - W_tn W_nt / W_nn. The
// tangent axes are turned so that the symmetric part of S is diagonal, S = [[s1, k], [-k, s2]]; the cone does
// not notice the turn. Derivation in one_contact.cpp.
class ExactContact {
 public:
  ExactContact() = default;
  ExactContact(const Mat3& w, double mu);

  // The solution of FC(W, velocity - W impulse, mu).
  Vec3 solve(const Vec3& velocity, const Vec3& impulse) {
    const double un = velocity[2];
    if (un >= 0.0 && impulse[2] == 0.0) return Vec3::Zero();
    // p: old tangential impulse, y: tangential velocity after eliminating the normal, both in the turned
    // axes.
    const double p1 = cosine_ * impulse[0] + sine_ * impulse[1];
    const double p2 = cosine_ * impulse[1] - sine_ * impulse[0];
    const double qn = un - (g1_ * p1 + g2_ * p2) - wnn_ * impulse[2];
    if (qn >= 0.0) return Vec3::Zero();
    const double y1 = cosine_ * velocity[0] + sine_ * velocity[1] - h1_ * un;
    const double y2 = cosine_ * velocity[1] - sine_ * velocity[0] - h2_ * un;
    double r1 = p1 - (stick11_ * y1 - stick12_ * y2);
    double r2 = p2 - (stick12_ * y1 + stick22_ * y2);
    double rn = -(qn + g1_ * r1 + g2_ * r2) * inverse_nn_;
    if (rn < 0.0 || r1 * r1 + r2 * r2 > mu_ * mu_ * rn * rn) slip(p1, p2, y1, y2, qn, r1, r2, rn);
    return {cosine_ * r1 - sine_ * r2, sine_ * r1 + cosine_ * r2, rn};
  }

 private:
  struct Slip;
  void slip(double p1, double p2, double y1, double y2, double qn, double& r1, double& r2, double& rn);

  double cosine_ = 1.0, sine_ = 0.0;                      // turn of the tangent axes
  double s1_ = 1.0, s2_ = 1.0, k_ = 0.0;                  // S, s1 >= s2 > 0
  double stick11_ = 1.0, stick22_ = 1.0, stick12_ = 0.0;  // S^-1 = [[stick11, -stick12], [stick12, stick22]]
  double g1_ = 0.0, g2_ = 0.0;                            // W_nt turned
  double h1_ = 0.0, h2_ = 0.0;                            // W_tn / W_nn turned
  double wnn_ = 1.0, inverse_nn_ = 1.0;
  double mu_ = 0.0;
  double multiplier_ = 0.0;  // of the last slip: where the next search starts
};

// Law convex. W enters through its symmetric part; a skew part is left to the iteration around.
class ConvexContact {
 public:
  ConvexContact() = default;
  ConvexContact(const Mat3& w, double mu);

  // The solution of the convex problem for (W, velocity - W impulse, mu).
  Vec3 solve(const Vec3& velocity, const Vec3& impulse) const;

 private:
  Mat3 w_ = Mat3::Identity();      // symmetric part
  Mat3 basis_ = Mat3::Identity();  // B: B^T W B = I, B^T diag(1, 1, -mu^2) B diagonal
  double alpha1_ = 1.0,
         alpha2_ = 1.0;  // the cone in these coordinates: (x1/alpha1)^2 + (x2/alpha2)^2 <= x3^2
  double mu_ = 0.0;
};

// A scalar row: lambda in [lower, upper], -w in the normal cone. Unilateral: [0, inf); bilateral: (-inf,
// inf).
struct ScalarRow {
  double inverse = 1.0;  // 1 / W
  double lower = 0.0, upper = 0.0;

  double solve(double velocity, double impulse) const {
    const double next = impulse - inverse * velocity;
    const double raised = next < lower ? lower : next;  // in two steps there is no branch
    return raised > upper ? upper : raised;
  }
};

// Row of constraint i (not a contact) of `problem`, its matrix divided by omega.
ScalarRow scalar_row(const ContactProblem& problem, Index i, double omega);

// From zero impulse: velocity = q.
Vec3 solve_one_contact(const Mat3& w, const Vec3& q, double mu, Law law);

}  // namespace tribo
