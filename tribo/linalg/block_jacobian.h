// Constraint Jacobian J in blocks: each constraint (a group of 1, 3, 4 or 6 rows) touches one, two or more trees,
// and is dense on each of them.
//
//   group g  rows [row_start(g), row_start(g+1))  pieces [piece_begin(g), piece_end(g))
//   piece p  dense rows x dofs block on tree piece_tree(p), whose first degree of freedom is piece_dof(p)
//
// Pieces are stored column-major in one flat array. Cost of J v or J^T f: the number of stored entries.
#pragma once

#include <cstddef>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

class BlockJacobian {
 public:
  using Piece = Eigen::Map<const Matrix>;

  void reserve(Index groups, Index pieces, std::size_t entries);

  void clear();  // keeps the memory

  // Starts a new constraint of `rows` rows without any piece; returns its index.
  Index add_group(Index rows);

  // Adds a piece to the last group. `first_dof` is the tree's first degree of freedom; a tree may occur once
  // per group.
  void add_piece(Index tree, Index first_dof, const Eigen::Ref<const Matrix>& block);

  // The same for a block that the caller fills at once, column-major; its numbers are whatever lay there. The number behind
  // it may be overwritten until the next piece is added.
  double* add_piece(Index tree, Index first_dof, Index cols);

  Index group_count() const { return static_cast<Index>(row_start_.size()) - 1; }
  Index row_count() const { return row_start_.back(); }
  Index row_start(Index g) const { return row_start_[g]; }
  Index rows(Index g) const { return row_start_[g + 1] - row_start_[g]; }
  Index most_rows() const { return most_rows_; }  // of a group
  Index piece_count() const { return static_cast<Index>(pieces_.size()); }
  Index piece_begin(Index g) const { return piece_start_[g]; }
  Index piece_end(Index g) const { return piece_start_[g + 1]; }
  Index piece_tree(Index p) const { return pieces_[p].tree; }
  Index piece_dof(Index p) const { return pieces_[p].dof; }
  Index piece_cols(Index p) const { return pieces_[p].cols; }
  // Behind the last entry there is one more number that may be read.
  const double* piece_data(Index p) const { return data_.data() + pieces_[p].start; }
  Piece piece(Index g, Index p) const { return Piece(piece_data(p), rows(g), piece_cols(p)); }
  std::size_t entry_count() const { return used_; }

  bool operator==(const BlockJacobian& other) const;

  // u = J v.
  void multiply(const Eigen::Ref<const Vector>& v, Eigen::Ref<Vector> u) const;
  // f += J^T lambda.
  void add_transpose_product(const Eigen::Ref<const Vector>& lambda, Eigen::Ref<Vector> f) const;
  // u -= diag(weights) J v.
  void subtract_weighted_product(const Eigen::Ref<const Vector>& v, const Vector& weights,
                                 Eigen::Ref<Vector> u) const;

 private:
  struct Place {
    Index tree, dof, cols;
    std::size_t start;  // in data_
    bool operator==(const Place&) const = default;
  };

  template <class Action>
  void for_each_product(const Eigen::Ref<const Vector>& v, const Action& action) const;

  Index most_rows_ = 0;
  std::vector<Index> row_start_{0};
  std::vector<Index> piece_start_{0};
  std::vector<Place> pieces_;
  Numbers data_;  // as much as was ever needed: clearing what is filled at once costs as much as filling it
  std::size_t used_ = 0;
};

}  // namespace tribo
