// Proof that a problem has no solution.
//
// Whatever the impulses, every solution asks something of the velocity v alone ("demands"):
//   contact      w_n = (J v + e)_n >= 0 where its normal is rigid; convex law: w in K* where all its rows are
//   unilateral   w >= 0,    bilateral   w = 0,    box with one or two infinite bounds   w >= 0, w <= 0 or w = 0
// and rows with compliance or with finite bounds on both sides ask nothing: an impulse exists for any velocity.
// By Farkas' lemma no v meets the demands if and only if there is a ray y in the dual cone of the demands (y >= 0 on
// contacts' normals and unilateral rows, any sign on bilateral ones, in K under the convex law, 0 where nothing is
// asked) with
//   J^T y = 0,   y . e < 0.
// Friction cannot repair that. Tangential entries of y prove nothing under the exact law, where lambda . hat w holds
// mu |w_t| lambda_n: they must be 0.
//
// In floating point J^T y is small, not zero. For every v that meets the demands 0 <= y . (J v + e), hence
//   gain = -y . e  <=  (J^T y) . v  <=  sum over trees t of  |J^T y|_t |v|_t      norms of A_t^-1 and A_t, sqrt(J)
// so v would have to be `speed_ratio` = gain / sum |J^T y|_t S_t times as fast as the trees are, S_t the larger of
// their free motion and of what the demands in the ray ask for. Sums are taken in long double and their rounding
// errors count against the proof. For problems given by W the same with W^T y in the place of J^T y and impulses in
// that of velocities.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tribo/problem/contact_problem.h"

namespace tribo {

// What a constraint asks of its velocity; contacts: of the normal one (or of all three: `dual_cone`).
enum class Demand : std::uint8_t { none, at_least_zero, at_most_zero, zero, dual_cone };

Demand demand_of(const ContactProblem& problem, Index i, Law law);

// v = 0 meets all demands: the problem is not contradictory, whatever else it is.
bool rest_meets_demands(const ContactProblem& problem, Law law);

// How far the velocities u [rows] are from what is demanded, relative to the free velocity |q_i| of each constraint: the
// largest of all. Infinite where one without a free velocity is violated.
double relative_violation(const ContactProblem& problem, const Vector& velocity, Law law);

struct Contradiction {
  Vector ray;                      // y [rows], the largest |y_i| sqrt(w_i) is 1
  std::vector<Index> constraints;  // that take part in it
  std::vector<double> shares;      // of each of them, |y_i| sqrt(w_i); sum 1
  double violation = 0.0;          // gain / sum |y_i|, m/s: every v violates a demand by at least this
  double speed_ratio = 0.0;        // see above; infinite where J^T y = 0 exactly
};

// From this speed ratio on a ray is accepted as a proof: 1 / sqrt(2^-52). A velocity beyond it has so much more
// kinetic energy than the free motion that double precision cannot add the two. Idle rows (ContactProblem::is_idle)
// count as such from the same ratio on.
inline constexpr double kProofSpeedRatio = 0x1p26;

// Judges rays, whoever found them. Keeps its buffers.
class ContradictionCheck {
 public:
  // The proof, or nothing where `ray` [rows] is none: wrong signs, no gain, a velocity within reach.
  std::optional<Contradiction> prove(const ContactProblem& problem, const Vector& ray, Law law);

  // The same two numbers for any ray with admissible signs, without judging them; false for wrong signs.
  bool measure(const ContactProblem& problem, const Vector& ray, Law law, double& gain, double& resistance);

  // J^T y, [dofs], from sums in long double.
  void transpose_product(const ContactProblem& problem, const Vector& ray, Vector& out);

 private:
  void sum_columns(const ContactProblem& problem, const Vector& ray);
  double tree_resistance(const ContactProblem& problem, const Vector& ray);
  double row_resistance(const ContactProblem& problem, const Vector& ray);

  std::vector<long double> sum_, size_;  // [dofs] or, given W, [rows]: J^T y and sum of |J| |y|
  Numbers inverse_;                      // L^-1 of a tree, and a column
  std::vector<double> speed_;            // [trees] S_t, < 0: not touched
};

std::optional<Contradiction> prove_contradiction(const ContactProblem& problem, const Vector& ray,
                                                 Law law = Law::exact);

}  // namespace tribo
