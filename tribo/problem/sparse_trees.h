// Trees whose block of A is large and sparse (flexible bodies), and their exact condensation.
//
// Constraints touch few degrees of freedom c of such a tree. With C = (A^-1)_cc, the block of the inverse that belongs to
// them (W = J_c C J_c^T), and C = R R^T, the tree is to solvers one dense tree in the coordinates y, v_c = R y:
//
//   A' = 1,   b' = R^-1 (A^-1 b)_c,   J' = J_c R
//
// This is the Schur complement S = C^-1 on c in coordinates in which it is the identity; nothing is lost, and no inverse of
// S is formed. The motion of the rest follows: v = A^-1 (b + J^T lambda). The certificate is evaluated on A, b and J as they were
// given, by the sparse factor with residuals of extended precision, not on A', b' and J'.
//
// Vectors over "sparse dofs" hold the degrees of freedom of all sparse trees one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tribo/base/types.h"
#include "tribo/linalg/block_diagonal.h"
#include "tribo/linalg/block_jacobian.h"
#include "tribo/linalg/sparse_factor.h"

namespace tribo {

// Memory of the functions that solve with A; one per thread.
struct SparseScratch {
  Vector motion, dense;       // [sparse dofs], [dofs]
  Vector coordinates, known;  // of one tree
  SparseFactor::Scratch factor;
};

struct SparseTree {
  Index tree = 0;                            // its number among all trees
  std::shared_ptr<const SparseFactor> mass;  // A_t
  Index first = 0;                           // its first sparse dof
  std::vector<Index> touched;                // c: degrees of freedom of the tree, ascending; never empty
  Matrix root;                               // R^T, upper triangular
  Index coordinate = 0;                      // its first among the coordinates of the problem

  Index dofs() const { return mass->size(); }
  Index coordinates() const { return static_cast<Index>(touched.size()); }

 private:
  friend class SparseTrees;
  std::uint64_t root_version_ = 0;  // of the factor that `root` was made from
};

class SparseTrees {
 public:
  std::span<const SparseTree> trees() const { return {trees_.data(), static_cast<std::size_t>(count_)}; }
  Index dof_count() const { return static_cast<Index>(momentum_.size()); }  // sparse dofs
  // The sparse tree that is tree t of the problem; nullptr: t is dense.
  const SparseTree* find(Index t) const;
  const Vector& momentum() const { return momentum_; }  // b  [sparse dofs]
  const Vector& free_motion() const { return free_; }   // A^-1 b  [sparse dofs]
  // J of the sparse trees: groups are the constraints, piece_tree() counts the sparse trees, piece_dof() is a sparse dof. Pieces
  // are the runs of columns that are not zero, ascending, whatever pieces they were given in.
  const BlockJacobian& jacobian() const { return jacobian_; }

  // Gathering, in any order: trees, and the pieces of constraint after constraint.
  void clear();
  void add_tree(Index tree, std::shared_ptr<const SparseFactor> mass, const double* momentum);
  // Returns where the numbers of the piece go; `jacobian` knows the rows of the constraint and of those before.
  double* add_piece(const BlockJacobian& jacobian, Index constraint, Index tree, Index first_dof,
                    Index columns);
  // b of all trees, in which sparse ones have a single degree of freedom: before condense().
  void set_momentum(const std::vector<double>& momentum) {
    given_momentum_ = Eigen::Map<const Vector>(momentum.data(), static_cast<Index>(momentum.size()));
  }
  // Replaces the sparse trees in A and J, where they had a single degree of freedom and pieces without columns, by their
  // coordinates, and makes b. Returns -1, or the first tree whose (A^-1)_cc is not positive definite.
  static constexpr Index kSuccess = -1;
  Index condense(BlockDiagonal& mass, Vector& momentum, BlockJacobian& jacobian);

  // A^-1 (b + J^T lambda) of the sparse trees.
  void motion_of(const Vector& impulse, Vector& motion, SparseScratch& scratch) const;
  // motion <- A^-1 motion, tree by tree.
  void solve_in_place(Eigen::Ref<Vector> motion, SparseScratch& scratch) const;
  // The motion of least energy beyond `free` (the free motion, or none) whose touched part is that of the coordinates [dofs
  // of the problem].
  void extend(const Vector& coordinates, bool free, Vector& motion, SparseScratch& scratch) const;

  bool operator==(const SparseTrees& other) const;  // as they were given

 private:
  void add_groups(const BlockJacobian& jacobian, Index count);
  void sort_pieces();
  void add_sorted_columns(Index rows);
  void find_touched();
  bool find_root(SparseTree& tree);
  void condense_momentum(const BlockDiagonal& mass, Vector& momentum);
  void condense_piece(Index constraint, Index k, Index rows, double* out) const;

  std::vector<SparseTree> trees_;  // those from count_ on are memory only
  Index count_ = 0;
  std::vector<Index> place_;  // [trees up to the last sparse one] its place in trees_, -1: dense
  std::vector<double> gathered_;
  Vector momentum_, free_;
  BlockJacobian jacobian_;
  // Of condense(): memory.
  SparseScratch scratch_;
  struct Column {
    Index dof, number, tree;
    const double* data;
  };
  std::vector<Column> columns_;
  Numbers values_;
  std::vector<Index> dofs_, own_;
  Matrix inverse_;
  BlockDiagonal given_mass_;
  BlockJacobian given_jacobian_, unsorted_;
  Vector given_momentum_;
};

}  // namespace tribo
