// The velocity step of SubADMM and its ablations, per tree:
//
//   v_j <- v_j + H_j^-1 (b_j - A_j v_j + sum_i J_ij^T s_i),      H_j = A_j + sum over terms J^T B J   (34), (40)
//
// where B holds the penalties of the rows and s = 2 lambda_new - lambda_old. This is (34) with the slacks
// eliminated: by (35) and (39) every slack is z = J v + (lambda_new - lambda_old) / B, so that none is
// stored, and H acts only on a residual.
//
// H_j per tree: an explicit 6x6 inverse for a free body, the packed factor without fill for a tree split by
// bodies (virtual inertias (41), composite rigid body algorithm), a dense Cholesky factor otherwise; one
// factor of everything for Splitting::none. Trees are independent: they run in parallel, and the order of
// all sums is fixed by the problem, not by the threads.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tribo/base/workers.h"
#include "tribo/linalg/kernels/primal_kernel.h"
#include "tribo/solve/splitting/split_terms.h"

namespace tribo {

class SplitDynamics {
 public:
  // After `terms` was prepared; both must outlive the use.
  void prepare(const ContactProblem& problem, const SplitTerms& terms, Workers& workers);
  void set_interrupt(const std::function<bool()>* interrupt) { kernel_.set_interrupt(interrupt); }

  // Builds and factorises every H_j; `penalty` [rows] holds B. False if a matrix is not positive definite.
  bool factorize(const ContactProblem& problem, const SplitTerms& terms, const Vector& penalty,
                 Workers& workers);

  // Takes J^T s of one constraint, term by term: meant for the loop that computes s, while the blocks of J are
  // in the cache. Constraints may come from several threads at once.
  void push(const ContactProblem& problem, const SplitTerms& terms, Index constraint, const Vector& s);

  // change = H^-1 (b - A v + J^T s), [dofs]; s of all constraints as pushed last.
  void step(const ContactProblem& problem, const SplitTerms& terms, const Vector& v, Vector& change,
            Workers& workers);

  // V of tree `tree` from its v.
  void extend(const ContactProblem& problem, const SplitTerms& terms, Index tree, const double* v,
              double* extended) const;

  // Pushes lambda. |b - A v + J^T lambda| in the norm of A^-1: the dual residual (42) as the root of an energy, sqrt(J).
  double momentum_residual(const ContactProblem& problem, const SplitTerms& terms, const Vector& v,
                           const Vector& lambda, Workers& workers);

  std::size_t byte_count() const;

 private:
  using Mat6 = TreeMatrix::Mat6;

  bool factorize_tree(const ContactProblem& problem, const SplitTerms& terms, const Vector& penalty,
                      Index tree, Index worker);
  void assemble_articulated(const ContactProblem& problem, const SplitTerms& terms, const Vector& penalty,
                            Index tree, Index worker);
  // b - A v + J^T s of one tree, [dofs of the tree].
  void residual(const ContactProblem& problem, const SplitTerms& terms, Index tree, const Vector& v,
                double* out, Index worker);

  std::vector<std::size_t> factor_start_;  // [trees] into factors_; 6x6: inverse, otherwise lower factor
  Numbers factors_;
  Numbers forces_;                                   // J^T s per term, see SplitTerms
  std::vector<TreeMatrix> tree_mass_, tree_factor_;  // [articulated]
  PrimalKernel kernel_;                              // Splitting::none
  std::vector<Vector> wrench_;                       // [workers] extended force of one tree
  std::vector<std::vector<Mat6>> inertia_;           // [workers] virtual inertias of one tree
  std::vector<Vector> scratch_;                      // [workers]
  Numbers partial_;                                  // [trees]
  std::vector<char> failed_;                         // [trees]
};

}  // namespace tribo
