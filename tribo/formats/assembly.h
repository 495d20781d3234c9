// From the sparse matrices of a file to a ContactProblem; shared by the FCLIB and the Siconos reader and the
// writer.
//
// Primal (global) form: M v = J^T lambda + f, u = J v + e. The trees are the connected components of M's
// pattern. A file whose M is not symmetric (implicit gyroscopic terms) has no energy metric, which A must be;
// then
//   W = J M^-1 J^T,   q = J M^-1 f + e
// are formed tree by tree and the problem continues in Delassus form. Cost: one dense factorisation per tree.
//
// Dual (local, Delassus) form: u = W lambda + q, through lift().
#pragma once

#include <string>
#include <vector>

#include "tribo/problem/contact_problem.h"
#include "tribo/problem/lift.h"

namespace tribo::detail {

// Coordinate form; entries with the same place add up.
struct SparseMatrix {
  Index rows = 0;
  Index cols = 0;
  std::vector<ScalarTriplet> entries;
};

// Where the rows of a file stand in memory. Files have the contacts first, each with its normal first, (n,
// t1, t2) or (n, t) in the plane; then bilateral rows; the rest ("extra": unilateral and box rows) only in
// tribo's own group. In memory the constraints stand in the problem's order, contacts as (t1, t2, n).
struct RowMap {
  std::vector<Index> contact;    // [dimension * contacts]
  std::vector<Index> bilateral;  // [bilateral rows]
  std::vector<Index> extra;      // [unilateral and box rows]
  Index rows = 0;                // all rows in memory
};

RowMap map_rows(const std::vector<ConstraintSpec>& constraints, Index space_dimension);

// First row of every constraint, and the number of rows at the end.
std::vector<Index> row_starts(const std::vector<ConstraintSpec>& constraints);

// to[map[k]] = from[k]; entries whose place is negative have none in memory.
void scatter(const Vector& from, const std::vector<Index>& map, Vector& to);
// from[map[k]] for all k.
Vector gather(const Vector& from, const std::vector<Index>& map);

struct PrimalParts {
  std::vector<ConstraintSpec> constraints;
  SparseMatrix mass;      // M     [dofs x dofs]
  Vector momentum;        // f     [dofs]
  SparseMatrix jacobian;  // J^T   [dofs x rows], columns in memory order
  Vector bias;            // e     [rows]

  // Degrees of freedom of one free body: trees that all fit into consecutive groups of so many are merged
  // into them, since one 6x6 block is much cheaper for every solver than six 1x1 blocks.
  Index body_size = 6;
  // The exact partition, where it is known; otherwise found in the patterns of M and J.
  std::vector<Index> tree_sizes;  // [trees]        consecutive
  std::vector<Index>
      sparse_trees;  // those whose mass is a sparse block; where the partition is not known, large sparse ones
  std::vector<Index> piece_count;  // [constraints]  how many trees the constraint touches
  std::vector<Index> piece_tree;   // [pieces]       which
  // The explicit W of a problem in Delassus form whose A and J are nevertheless given; none if it has no
  // rows.
  SparseMatrix delassus;
};

struct DualParts {
  std::vector<ConstraintSpec> constraints;
  SparseMatrix delassus;  // W  [rows x rows], memory order
  Vector free_velocity;   // q  [rows]
};

// Indices must be in range; everything else is checked here or by the builder (InvalidInput). `indefinite`: of a W
// that has to be lifted.
ContactProblem assemble(const PrimalParts& parts, IndefiniteShare* indefinite = nullptr);
ContactProblem assemble(const DualParts& parts, IndefiniteShare* indefinite = nullptr);

// What a reader says about a W that is indefinite by rounding: none or one warning.
std::vector<std::string> warnings_of(const IndefiniteShare& indefinite);

}  // namespace tribo::detail
