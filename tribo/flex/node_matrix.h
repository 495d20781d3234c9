// Symmetric sparse matrices over the nodes of a mesh, 3 x 3 blocks where two nodes share an element: mass, stiffness, and
// what an implicit step makes of them. The pattern is that of the mesh and never changes; matrices over it share it. Stored are
// the blocks (i, j), i <= j, by rows.
//
// Example
//   auto pattern = std::make_shared<const NodePattern>(mesh);
//   NodeMatrix a(pattern);                            // zero
//   a.add_scaled(1.0, mass);  a.add_scaled(h * h, stiffness);
//   NodeFactor factor(*pattern, fixed_nodes);
//   if (factor.factorize(a)) factor.solve(x);         // rows of fixed nodes: x = 0
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "tribo/flex/tet_mesh.h"
#include "tribo/linalg/sparse_factor.h"

namespace tribo {

class NodePattern {
 public:
  explicit NodePattern(const TetMesh& mesh);

  Index node_count() const { return static_cast<Index>(row_start_.size()) - 1; }
  Index block_count() const { return static_cast<Index>(column_.size()); }
  Index row_begin(Index i) const { return row_start_[i]; }
  Index row_end(Index i) const { return row_start_[i + 1]; }
  Index column(Index k) const { return column_[k]; }
  // Of an element: where the block of its corners (a, b) is; it is the transposed one where a's node is the larger one.
  Index place(Index tet, int a, int b) const { return place_[tet][4 * a + b]; }

 private:
  std::vector<Index> row_start_, column_;
  std::vector<std::array<Index, 16>> place_;
};

class NodeMatrix {
 public:
  explicit NodeMatrix(std::shared_ptr<const NodePattern> pattern);

  const NodePattern& pattern() const { return *pattern_; }
  Index size() const { return 3 * pattern_->node_count(); }
  void set_zero();
  Mat3& block(Index k) { return blocks_[k]; }
  const Mat3& block(Index k) const { return blocks_[k]; }
  void add_scaled(double factor, const NodeMatrix& other);
  // y += factor * A x.
  void add_product(double factor, const Vector& x, Vector& y) const;
  Matrix to_dense() const;

 private:
  std::shared_ptr<const NodePattern> pattern_;
  std::vector<Mat3> blocks_;
};

// Cholesky factor of A with the rows and columns of fixed nodes replaced by those of the identity.
class NodeFactor {
 public:
  NodeFactor(const NodePattern& pattern, std::span<const Index> fixed);

  // False if A is not positive definite.
  bool factorize(const NodeMatrix& matrix);
  // x <- A^-1 x; zero at fixed nodes.
  void solve(Eigen::Ref<Vector> x);
  bool is_fixed(Index node) const { return fixed_[node] != 0; }
  void clear_fixed(Eigen::Ref<Vector> x) const;
  // The factor itself. Who keeps it keeps the numbers: the next factorize() then takes other memory.
  std::shared_ptr<const SparseFactor> factor() const { return factor_[current_]; }

 private:
  std::vector<char> fixed_;  // [nodes]
  std::vector<Index> start_, row_;
  std::vector<double> value_;  // lower triangle by columns
  std::vector<std::shared_ptr<SparseFactor>> factor_;
  std::size_t current_ = 0;
  SparseFactor::Scratch scratch_;
};

}  // namespace tribo
