#include "tribo/solve/systems/tree_whitened_jacobians.h"

#include <algorithm>
#include <cmath>

#include "tribo/linalg/whitened_jacobian.h"
#include "tribo/solve/systems/dense_whitened_jacobian.h"

namespace tribo {

void TreeWhitenedJacobians::assemble(const ContactProblem& problem) {
  problem_ = &problem;
  list_pieces();
  whole_free_ = problem.momentum();
  problem.mass_factor().solve_lower_in_place(whole_free_);
  if (touched_free_.size() < static_cast<std::size_t>(problem.dof_count()))
    touched_free_.resize(problem.dof_count());
  std::size_t most = 0;
  for (Index t = 0; t < problem.tree_count(); ++t) {
    most += static_cast<std::size_t>(trees_[t].rows) * problem.mass().block_size(t);
  }
  if (values_.size() < most) values_.resize(most);
  entry_count_ = 0;
  Index dof = 0;
  for (Index t = 0; t < problem.tree_count(); ++t) {
    trees_[t].dof = dof;
    fill(trees_[t], t);
    dof += trees_[t].dofs;
  }
  free_ = Eigen::Map<const Vector>(touched_free_.data(), dof);
}

// Pieces of the Jacobian sorted by trees.
void TreeWhitenedJacobians::list_pieces() {
  const BlockJacobian& jacobian = problem_->jacobian();
  const Index trees = problem_->tree_count();
  trees_.assign(trees, Tree{});
  couples_.resize(problem_->constraint_count());
  coupling_rows_ = 0;
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    couples_[i] = jacobian.piece_end(i) - jacobian.piece_begin(i) > 1 ? 1 : 0;
    if (couples_[i] != 0) coupling_rows_ += problem_->rows(i);
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p)
      ++trees_[jacobian.piece_tree(p)].end;
  }
  next_.resize(trees);
  Index begin = 0;
  for (Index t = 0; t < trees; ++t) {
    trees_[t].begin = next_[t] = begin;
    begin = trees_[t].end += begin;
  }
  pieces_.resize(begin);
  source_.resize(begin);
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const Index t = jacobian.piece_tree(p), place = next_[t]++;
      pieces_[place] = {i, problem_->row(i), problem_->rows(i), 0, 0, 0};
      source_[place] = p;
      trees_[t].rows += problem_->rows(i);
    }
  }
}

void TreeWhitenedJacobians::fill(Tree& tree, Index t) {
  const BlockJacobian& jacobian = problem_->jacobian();
  const Index first = problem_->mass().block_start(t), n = problem_->mass().block_size(t);
  double* begin = values_.data() + entry_count_;
  double* target = begin;
  is_touched_.assign(n, 0);
  for (Index k = tree.begin; k < tree.end; ++k) {
    const Index rows = pieces_[k].rows;
    whiten_piece(problem_->mass_factor(), jacobian, pieces_[k].constraint, source_[k], target, n);
    for (Index r = 0; r < rows; ++r) {
      for (Index d = 0; d < n; ++d) is_touched_[d] |= static_cast<char>(target[r * n + d] != 0.0);
    }
    target += n * rows;
  }
  touched_.clear();
  for (Index d = 0; d < n; ++d) {
    if (is_touched_[d] == 0) continue;
    touched_free_[tree.dof + static_cast<Index>(touched_.size())] = whole_free_[first + d];
    touched_.push_back(d);
  }
  tree.dofs = static_cast<Index>(touched_.size());
  double* to = begin;
  const double* from = begin;
  for (Index k = tree.begin; k < tree.end; ++k) {
    pieces_[k].dof = tree.dof;
    pieces_[k].dofs = tree.dofs;
    pieces_[k].start = static_cast<std::size_t>(to - values_.data());
    for (Index r = 0; r < pieces_[k].rows; ++r, from += n) {
      for (const Index d : touched_) *to++ = from[d];  // never ahead of what is read
    }
  }
  entry_count_ = static_cast<std::size_t>(to - values_.data());
}

void TreeWhitenedJacobians::add_impulses(const Vector& impulse, double sign, Vector& target) const {
  for (const Piece& p : pieces_) {
    add_columns(columns(p), p.dofs, p.rows, impulse.data() + p.row, sign, target.data() + p.dof);
  }
}

void TreeWhitenedJacobians::products(const Piece& piece, const double* y, double* out) const {
  with_rows(piece.rows, [&](auto n) { column_products<n()>(columns(piece), piece.dofs, y, out); });
}

void TreeWhitenedJacobians::multiply_transposed(const Vector& y, Vector& u) const {
  u.setZero(problem_->row_count());
  for (const Piece& p : pieces_) {
    double sum[kMostRows];
    products(p, y.data() + p.dof, sum);
    for (Index r = 0; r < p.rows; ++r) u[p.row + r] += sum[r];
  }
}

}  // namespace tribo
