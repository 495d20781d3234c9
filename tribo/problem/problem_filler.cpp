#include "tribo/problem/problem_filler.h"

#include <fmt/format.h>

#include <algorithm>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

void assign(const std::vector<double>& from, Index count, Vector& to) {
  to = Eigen::Map<const Vector>(from.data(), count);
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
  const std::size_t most_rows = 3 * static_cast<std::size_t>(constraints);
  if (bias_.size() < most_rows) {
    bias_.resize(most_rows);
    compliance_.resize(most_rows);
  }
  problem.mass_.clear();
  problem.jacobian_.clear();
  problem.delassus_.reset();
  problem.structure_.clear();
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

void ProblemFiller::add_constraint(const Constraint& constraint) {
  ContactProblem& p = *problem_;
  const Index i = added_++, rows = rows_of(constraint.kind);
  if (i >= static_cast<Index>(p.kind_.size())) {
    throw InvalidInput(fmt::format("add_constraint: there are more than the {} announced", p.kind_.size()));
  }
  const bool contact = constraint.kind == ConstraintKind::contact;
  p.kind_[i] = constraint.kind;
  p.friction_[i] = constraint.friction;
  p.lower_[i] = constraint.lower;
  p.upper_[i] = constraint.upper;
  p.key_[i] = constraint.key;
  p.jacobian_.add_group(rows);
  p.contact_count_ += contact ? 1 : 0;
  p.has_friction_ = p.has_friction_ || (contact && constraint.friction > 0.0);
  for (Index r = 0; r < rows; ++r, ++rows_) {
    bias_[rows_] = constraint.bias[r];
    compliance_[rows_] = constraint.compliance[r];
    p.rigid_ = p.rigid_ && constraint.compliance[r] == 0.0;
  }
}

double* ProblemFiller::add_piece(Index tree) {
  ContactProblem& p = *problem_;
  return p.jacobian_.add_piece(tree, p.mass_.block_start(tree), p.mass_.block_size(tree));
}

double* ProblemFiller::add_piece(Index tree, const double* block) {
  const Index count = rows_of(problem_->kind_[added_ - 1]) * problem_->mass_.block_size(tree);
  double* data = add_piece(tree);
  std::copy_n(block, count, data);
  return data;
}

void ProblemFiller::set_articulation(std::span<const Index> parent, const double* motion) {
  problem_->structure_.add_articulation(problem_->mass_.block_count() - 1, parent, motion);
}

void ProblemFiller::add_body(Index dof, const double* block) {
  ContactProblem& p = *problem_;
  p.structure_.add_term(p.jacobian_.piece_count() - 1, dof, rows_of(p.kind_[added_ - 1]), block);
}

bool ProblemFiller::finish() {
  ContactProblem& p = *problem_;
  if (added_ != p.constraint_count()) return false;
  assign(momentum_, static_cast<Index>(momentum_.size()), p.momentum_);
  assign(bias_, rows_, p.bias_);
  assign(compliance_, rows_, p.compliance_);
  if (p.mass_factor_.factorize(p.mass_) != BlockDiagonalCholesky::kSuccess) return false;
  p.derive(velocity_, columns_);
  return true;
}

}  // namespace tribo
