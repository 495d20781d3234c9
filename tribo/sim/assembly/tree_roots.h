// Coordinates in which the matrix A of a step is the identity: with A_t = L^T L (L with the sparsity of the tree's
// branches) the constraints of a tree see
//
//   v' = L v,   b' = L^-T b,   J' = J L^-1,   A' = 1
//
// so that W = J' J'^T needs no factorisation of A at all, and a row of J' has zeros wherever that of J has. A free body
// with its frame at the centre of mass takes a closed form: 1 / sqrt(m), and a 3 x 3 root of its inertia.
#pragma once

#include <span>
#include <vector>

#include "tribo/linalg/tree_matrix.h"
#include "tribo/multibody/model.h"

namespace tribo {

class TreeRoots {
 public:
  explicit TreeRoots(const Model& model);

  // A of a tree, dense, column-major; `same`: unchanged since the last call. False if it is not positive definite.
  bool set(Index tree, const double* matrix, bool same);
  // A of a tree that is more than a body: its M and, where it is given, a diagonal on top [n_t].
  bool set(Index tree, const TreeMatrix& mass, const double* diagonal);

  // out <- block L^-1; rows is 1, 3, 4 or 6; column-major; the two must not overlap. Behind the block there must be one more number
  // that may be read, behind `out` one that may be written.
  void transform(Index tree, Index rows, const double* block, double* out) const;
  // The same for up to kBlocks blocks of three rows on a tree that is more than a body; results one after the other.
  static constexpr Index kBlocks = TreeMatrix::kBlocks;
  bool is_body(Index tree) const { return simple_[tree]; }
  void transform_contacts(Index tree, std::span<const double* const> blocks, double* out) const;
  // b <- L^-T b and v' <- L^-1 v' of one tree.
  void transform_momentum(Index tree, double* momentum) const;
  void recover_velocity(Index tree, double* velocity) const;
  // x <- A^-1 x.
  void solve(Index tree, double* x) const;

 private:
  struct Body {
    double inverse_root_mass = 0.0;
    Mat3 inverse_root = Mat3::Zero();  // G with G G^T = I^-1
    bool diagonal = true;              // axes along the principal ones
  };
  template <int kRows>
  static void transform_body(const Body& body, const double* block, double* out);
  bool set_body(Index tree, const double* matrix);

  const Model* model_;
  std::vector<Index> item_;  // [trees] into bodies_ or factors_
  std::vector<bool> simple_;
  std::vector<Body> bodies_;
  std::vector<TreeMatrix> factors_;
};

}  // namespace tribo
