// Problems with sparse trees, and the same problems with all trees dense.
#pragma once

#include <Eigen/SparseCore>
#include <span>
#include <vector>

#include "tests/support/random.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo::test {

// Masses and springs of random directions along the edges of a lattice of a x b x c nodes, three degrees of freedom each, node
// (x, y, z) being number (x * b + y) * c + z: M + K, K of the size `stiffness` times that of M.
Eigen::SparseMatrix<double> lattice_mass(Random& random, Index a, Index b, Index c, double stiffness);

// Random symmetric positive definite with about so many entries off the diagonal of every column.
Eigen::SparseMatrix<double> random_sparse_spd(Random& random, Index size, double per_column);

struct TwinProblems {
  ContactProblem sparse, dense;
};

// Writes into two builders: one gets sparse trees, the other the same trees dense.
class TwinBuilder {
 public:
  Index add_sparse_tree(const Eigen::SparseMatrix<double>& mass, const Vector& momentum);
  Index add_tree(const Matrix& mass, const Vector& momentum);
  void add_contact(double friction, const std::vector<JacobianPiece>& pieces, const Vec3& bias = Vec3::Zero(),
                   const Vec3& compliance = Vec3::Zero());
  void add_unilateral(const std::vector<JacobianPiece>& pieces, double bias = 0.0, double compliance = 0.0);
  void add_bilateral(const std::vector<JacobianPiece>& pieces, double bias = 0.0, double compliance = 0.0);
  void add_box(double lower, double upper, const std::vector<JacobianPiece>& pieces);
  TwinProblems build();

 private:
  std::vector<JacobianPiece> dense_pieces(const std::vector<JacobianPiece>& pieces) const;

  ContactProblemBuilder sparse_, dense_;
  std::vector<Index> sizes_;  // of the sparse trees, 0: dense
};

// A soft block that slides over the ground, with a rigid body on four of its upper nodes, tied to it at one node, beside a
// rigid body alone; contacts, unilateral, bilateral and box rows. `compliance` of the rows, relative to the scale.
TwinProblems soft_block(unsigned seed, double compliance = 0.0, Index side = 3);

}  // namespace tribo::test
