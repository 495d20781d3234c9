// X = L^-1 J^T tree by tree: of every tree a dense matrix of the constraints that touch it, and the momentum in the
// coordinates y = L^T v, in which the mass is the identity. Coordinates that no constraint touches are left out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tribo/problem/contact_problem.h"

namespace tribo {

class TreeWhitenedJacobians {
 public:
  struct Tree {
    Index dof, dofs;   // coordinates [dof, dof + dofs) of y
    Index begin, end;  // its pieces
    Index rows;        // of all of them
  };
  // What one constraint does to one tree: columns of X, one after the other.
  struct Piece {
    Index constraint, row, rows;
    Index dof, dofs;    // of its tree
    std::size_t start;  // of its columns
  };

  // Allocates only for more than ever before. `problem` must stay.
  void assemble(const ContactProblem& problem);

  Index dofs() const { return static_cast<Index>(free_.size()); }  // that are touched
  const Vector& free() const { return free_; }                     // y_free [dofs]
  const Tree& tree(Index t) const { return trees_[t]; }
  std::span<const Piece> pieces(const Tree& tree) const {
    return {pieces_.data() + tree.begin, pieces_.data() + tree.end};
  }
  const double* columns(const Piece& piece) const { return values_.data() + piece.start; }
  std::size_t entry_count() const { return entry_count_; }
  // Constraints of more than one tree, and how many rows they have.
  bool couples(Index constraint) const { return couples_[constraint] != 0; }
  Index coupling_rows() const { return coupling_rows_; }

  // target += sign X lambda; zeros cost nothing.
  void add_impulses(const Vector& impulse, double sign, Vector& target) const;
  // u = X^T y.
  void multiply_transposed(const Vector& y, Vector& u) const;
  // The rows of one piece of X^T y, `y` being that of its tree.
  void products(const Piece& piece, const double* y, double* out) const;

 private:
  void list_pieces();
  void fill(Tree& tree, Index t);

  const ContactProblem* problem_ = nullptr;
  std::vector<Tree> trees_;
  std::vector<Piece> pieces_;
  std::vector<Index> source_, next_;  // pieces of the Jacobian in this order; where a tree's next one goes
  std::vector<std::uint8_t> couples_;
  std::vector<Index> touched_;
  Index coupling_rows_ = 0;
  std::size_t entry_count_ = 0;
  Numbers values_;
  Vector free_, whole_free_;
  std::vector<double> touched_free_;
  std::vector<char> is_touched_;
};

}  // namespace tribo
