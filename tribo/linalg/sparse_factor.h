// A sparse symmetric positive definite matrix, A = M + h D + h^2 K of a finite element mesh, and its Cholesky factor
// P A P^T = L L^T by supernodes (Duff and Reid 1983; Liu, SIAM Review 34, 1992).
//
// Made for time stepping: the order, the fill and the places of all entries are kept while the pattern stays, and the
// factor is kept while the numbers stay. Everything but factorize() is const and may be called from several threads, each
// with a scratch of its own. Cost for a three-dimensional mesh of n degrees of freedom: about n^2 operations for a factor of
// n^(4/3) entries; docs/inside-the-solvers.md has measured numbers.
//
// Example
//   auto mass = std::make_shared<SparseFactor>();
//   if (mass->factorize(lower) != SparseFactor::kSuccess) ...   // not positive definite
//   mass->solve_in_place(x, scratch);                           // x <- A^-1 x
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tribo/base/types.h"
#include "tribo/linalg/supernodes.h"

namespace tribo {

// The lower triangle of a symmetric matrix by columns: rows ascending in every column, the diagonal first.
struct LowerColumns {
  Index size = 0;
  std::span<const Index> start;  // [size + 1]
  std::span<const Index> row;    // [entries]
  std::span<const double> value;
};

class SparseFactor {
 public:
  static constexpr bool kSuccess = true;

  // Memory for the const functions, grow-only: one per thread.
  struct Path {
    Index from = 0, own = 0, to = 0;  // columns that are not zero at a supernode; its own begin with `own`
    std::size_t place = 0;
  };
  struct Scratch {
    Numbers numbers;
    std::vector<Index> rank;
    std::vector<Path> path;
  };

  // Copies the matrix and factorises it where its numbers are new. False: it is not positive definite, and nothing but
  // factorize() may be called.
  bool factorize(const LowerColumns& lower);

  Index size() const { return static_cast<Index>(start_.size()) - 1; }
  LowerColumns lower() const { return {size(), start_, row_, value_}; }
  const SupernodePlan& plan() const { return plan_; }
  // Changes with the numbers, and is that of no other matrix but copies.
  std::uint64_t version() const { return version_; }
  // max_k A_kk / L_kk^2 >= 1: what solving magnifies rounding by, at most.
  double growth() const { return growth_; }

  // y = A x.
  void multiply(const double* x, double* y) const;
  // x <- A^-1 x.
  void solve_in_place(double* x, Scratch& scratch) const;
  // The block of A^-1 of these degrees of freedom, ascending: only the columns of L on their paths to the root of the
  // elimination are visited.
  void inverse_block(std::span<const Index> dofs, Matrix& inverse, Scratch& scratch) const;

  bool operator==(const SparseFactor& other) const;  // the same matrix

 private:
  bool same_pattern(const LowerColumns& lower) const;
  bool eliminate();
  void add_child(Index child, double* parent_update);
  std::size_t find_paths(std::span<const Index> dofs, Scratch& scratch) const;

  std::vector<Index> start_{0}, row_;
  std::vector<double> value_;
  SupernodePlan plan_;
  Numbers factor_, stack_;
  std::vector<std::size_t> update_;  // [supernodes] where their update matrices lie on the stack
  std::uint64_t version_ = 0;
  double growth_ = 1.0;
  bool usable_ = false;
};

}  // namespace tribo
