#include "tribo/problem/problem_filler.h"

#include <fmt/format.h>

#include <algorithm>

#include "tribo/base/errors.h"
#include "tribo/problem/sparse_trees.h"

namespace tribo {

namespace {

void assign(const std::vector<double>& from, Index count, Vector& to) {
  to = Eigen::Map<const Vector>(from.data(), count);
}

bool names_tree(const BlockJacobian& jacobian, Index group, Index tree) {
  for (Index p = jacobian.piece_begin(group); p < jacobian.piece_end(group); ++p) {
    if (jacobian.piece_tree(p) == tree) return true;
  }
  return false;
}

}  // namespace

void ProblemFiller::begin(ContactProblem& problem, Index constraints) {
  problem_ = &problem;
  added_ = rows_ = 0;
  problem.kind_.resize(constraints);
  problem.friction_.resize(constraints);
  problem.lower_.resize(constraints);
  problem.upper_.resize(constraints);
  problem.key_.resize(constraints);
  scaled_ = false;
  problem.mass_.clear();
  problem.jacobian_.clear();
  problem.delassus_.reset();
  problem.structure_.clear();
  problem.sparse_.reset();
  if (memory_ && memory_.use_count() == 1) memory_->clear();  // the owner of a factor asks use_count()
  problem.contact_count_ = 0;
  problem.rigid_ = true;
  problem.has_friction_ = false;
  momentum_.clear();
}

Index ProblemFiller::add_tree(Index dofs, const double* mass, const double* momentum) {
  momentum_.insert(momentum_.end(), momentum, momentum + dofs);
  return problem_->mass_.add_block(Eigen::Map<const Matrix>(mass, dofs, dofs));
}

Index ProblemFiller::add_unit_tree(Index dofs, const double* momentum) {
  momentum_.insert(momentum_.end(), momentum, momentum + dofs);
  return problem_->mass_.add_identity(dofs);
}

Index ProblemFiller::add_sparse_tree(const std::shared_ptr<const SparseFactor>& mass,
                                     const double* momentum) {
  std::shared_ptr<SparseTrees>& sparse = problem_->sparse_;
  if (!sparse) {
    // A copy of the problem filled last may have had it until now: it is not always empty.
    if (!memory_ || memory_.use_count() > 1) memory_ = std::make_shared<SparseTrees>();
    memory_->clear();
    sparse = memory_;
  }
  const double rest = 0.0;  // of the single degree of freedom that stands for the tree until finish()
  const Index tree = add_unit_tree(1, &rest);
  sparse->add_tree(tree, mass, momentum);
  return tree;
}

void ProblemFiller::add_constraint(const Constraint& constraint) {
  ContactProblem& p = *problem_;
  const Index i = added_++, rows = constraint.rows();
  if (i >= static_cast<Index>(p.kind_.size())) {
    throw InvalidInput(fmt::format("add_constraint: there are more than the {} announced", p.kind_.size()));
  }
  const bool contact = constraint.kind == ConstraintKind::contact;
  p.kind_[i] = constraint.kind;
  p.friction_[i] = constraint.friction;
  const Interval set = constraint.interval();
  p.lower_[i] = set.lower;
  p.upper_[i] = set.upper;
  p.key_[i] = constraint.key;
  p.jacobian_.add_group(rows);
  p.contact_count_ += contact ? 1 : 0;
  p.has_friction_ = p.has_friction_ || (contact && constraint.friction > 0.0);
  reserve_rows(rows_ + rows);
  if (constraint.scaled_rows > 0) {
    if (!scaled_) unit_.assign(bias_.size(), 1.0);
    scaled_ = true;
  }
  for (Index r = 0; r < rows && scaled_; ++r) {
    unit_[rows_ + r] = constraint.unit != nullptr ? constraint.unit[r] : 1.0;
  }
  for (Index r = 0; r < rows; ++r, ++rows_) {
    bias_[rows_] = constraint.bias[r];
    compliance_[rows_] = constraint.compliance[r];
    p.rigid_ = p.rigid_ && constraint.compliance[r] == 0.0;
  }
}

void ProblemFiller::reserve_rows(Index rows) {
  const auto size = static_cast<std::size_t>(rows);
  if (bias_.size() < size) {
    const std::size_t more = std::max(size, 2 * bias_.size());
    bias_.resize(more);
    compliance_.resize(more);
  }
  if (scaled_ && unit_.size() < bias_.size()) unit_.resize(bias_.size(), 1.0);
}

double* ProblemFiller::add_piece(Index tree) {
  ContactProblem& p = *problem_;
  return p.jacobian_.add_piece(tree, p.mass_.block_start(tree), p.mass_.block_size(tree));
}

double* ProblemFiller::add_piece(Index tree, const double* block) {
  const Index count = problem_->jacobian_.rows(added_ - 1) * problem_->mass_.block_size(tree);
  double* data = add_piece(tree);
  std::copy_n(block, count, data);
  return data;
}

void ProblemFiller::add_sparse_piece(Index tree, Index first_dof, Index columns, const double* block) {
  ContactProblem& p = *problem_;
  const BlockJacobian& jacobian = p.jacobian_;
  if (!names_tree(jacobian, added_ - 1, tree)) {
    p.jacobian_.add_piece(tree, p.mass_.block_start(tree), 0);
  }
  const Index count = jacobian.rows(added_ - 1) * columns;
  std::copy_n(block, count, p.sparse_->add_piece(jacobian, added_ - 1, tree, first_dof, columns));
}

void ProblemFiller::set_articulation(std::span<const Index> parent, const double* motion) {
  problem_->structure_.add_articulation(problem_->mass_.block_count() - 1, parent, motion);
}

void ProblemFiller::add_body(Index dof, const double* block) {
  ContactProblem& p = *problem_;
  p.structure_.add_term(p.jacobian_.piece_count() - 1, dof, p.jacobian_.rows(added_ - 1), block);
}

bool ProblemFiller::finish() {
  ContactProblem& p = *problem_;
  if (added_ != p.constraint_count()) return false;
  if (p.sparse_) {
    p.sparse_->set_momentum(momentum_);
  } else {
    assign(momentum_, static_cast<Index>(momentum_.size()), p.momentum_);
  }
  assign(bias_, rows_, p.bias_);
  assign(compliance_, rows_, p.compliance_);
  assign(unit_, scaled_ ? rows_ : 0, p.row_unit_);
  if (p.condense() != SparseTrees::kSuccess) return false;
  if (p.mass_factor_.factorize(p.mass_) != BlockDiagonalCholesky::kSuccess) return false;
  p.derive(velocity_, columns_);
  return true;
}

}  // namespace tribo
