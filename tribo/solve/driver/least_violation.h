// The velocity that violates the demands of a problem least, and the proof that none meets them.
//
//   min over v of  1/2 sum_i viol_i(J v + e)^2 / w_i        demands and proofs: problem/infeasibility.h
//
// At a minimum y_i = viol_i / w_i has J^T y = 0 and y . e = -sum w_i y_i^2: unless nothing is violated, y is the ray
// of Farkas' lemma. The minimum is found by the proximal point method from the free motion,
//   v_k+1 = argmin delta/2 |v - v_k|_B^2 + 1/2 sum_i viol_i(J v + e)^2 / w_i,
// each step a piecewise quadratic function for Newton's method with exact line search (solve/law/convex_potential.h).
// Weights: B = s_t A_t on tree t and w_i = J_i B^-1 J_i^T, with s_t such that the mobilities J_it A_t^-1 J_it^T are
// s_t times a number of the constraint as nearly as possible (least squares of logarithms). Then light bodies count as
// much as heavy ones and mass ratios do not slow the method down, whatever the units of rows and coordinates.
// The ray is then cleared of what the proximal term left in it: y -= D J H^-1 (J^T y), H = delta B + J^T D J the last
// Newton matrix, J^T y summed in long double, which leaves about delta of it each time.
//
// Cost: some 3 to 15 factorisations of H.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tribo/linalg/kernels/primal_kernel.h"
#include "tribo/problem/infeasibility.h"
#include "tribo/solve/law/convex_potential.h"

namespace tribo {

class LeastViolation {
 public:
  // The proof that the problem has no solution; nothing where none was found, where a factorisation takes more than
  // `most_flops` multiply-adds, or where `interrupt` (may be null) said to stop. Deterministic. Not to be asked where rest_meets_demands(): there is none.
  std::optional<Contradiction> prove(const ContactProblem& problem, Law law, double most_flops,
                                     const std::function<bool()>* interrupt = nullptr);

  // Of the last proof: the velocity of least violation [dofs], and J v + e [rows].
  const Vector& velocity() const { return v_; }
  const Vector& constraint_velocity() const { return u_; }

  Index factorizations() const { return factorizations_; }  // of the last call
  // The last call did not begin, since a factorisation takes too much.
  bool was_too_expensive() const { return too_expensive_; }

 private:
  void weigh(const ContactProblem& problem);
  Eigen::Map<Matrix> scratch(Index rows, Index cols);
  void place(const ContactProblem& problem, const Vector& v);
  bool minimize(const ContactProblem& problem, const std::function<bool()>* interrupt);
  double step_length(double slope) const;
  void find_parts(const ContactProblem& problem);
  Index part_of(Index tree);
  bool has_converged(const ContactProblem& problem);
  bool is_met(const ContactProblem& problem);
  std::optional<Contradiction> judge(const ContactProblem& problem, Law law);
  void refine(const ContactProblem& problem, Law law);

  PrimalKernel kernel_;
  ConvexPotential potential_;  // the squared violations over 2 delta w_i
  ContradictionCheck check_;
  BlockDiagonal weight_;             // B
  std::vector<double> tree_weight_;  // [trees] log s_t
  std::vector<double> mobility_;     // [pieces] log J_it A_t^-1 J_it^T
  std::vector<double> row_weight_;   // [constraints] delta w_i; log w_i before they are final
  std::vector<double> sum_;          // [trees]
  std::vector<Index> count_;         // [trees]
  GroupBlocks derivative_;           // D / delta
  Vector v_, center_, gradient_, direction_, weighted_;  // [dofs]
  Vector u_, change_, ray_, pruned_;                     // [rows]
  Numbers scratch_;
  double linear_ = 0.0, quadratic_ = 0.0;  // of the proximal term along the direction
  // Trees that constraints connect form a part; parts are judged by themselves, since none of them says anything about
  // the size of another's violations.
  std::vector<Index> part_;  // [trees] another tree of the part, itself at its root
  std::vector<double> size_,
      found_;  // [trees] of a root: of the velocities in the ray's norm; what is_met() sums up
  Index factorizations_ = 0;
  bool too_expensive_ = false;
};

}  // namespace tribo
