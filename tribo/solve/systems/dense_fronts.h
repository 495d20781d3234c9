// Newton matrix H = I + X D X^T (solve/dense_newton.h) of a robot with branches. A row of one limb touches its joints and
// what they hang on, so that X and H are mostly zeros: of a humanoid with 29 degrees of freedom that stands, a dry
// friction row and a drive per joint, 63 % of X. Constraints with nearly the same degrees of freedom form a front, a small dense matrix. Degrees of
// freedom of one front only are eliminated there; those of several (the base) are the shared ones:
//   [A  B]
//   [C  S]   A own, S shared:   H_shared = I + sum over fronts (S - C A^-1 B).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tribo/linalg/group_blocks.h"
#include "tribo/problem/contact_problem.h"
#include "tribo/solve/systems/dense_whitened_jacobian.h"

namespace tribo {

class DenseFronts {
 public:
  // False where X has not enough zeros to be worth it. Allocates only for more entries than ever before; `problem` must
  // stay.
  bool assemble(const ContactProblem& problem, const DenseWhitenedJacobian& whitened);

  // target += sign X lambda, [dofs].
  void add_impulses(const Vector& impulse, double sign, Vector& target);
  // u = X^T y.
  void multiply_transposed(const Vector& y, Vector& u);

  // False for a singular or not finite matrix.
  bool factorize(const GroupBlocks& derivative);
  // After the derivatives of these constraints alone have changed: only their fronts are factorised again.
  bool factorize_again(const GroupBlocks& derivative, std::span<const Index> changed);
  // r <- H^-1 r, [dofs].
  void solve_in_place(double* r);

 private:
  using Support = std::array<std::uint64_t, 2>;  // a bit per degree of freedom
  struct Front {
    Support support;
    Index rows = 0, constraints = 0;  // how many
    Index own = 0, size = 0;          // degrees of freedom: own ones, all
    Index constraint_begin = 0, row_begin = 0, dof_begin = 0;
    std::size_t columns = 0, matrix = 0;  // where they begin
    Index stride = 0;                     // of the matrix
    bool stale = true;
  };

  void find_supports(const DenseWhitenedJacobian& whitened);
  void deal_constraints();
  bool is_worth_it() const;
  void number_dofs();
  void copy_columns(const DenseWhitenedJacobian& whitened);
  bool factorize_stale(const GroupBlocks& derivative);
  void form(const Front& front, const GroupBlocks& derivative);
  bool eliminate(const Front& front);
  bool factorize_shared();

  const ContactProblem* problem_ = nullptr;
  Index dofs_ = 0;
  bool worth_it_ = false;
  std::vector<char> rows_of_, last_rows_of_;
  std::vector<Support> last_support_;
  std::vector<Support> support_;         // of the constraints
  std::vector<Index> order_, front_of_;  // constraints by falling number of degrees of freedom; their fronts
  std::vector<Front> fronts_;
  std::vector<Index> constraint_, row_,
      dof_;  // of the fronts, one after the other; own degrees of freedom first
  std::vector<Index> shared_, shared_place_;  // degrees of freedom; their numbers among the shared ones
  Numbers columns_;                           // X of the fronts
  Numbers matrix_, shared_matrix_;            // factors of A, A^-1 B, C, S - C A^-1 B
  std::vector<int> exchanges_, shared_exchanges_;
  Numbers active_, weighted_, part_, shared_part_, rows_part_;
};

}  // namespace tribo
