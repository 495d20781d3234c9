// Symmetric matrix with branch-induced sparsity: entry (k, l) may differ from zero only where k is an
// ancestor of l in a tree of degrees of freedom, or the other way round (Featherstone 2008, ch. 6). The mass
// matrix of an articulated body has this shape, and so has A_j + sum beta J^T J after the split per body,
// Lee et al. (2024) (40).
//
// Row d is packed: one entry for every dof on the path from the root to d, in this order, and zeros up to a multiple of
// four, so that loops over rows need no remainder. The factorisation
// H = L^T L runs from the leaves to the root and creates no fill. With n_d the length of the path of d:
// storage and product sum n_d, factorisation sum n_d^2 / 2, a solve 2 sum n_d. For a chain (parent d - 1)
// this is the dense case.
//
// Example:
//   TreeMatrix mass(parent);            // parent[d] < d, -1 at a root
//   mass.assign(dense_mass);
//   TreeMatrix factor = mass;
//   factor.add_body_inertias(motion, inertias);
//   if (factor.factorize()) factor.solve_in_place(x);
#pragma once

#include <span>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

class TreeMatrix {
 public:
  using Mat6 = Eigen::Matrix<double, 6, 6>;
  using Motion = Eigen::Matrix<double, 6, Eigen::Dynamic>;

  TreeMatrix() = default;
  explicit TreeMatrix(std::span<const Index> parent) { analyze(parent); }

  // Does nothing, and allocates nothing, when the tree is the one analysed before.
  void analyze(std::span<const Index> parent);

  Index size() const { return static_cast<Index>(parent_.size()); }
  std::size_t entry_count() const { return entry_count_; }
  bool on_path(Index ancestor, Index dof) const {
    return depth_[dof] >= depth_[ancestor] && path(dof)[depth_[ancestor]] == ancestor;
  }

  // Takes the entries of the pattern from the lower triangle; what lies outside is ignored.
  void assign(const Eigen::Ref<const Matrix>& dense);
  Matrix to_dense() const;
  void write_dense(double* dense) const;  // [size x size], all of it
  // The entries of a matrix on the same tree, with `diagonal` [size] added where it is given.
  void assign(const TreeMatrix& other, const double* diagonal);
  // Row d: its entries, one for every dof on the path from the root to d, and which dofs these are.
  double* row(Index d) { return values_.data() + start_[d]; }
  const double* row(Index d) const { return values_.data() + start_[d]; }
  std::span<const Index> path(Index d) const {
    return {path_.data() + start_[d], static_cast<std::size_t>(depth_[d] + 1)};
  }

  // Composite rigid body algorithm: adds sum_b J_b^T I_b J_b with J_b the columns of `motion` on the path of
  // b; `inertia` [dofs], symmetric, is overwritten by the composite inertias.
  void add_body_inertias(const Motion& motion, std::span<Mat6> inertia);
  // Adds B^T diag(weights) B for a block of rows on the dofs [first, first + cols); its non-zero columns must
  // lie on one path.
  void add_rows(Index first, const Eigen::Ref<const Matrix>& block, const Eigen::Ref<const Vector>& weights);

  // y = H x and 1/2 x . H x, before factorize().
  void multiply(const double* x, double* y) const;
  double energy(const double* x) const;

  // Replaces H by its factor. False if a pivot is not positive.
  bool factorize();
  // x <- H^-1 x, after factorize().
  void solve_in_place(double* x) const;
  // Its halves: x <- L^-T x, x <- L^-1 x.
  void solve_transposed_in_place(double* x) const;
  void solve_lower_in_place(double* x) const;
  // block <- block L^-1 for 1 or 3 rows, column-major: Jacobians in the coordinates L v, in which H is the
  // identity. A row that lives on one path stays on it. Cost: squares of the paths touched.
  void transform_row(double* row) const { solve_transposed_in_place(row); }
  // The same out of place for any number of rows of a constraint.
  void transform_rows(Index rows, const double* block, double* out) const;
  // Several blocks of three rows at a time; the results one after the other. Behind each block there must be one more number
  // that may be read, and one behind the last result that may be written.
  static constexpr Index kBlocks = 4;
  void transform_three_rows(std::span<const double* const> blocks, double* out) const;

 private:
  template <int kFours>
  void transform_packed(std::span<const double* const> blocks, double* out) const;
  template <int N>
  void transform_in_place(double* block) const;

  std::vector<Index> parent_, depth_;
  std::vector<Index> start_;  // [n + 1] first entry of row d
  std::size_t entry_count_ = 0;
  std::vector<Index> path_;  // columns of the entries
  Numbers values_;
  std::vector<double> inverse_;  // [n] 1 / L_dd, after factorize(): solves wait for each pivot in turn
};

}  // namespace tribo
