// Fills one ContactProblem again and again, as a simulator does every step: memory is kept, numbers are
// trusted (ContactProblemBuilder is the one that checks). Filling a problem of the same structure again
// allocates nothing.
//
// Example
//   ProblemFiller filler;
//   filler.begin(problem, 1);                                            // constraints to come
//   Index tree = filler.add_tree(6, mass, momentum);                     // column-major 6 x 6, [6]
//   filler.add_constraint({.kind = ConstraintKind::contact, .friction = 0.5, .bias = bias});
//   filler.add_piece(tree, block);                                       // column-major 3 x 6
//   if (!filler.finish()) ...                                            // a mass is not positive definite
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tribo/linalg/sparse_factor.h"
#include "tribo/problem/contact_problem.h"

namespace tribo {

class ProblemFiller {
 public:
  struct Constraint {
    ConstraintKind kind = ConstraintKind::contact;
    double friction = 0.0;
    double lower = 0.0, upper = 0.0;           // box, N s
    RowValues bias = RowValues::Zero();        // m/s; the first entries
    RowValues compliance = RowValues::Zero();  // m/s per N s
    std::uint64_t key = 0;
    // A contact in scaled rows (problem/elliptic_rows.h): how many, and their units [rows], which must stay until it is
    // added. 0: the usual 3 rows, or 1.
    Index scaled_rows = 0;
    const double* unit = nullptr;

    Index rows() const { return scaled_rows > 0 ? scaled_rows : rows_of(kind); }
    Interval interval() const {
      return kind == ConstraintKind::box ? Interval{lower, upper} : interval_of(kind);
    }
  };

  // Empties the problem, which must outlive finish(); exactly so many constraints will be added: one more is InvalidInput.
  void begin(ContactProblem& problem, Index constraints);
  // Trees first, then constraints, each followed by its pieces.
  Index add_tree(Index dofs, const double* mass, const double* momentum);
  // A tree in coordinates in which its mass is the identity; with only such trees nothing is factorised.
  Index add_unit_tree(Index dofs, const double* momentum);
  // A flexible body: its factorised A, which must not change as long as the problem or a copy of it lives (the owner
  // asks use_count()); see problem/sparse_trees.h.
  Index add_sparse_tree(const std::shared_ptr<const SparseFactor>& mass, const double* momentum);
  void add_constraint(const Constraint& constraint);
  // Returns where the copy lies, for changes before the next call; without a block, to be filled. Pieces lie one after
  // the other.
  double* add_piece(Index tree, const double* block);
  double* add_piece(Index tree);
  // Columns first_dof ... first_dof + columns - 1 of a sparse tree (a node: 3 of them), column-major rows x columns. A
  // constraint may have several such pieces on one tree; they are added up where they overlap.
  void add_sparse_piece(Index tree, Index first_dof, Index columns, const double* block);
  // What solvers that split by bodies want to know, see tree_structure.h: of the tree added last (6 x dofs) ...
  void set_articulation(std::span<const Index> parent, const double* motion);
  // ... and of the piece added last, whose bodies add up to it (rows x 6).
  void add_body(Index dof, const double* block);
  // Factorises and derives. False: the mass of a tree is not positive definite, or constraints are missing; the problem is
  // unusable.
  bool finish();

 private:
  void reserve_rows(Index rows);

  ContactProblem* problem_ = nullptr;
  Index added_ = 0, rows_ = 0;
  std::vector<double> momentum_, bias_, compliance_, unit_;
  bool scaled_ = false;
  std::shared_ptr<SparseTrees> memory_;  // of the sparse trees of the problem filled last
  Vector velocity_;
  Matrix columns_;
};

}  // namespace tribo
