// The sets of a problem as an interior point method sees them: pairs (x, y) strictly inside, in scaled
// self-dual coordinates.
//
// Scaling. lambda = c S x and w = (c / S) (coordinates), w = u + R lambda, with S_i = s_i diag(1, .., 1, 1 / mu)
// for a contact and s_i for a scalar row; s_i makes the mean diagonal of S (W + R) S one, c the largest
// entry of S q. Cones and De Saxce's term do not notice:
//   contact     x = (x_t, x_n) in L,  y = w~ + |w~_t| e_n in L (convex law: y = w~),  L the Lorentz cone
//   scalar row  x in [lower, upper], w~ = y_lower - y_upper, each bound a pair (slack, multiplier) >= 0
// Unilateral rows and contacts without friction have lower = 0 and no upper bound, bilateral rows neither,
// and a row with lower = upper (or a tangent without friction) does not move.
//
// A Newton step from (x, y) with Nesterov-Todd scaling (Mangoni 4.14; math/jordan.h) is
//   dy = -rc - N2 dx,      G (W~ + R~) dx - dy = -rp,      G = I + e_n (w~_t / |w~_t|)^T (convex law: I)
// so that (G W~ + G R~ + N2) dx = -(rc + rp). In impulses dl = S dx it reads (P W + Q) dl = r with blocks
//   P = S^-1 G S,      Q = S^-1 N2 S^-1 + P R,      r = -S^-1 (rc + rp).
// Complementarity mu = x.y per pair; all pairs at mu lie on the central path.
#pragma once

#include <vector>

#include "tribo/math/jordan_n.h"
#include "tribo/problem/constraints.h"
#include "tribo/solve/law/by_rows.h"
#include "tribo/solve/systems/row_system.h"

namespace tribo {

class IpmCones {
 public:
  // Scales for this problem; allocates only when it is larger than those before.
  void prepare(const ContactProblem& problem);

  Index pair_count() const { return pair_count_; }
  bool has_cones() const { return !cones_.empty(); }
  double unit() const { return unit_; }             // c
  const Vector& scaling() const { return scale_; }  // S [rows]
  const Vector& x() const { return x_; }
  const Vector& y() const { return y_; }

  // ---- starting points ----

  // All pairs at (1, 1): Mangoni 4.5 without its affine step.
  void start_cold();
  // Both parts of every pair from given scaled impulses and velocities w~ + Gamma, pushed `margin` inside;
  // null: ones.
  void start_from(const Vector* x, const Vector* y, double margin);
  // After one affine step from the cold start: x = max(1, |x + dx|), the same for y (Mangoni 4.23).
  void start_clamped();
  // From the optimum z of the problem with a unit regularisation, x = z, y = -z, each moved inside by one
  // common shift (Mangoni 4.57).
  void start_shifted(const Vector& z);

  // ---- one iteration ----

  // Blocks of the Newton matrix at the present pairs and velocities w~, with compliance R [rows] and the
  // stiffness (scaled, > 0) given to bilateral rows; false where a pair has left its set.
  bool scale_pairs(const ContactProblem& problem, Law law, const Vector& compliance, const Vector& w,
                   double bilateral, RowBlocks& blocks);
  // De Saxce's term under the exact law: to += |w~_t| e_n of every cone; `to` may be w~ itself.
  void add_slip(Law law, const Vector& w, Vector& to) const;
  // rp = w~ + |w~_t| e_n - y, zero on rows that do not move.
  void primal_residual(Law law, const Vector& w, Vector& rp) const;
  // rc with target `mu` for every pair; `second_order` adds Mehrotra's term of the direction held now. Then
  // r = -S^-1 (rc + share * rp).
  void aim(double mu, bool second_order, double share, const Vector& rp, Vector& r);
  // Takes the solution dl = S dx of the Newton system and completes the direction.
  void set_direction(const Vector& dl);
  // Largest steps of x and of y that stay in the sets, times `margin`, at most 1.
  Vec2 step_lengths(double margin) const;
  double mu() const { return mu_at(0.0, 0.0); }
  double mu_at(double step_x, double step_y) const;
  // Whether after the step every pair's eigenvalues stay above `fraction` of the mean.
  bool is_central_at(double step, double fraction) const;
  void move(double step_x, double step_y);

 private:
  struct Side {  // one bound of a scalar row
    bool active = false;
    double slack = 1.0, dual = 1.0;
    double rc = 0.0, d_slack = 0.0, d_dual = 0.0;
    double aim(double mu, bool second_order) {
      return rc = dual + ((second_order ? d_slack * d_dual : 0.0) - mu) / slack;
    }
    double direct(double d) {
      d_slack = d;
      return d_dual = -rc - dual / slack * d;
    }
  };
  struct Scalar {
    Index constraint, row;
    double lower, upper;  // scaled
    Side low, high;
    bool fixed = false;
    double stiffness() const {
      return (low.active ? low.dual / low.slack : 0.0) + (high.active ? high.dual / high.slack : 0.0);
    }
  };
  template <int N>
  struct Cone {
    static constexpr int kRows = N;
    Index constraint, row;
    double mu;
    NesterovToddOf<N> scaling;
    VecN<N> centre = VecN<N>::Zero();  // N y = N^-1 x
    MatN<N> n = MatN<N>::Zero(), n_inverse = MatN<N>::Zero(), n2 = MatN<N>::Zero();

    VecN<N> get(const Vector& v) const { return v.segment<N>(row); }
    auto rows(Vector& v) const { return v.segment<N>(row); }
  };

  void set_scaling(const ContactProblem& problem, Index i);
  void add_blocks(const ContactProblem& problem, Index i);
  void add_scalar(Index constraint, Index row, double lower, double upper);
  // Puts a scalar row at `wish`, `margin` inside its bounds, with multipliers for the velocity w~.
  void place(Scalar& scalar, double wish, double w, double margin);
  void clear_fixed(Vector& rows) const;
  template <int N>
  bool scale_cone(Cone<N>& cone, Law law, const Vector& compliance, const Vector& w, RowBlocks& blocks);
  template <class Action>
  void for_each_side(const Action& action) const {
    for (const Scalar& scalar : scalars_) {
      if (scalar.low.active) action(scalar.low);
      if (scalar.high.active) action(scalar.high);
    }
  }

  ByRows<Cone> cones_;
  std::vector<Scalar> scalars_;
  Vector scale_, x_, y_, dx_, dy_, rc_;  // [rows]
  std::vector<Index> fixed_rows_;
  double unit_ = 1.0;
  Index pair_count_ = 0;
};

}  // namespace tribo
